// CODA in a run, on the host: it studies the program's objects, places their pages, and reports
// where they are.
#include "host/mechanisms/coda/mechanism.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "host/core/error.h"
#include "host/mechanisms/coda/equations.h"
#include "host/mechanisms/coda/first_touch.h"
#include "host/mechanisms/coda/memory.h"
#include "host/mechanisms/coda/page_groups.h"
#include "host/mechanisms/coda/placement.h"
#include "host/mechanisms/coda/report/sections.h"
#include "host/mechanisms/coda/rules.h"
#include "host/mechanisms/coda/settings.h"
#include "host/mechanisms/mpu/settings.h"
#include "host/timing/machine/baseline_map.h"

namespace nearwarp::coda {

namespace {

std::optional<UnitRules> unit_rules(const sim::RunSubject& subject) {
  const config::MachineConfig& m = subject.machine;
  if (subject.policy.table<PageSettings>().units == "machine") return {};
  UnitRules rules;
  rules.units = m.near_bank.units;
  rules.line_bytes = m.l1.line_bytes;
  rules.page_bytes = m.memory.page_bytes;
  if (m.near_bank.unit_interleave_bytes != 0)
    rules.default_run = m.near_bank.unit_interleave_bytes / m.l1.line_bytes;
  return rules;
}

class CodaRun final : public sim::MechanismRun {
 public:
  CodaRun(const sim::RunSubject& subject, const sim::ImageTables& image)
      : subject_(subject), memory_bytes_(image.memory_bytes), rules_(rules_of(subject, image)) {
    const bool cgp = subject.policy.mapping == "cgp";
    if (!cgp) uses_ = study_objects(subject.recording, rules_);
    const std::optional<UnitRules> units = unit_rules(subject);
    placement_ = place_pages(subject.recording, uses_, rules_, cgp,
                             subject.policy.table<PageSettings>().local_percent,
                             page_groups(subject, units ? units->units : 1), units);
    for (const ObjectUnits& o : placement_.units)
      shifts_.push_back(static_cast<uint32_t>(std::countr_zero(o.run_lines)));
    std::sort(shifts_.begin(), shifts_.end());
    shifts_.erase(std::unique(shifts_.begin(), shifts_.end()), shifts_.end());
  }

  void extend(sim::Graph& graph, const sim::Parts&) override {
    const uint32_t line = subject_.machine.l1.line_bytes;
    graph.address_spaces =
        std::max(static_cast<uint32_t>(placement_.pages.size()), graph.address_spaces);
    const uint32_t maps = kCgpMap + static_cast<uint32_t>(std::max(size_t{1}, shifts_.size())) - 1;
    if (maps >= kMaxMaps)
      throw Error(fmt::format(
          "policy '{}' on machine '{}': objects go to near-bank units in runs of {} lengths, of "
          "which address maps can have {} - choose a smaller memory.page_bytes",
          subject_.policy.name, subject_.machine.name, shifts_.size(), kMaxMaps - kCgpMap));
    graph.more_maps = std::max(maps, graph.more_maps);
    graph.mapped_lines = std::max(graph.mapped_lines, (memory_bytes_ + line - 1) / line);
  }

  void attach(sim::System&) override {}

  void begin(sim::System& system) override {
    std::byte* base = system.arena.base();
    const uint32_t shift = system.page_tables.translation.page_shift;
    if (shifts_.empty()) {
      make_cgp_map(system);
    } else {
      make_cgp_maps(system, shifts_);
    }
    for (uint32_t space = 0; space < placement_.pages.size(); ++space) {
      const std::vector<PlacedPage>& pages = placement_.pages[space];
      for (uint32_t i = 0; i < pages.size(); ++i)
        system.page_tables.map_pages(base, space, i, 1, pages[i].frame << shift,
                                     pages[i].mode == PageMode::kFgp ? 0 : map_of(pages[i]));
    }
  }

  void collect(sim::System&, report::RunResult& result) override {
    const auto add = [&](const char* name, uint64_t value, const char* what) {
      result.counters.push_back({name, value, "pages", what});
    };
    add("pages.fgp", placement_.pages_fgp, "Pages of the program that are spread over all stacks");
    add("pages.cgp", placement_.pages_cgp, "Pages of the program that are in one stack each");
    add("pages.held", placement_.pages_held,
        "Physical pages of the page groups that they are in: no others may use these");
  }

