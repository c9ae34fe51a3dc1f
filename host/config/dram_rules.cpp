// Rules between the keys of a DRAM standard.
#include <fmt/format.h>

#include "host/config/config.h"
#include "host/config/constraints.h"
#include "host/config/rules.h"

namespace nearwarp::config {

void check_rules(const DramConfig& dram, const PlaceOf& place_of) {
  const Rules rules(place_of);
  const DramConfig::Organisation& o = dram.organisation;
  const uint64_t groups = uint64_t{o.pseudo_channels} * o.ranks * o.bank_groups;
  rules.require(groups * o.banks_per_group * o.row_buffers <= 64, "organisation.banks_per_group",
                fmt::format("is {}", o.banks_per_group),
                "times bank_groups, ranks, pseudo_channels and row_buffers it must be at most 64");
  rules.at_least("organisation.row_bytes", o.row_bytes, "organisation.access_bytes",
                 o.access_bytes);
  rules.at_least("organisation.rows", o.rows, "organisation.row_buffers", o.row_buffers);
  rules.require(
      groups * o.banks_per_group * o.rows * (o.row_bytes / o.access_bytes) <= uint64_t{1} << 32,
      "organisation.rows", fmt::format("is {}", o.rows),
      "a channel may hold at most 2^32 accesses");
  const DramConfig::Timing& t = dram.timing;
  rules.at_least("timing.tRAS", t.tRAS, "timing.tRCD", t.tRCD);
  rules.at_least("timing.tRC", t.tRC, "timing.tRAS + timing.tRP", uint64_t{t.tRAS} + t.tRP);
  rules.at_least("timing.tFAW", t.tFAW, "timing.tRRD_S", t.tRRD_S);
  if (o.bank_groups > 1) {  // with one group these timings have no effect
    rules.at_least("timing.tRRD_L", t.tRRD_L, "timing.tRRD_S", t.tRRD_S);
    rules.at_least("timing.tCCD_L", t.tCCD_L, "timing.tCCD_S", t.tCCD_S);
    rules.at_least("timing.tWTR_L", t.tWTR_L, "timing.tWTR_S", t.tWTR_S);
  }
  rules.require(t.tREFI == 0 || t.tREFI > t.tRFC, "timing.tREFI", fmt::format("is {}", t.tREFI),
                fmt::format("it must be 0 or above timing.tRFC, {}", t.tRFC));
  check_constraints(dram, place_of);
  const DramConfig::Controller& c = dram.controller;
  rules.require(!address_fields(c.mapping).empty(), "controller.mapping",
                fmt::format("cannot be \"{}\"", c.mapping),
                "an order of row, bank, column and perhaps group, as in \"row-bank-column\"");
  rules.require(
      c.read_entries + c.write_entries <= 64, "controller.read_entries",
      fmt::format("is {}", c.read_entries),
      fmt::format("with controller.write_entries, {}, it must be at most 64", c.write_entries));
  rules.at_most("controller.write_high_watermark", c.write_high_watermark,
                "controller.write_entries", c.write_entries);
  rules.require(
      c.write_low_watermark < c.write_high_watermark, "controller.write_low_watermark",
      fmt::format("is {}", c.write_low_watermark),
      fmt::format("it must be below controller.write_high_watermark, {}", c.write_high_watermark));
}

}  // namespace nearwarp::config
