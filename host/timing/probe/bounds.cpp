// Bounds on the bandwidth of a machine's wires and buses, by its configuration.
#include "host/timing/probe/bounds.h"

#include <algorithm>
#include <cmath>

#include "host/config/shape.h"
#include "host/timing/probe/program.h"

namespace nearwarp::probe {
namespace {

using Machine = config::MachineConfig;

double per_cycle(uint64_t bytes, uint32_t mhz) { return static_cast<double>(bytes) * mhz / 1e3; }
double mbps(uint64_t megabytes) { return static_cast<double>(megabytes) / 1e3; }

/// Ports of the SMs: a flit per interconnect cycle.
void add_ports(Way& way, const Machine& m, uint32_t sms) {
  const bool clusters = config::shape_of(m).one_gpu;
  const uint32_t each = clusters ? m.gpu.sms_per_cluster : 1, ports = (sms + each - 1) / each;
  way.wires(ports * per_cycle(m.interconnect.flit_bytes, m.clocks.interconnect_mhz), "SM ports");
}

void add_l2(Way& way, const Machine& m, uint32_t sms) {
  way.wires(m.l2.slices * per_cycle(m.interconnect.flit_bytes, m.clocks.interconnect_mhz),
            "L2 ports");
  const uint32_t sectors = m.l2.sectors ? m.l2.sectors_per_cycle : 0;
  const uint64_t bytes =
      sectors == 0 ? m.l1.line_bytes : uint64_t{sectors} * m.packets.sector_bytes;
  way.bus(m.l2.slices * per_cycle(bytes, m.clocks.l2_mhz), "L2 look-ups");
  // Half of what an SM reads is far; with SMs in both halves both ways carry data.
  if (m.l2.link_latency_cycles == 0 || m.l2.link_copies) return;  // copies are near
  const uint32_t port = m.interconnect.flit_bytes,
                 link = m.l2.link_bytes != 0 ? std::min(m.l2.link_bytes, port) : port;
  way.wires((sms == 1 ? 2 : 4) * per_cycle(link, m.clocks.interconnect_mhz),
            "link of the L2's halves");
}

/// Adds the middle of the processors' mesh, which a part of all accesses to everywhere crosses.
void add_middle_of_mesh(Way& way, const Machine& m) {
  const uint32_t row = m.near_bank.processors_per_row, column = m.near_bank.processors / row;
  const auto cut = [&](uint32_t across, uint32_t links) {
    if (across < 2) return;
    const double left = across / 2, right = across - across / 2;
    way.wires(links * mbps(m.links.one_way(m.links.memory_to_memory_mbps)) * across * across /
                  (left * right),
              "links of dies");
  };
  cut(row, column);
  cut(column, row);
}

}  // namespace

Way& Way::wires(double gigabytes_per_second, std::string part) {
  parts_.push_back({gigabytes_per_second, false, std::move(part)});
  return *this;
}
Way& Way::bus(double gigabytes_per_second, std::string part) {
  parts_.push_back({gigabytes_per_second, true, std::move(part)});
  return *this;
}

Bound Way::bound(Flow flow) const {
  Bound least;
  for (const Part& p : parts_) {
    const double whole =
        flow == Flow::kCopy && !p.both_ways ? 2 * p.gigabytes_per_second : p.gigabytes_per_second;
    if (!least.part.empty() && least.gigabytes_per_second <= whole) continue;
    least = {whole, p.name};
  }
  return least;
}

Way way_to_l1(const Machine& m, uint32_t sms) {
  const uint64_t bytes = std::min(m.l1.line_bytes, kUnitBytes);
  return Way().bus(sms * per_cycle(bytes, m.clocks.core_mhz), "L1 look-ups");
}

Way way_to_l2(const Machine& m, uint32_t sms) {
  Way way;
  add_ports(way, m, sms);
  add_l2(way, m, sms);
  return way;
}

Way way_to_memory(const Machine& m, uint32_t sms) {
  Way way;
  add_ports(way, m, sms);
  if (config::shape_of(m).slices) add_l2(way, m, sms);
  if (config::shape_of(m).stacks_behind_links()) {
    way.wires(m.stack.count * mbps(m.links.one_way(m.links.gpu_to_memory_mbps)), "off-chip links");
  } else if (config::shape_of(m).sms_in_stacks()) {
    // The other stacks' part of an SM's accesses comes over the links.
    const uint32_t n = m.stack.count;
    const double link = mbps(m.links.one_way(m.links.memory_to_memory_mbps));
    const double own =
        std::min<double>(n, std::ceil(static_cast<double>(sms) * n / m.gpu.sms));  // stacks
    const double links = m.links.topology == "pairs"   ? own * (n - 1)
                         : m.links.topology == "ports" ? own
                                                       : 1;
    if (n > 1) way.wires(links * link * n / (n - 1), "links of stacks");
  }
  if (config::shape_of(m).in_stacks()) {
    way.bus(m.stack.count * m.stack.vaults * mbps(m.stack.tsv_mbps), "TSVs");
  } else if (config::shape_of(m).in_banks()) {
    way.wires(m.gpu.sms * per_cycle(m.near_bank.tsv_bytes, m.clocks.interconnect_mhz), "TSVs");
    way.bus(m.gpu.sms * m.near_bank.units * mbps(m.near_bank.unit_mbps), "banks");
    add_middle_of_mesh(way, m);
  } else {
    way.bus(m.partitions.count * m.partitions.channels * mbps(m.partitions.channel_mbps),
            "memory channels");
  }
  return way;
}

Way way_to_own(const Machine& m, uint32_t stacks, uint32_t sms) {
  Way way;
  if (config::shape_of(m).in_banks()) {
    way.wires(stacks * per_cycle(m.near_bank.tsv_bytes, m.clocks.interconnect_mhz), "TSVs");
    way.bus(stacks * m.near_bank.units * mbps(m.near_bank.unit_mbps), "banks");
    add_ports(way, m, sms);
    return way;
  }
  way.bus(stacks * m.stack.vaults * mbps(m.stack.tsv_mbps), "TSVs");
  if (config::shape_of(m).sms_in_stacks()) {
    add_ports(way, m, sms);
  } else {
    way.wires(sms * per_cycle(m.stack.switch_flit_bytes, m.clocks.interconnect_mhz),
              "stack SMs' ports");
  }
  return way;
}

Way way_to_near_banks(const Machine& m, uint32_t sms, uint32_t access_bytes) {
  const double tsvs = sms * per_cycle(m.near_bank.tsv_bytes, m.clocks.interconnect_mhz);
  return Way()
      .bus(sms * per_cycle(m.l1.line_bytes, m.clocks.core_mhz), "load-store units")
      .wires(tsvs * m.l1.line_bytes / access_bytes, "TSVs")
      .bus(sms * m.near_bank.units * mbps(m.near_bank.unit_mbps), "banks");
}

Way way_to_other(const Machine& m, uint32_t stacks, uint32_t sms) {
  Way way = way_to_own(m, stacks, sms);
  if (!config::shape_of(m).in_banks()) {
    way.wires((m.links.topology == "pool" ? 1 : stacks) *
                  mbps(m.links.one_way(m.links.memory_to_memory_mbps)),
              "links of stacks");
  } else if (m.near_bank.processors > 1) {
    // A core alone has the share of its row; all those of a die have a link's worth.
    const uint32_t cores = m.gpu.sms / m.near_bank.processors;
    const double link = mbps(m.links.one_way(m.links.memory_to_memory_mbps));
    const uint32_t rows = cores / m.near_bank.cores_per_row;
    way.wires(stacks == 1 ? link / rows : m.near_bank.processors * link, "links of dies");
  }
  return way;
}

}  // namespace nearwarp::probe