  void report(sim::System&, report::RunResult& result) override {
    for (const ObjectUse& use : uses_) {
      const runtime::Allocation& a = subject_.recording.allocations[use.allocation];
      PlacedObject o;
      o.name = a.label;
      if (!subject_.recording.applications.empty())
        o.name = subject_.recording.applications[a.application] + ": " + o.name;
      o.address = a.address;
      o.bytes = a.bytes;
      o.localised = placement_.localised[use.allocation];
      o.block_bytes = use.block_bytes;
      o.constant = use.constant;
      o.from_code = use.from_code;
      o.accesses = use.accesses;
      o.local = use.local;
      if (o.localised)
        o.chunk_bytes = chunk_bytes(use.block_bytes, rules_.blocks_per_stack[use.launch],
                                    rules_.page_bytes, rules_.chunk);
      if (o.localised && !placement_.units.empty()) {
        const ObjectUnits& units = placement_.units[use.allocation];
        o.unit_bytes = uint64_t{units.run_lines} * subject_.machine.l1.line_bytes;
        o.warp_accesses = units.accesses;
        o.near_unit = units.near;
      }
      placed_of(result).push_back(std::move(o));
    }
  }

 private:
  uint32_t map_of(const PlacedPage& page) const {
    if (page.run_lines == 0) return kCgpMap;
    const auto shift = static_cast<uint32_t>(std::countr_zero(page.run_lines));
    return kCgpMap + static_cast<uint32_t>(std::lower_bound(shifts_.begin(), shifts_.end(), shift) -
                                           shifts_.begin());
  }

  sim::RunSubject subject_;
  uint64_t memory_bytes_;
  PlacementRules rules_;
  std::vector<ObjectUse> uses_;
  Placement placement_;
  /// log2 of the lines in a row behind one unit, for each map from kCgpMap on; empty: there is only
  /// the map kCgpMap, and units get lines as the machine deals them.
  std::vector<uint32_t> shifts_;
};

void require_machine(const sim::RunSubject& subject) {
  const config::MachineConfig& m = subject.machine;
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format("policy '{}' on machine '{}': {}", subject.policy.name, m.name, what));
  };
  if (subject.policy.table<PageSettings>().units != "machine") {
    if (!config::has_mechanism(subject.policy, "mpu") || subject.policy.mapping != "coda")
      refuse(
          "pages.units is \"objects\" - objects are put behind near-bank units where warps have "
          "registers there and objects have cores (policy.mechanism = \"mpu+coda\", "
          "policy.mapping = \"coda\")");
    if (subject.policy.table<mpu::Settings>().hash_units)
      refuse(
          "pages.units is \"objects\" and mpu.hash_units true - a hash deals lines to units "
          "whatever the object");
    const uint64_t turn =
        uint64_t{std::max(m.near_bank.unit_interleave_bytes, m.l1.line_bytes)} * m.near_bank.units;
    if (turn > m.memory.page_bytes)
      refuse(
          fmt::format("near_bank.unit_interleave_bytes: a turn of all units is {} bytes - with "
                      "pages.units=objects it must fit a page, {} bytes (memory.page_bytes)",
                      turn, m.memory.page_bytes));
  }
  // Coarse-grained and fine-grained pages of a group can share their bytes only if lines go to
  // partitions in turns; the order of the partitions may change from turn to turn.
  const AddressMap map = sim::machine_address_map(m);
  if (map.polynomial_bits != 0 || map.chunk_bits != 0 || map.slice_bank_bits != 0)
    refuse(
        "its lines do not go to partitions and banks in turns, which groups of pages need - set "
        "partitions.hash to \"folded\" or \"none\", partitions.interleave_bytes to 0 and "
        "partitions.slices_own_banks to false");
}

}  // namespace

std::unique_ptr<sim::MechanismRun> CodaMechanism::prepare(const sim::RunSubject& subject,
                                                          uint32_t number,
                                                          sim::ImageTables& image) const {
  require_machine(subject);
  const auto copies = [](const sm::ImageInstr& in) {
    return in.action == sm::Action::kCopyRead || in.action == sm::Action::kCopyWrite ||
           in.action == sm::Action::kCopyReduce;
  };
  if (subject.policy.mapping == "fta" && std::ranges::any_of(image.instrs, copies))
    throw Error(fmt::format(
        "policy '{}' places pages where they are touched first, and the program copies in bulk "
        "(cp.async.bulk, tensor maps), which touches none - choose policy.mapping \"cgp\"",
        subject.policy.name));
  if (subject.policy.mapping == "fta")
    return prepare_first_touch(subject, number, image.memory_bytes);
  return std::make_unique<CodaRun>(subject, image);
}

const sim::Mechanism& mechanism() {
  static const CodaMechanism it;
  return it;
}

}  // namespace nearwarp::coda
