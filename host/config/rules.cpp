// Rules between the keys of a machine.
#include "host/config/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "host/config/config.h"
#include "host/config/constraints.h"
#include "host/config/error_at.h"
#include "host/config/mechanism.h"
#include "host/config/shape.h"
#include "host/core/error.h"

namespace nearwarp::config {

void Rules::fail(std::string_view key, const std::string& wrong, const std::string& right) const {
  throw ErrorWithParts<>(at_place(fmt::format("{} {}", key, wrong), place_of_(key), right));
}

namespace {

constexpr uint64_t kWarpThreads = 32;
constexpr uint64_t kLocalLineBytes = 128;   // a word of a warp's threads
constexpr uint64_t kMaxSwitchPorts = 64;    // masks over ports are one word
constexpr uint64_t kMaxSwitchInputs = 128;  // device/noc/switch_state.h; every SM is an input
constexpr uint64_t kMaxInputs = 512;        // device/noc/channel_ends.h
constexpr uint64_t kMaxGpcSms = 31;         // device/core/cluster_places.h
constexpr uint64_t kMaxTiles = 4096;        // host/timing/noc/topology.cpp
constexpr uint64_t kMaxLatencyTicks = uint64_t{1} << 31;  // channels keep latencies in 32 bits

bool is_power_of_two(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

/// Sets of a cache (of one slice) must come out as a power of two.
void check_sets(const Rules& rules, std::string_view key, uint64_t bytes, uint64_t slices,
                uint64_t ways, uint64_t line_bytes, std::string_view divisor) {
  const uint64_t per_set = slices * ways * line_bytes;
  rules.require(bytes % per_set == 0 && is_power_of_two(bytes / per_set), key,
                fmt::format("is {}", bytes),
                fmt::format("divided by {} ({}) it must give a power of two", divisor, per_set));
}

/// Inputs that a crossbar of SMs may have. Those of stacked machines meet at switches as well.
uint64_t most_inputs(const MachineConfig& m) {
  const bool switches = m.interconnect.topology == "switch" || shape_of(m).stacks_behind_links();
  return switches ? kMaxSwitchInputs : kMaxInputs;
}

/// Slices, and what of them the crossbars' ports and inputs can hold.
void check_slices(const Rules& rules, const MachineConfig& m) {
  if (!shape_of(m).slices) return;
  if (shape_of(m).in_partitions()) {
    const MachineConfig::Partitions& p = m.partitions;
    rules.multiple("l2.slices", m.l2.slices, "partitions.count", p.count);
    const uint64_t slices = m.l2.slices / p.count;
    rules.require(
        slices % p.channels == 0 || p.channels % slices == 0, "partitions.channels",
        fmt::format("is {}", p.channels),
        fmt::format("it must be a multiple or a part of a partition's L2 slices, {}", slices));
    rules.at_most("l2.slices", m.l2.slices, "the ports of a crossbar", kMaxSwitchPorts);
    rules.at_most("partitions.count", uint64_t{p.count} + m.l2.slices,
                  "with l2.slices the inputs of a crossbar", most_inputs(m));
    rules.require(
        p.interleave_bytes == 0 ||
            (is_power_of_two(p.interleave_bytes) && p.interleave_bytes >= m.l1.line_bytes),
        "partitions.interleave_bytes", fmt::format("is {}", p.interleave_bytes),
        fmt::format("it must be 0 or a power of two from l1.line_bytes on, {}", m.l1.line_bytes));
    const uint64_t places = uint64_t{p.count} * std::max<uint64_t>(slices, p.channels);
    rules.require(
        p.hash != "ipoly" || (is_power_of_two(places) && is_power_of_two(p.count) && places <= 256),
        "partitions.hash", "is \"ipoly\"",
        fmt::format("partitions and their slices or channels must be powers of two, and "
                    "at most 256 together, not {} of {}",
                    p.count, places / p.count));
    rules.require(
        !p.slices_own_banks || slices <= p.channels || slices / p.channels <= m.dram.banks,
        "partitions.slices_own_banks", "is true",
        fmt::format("for {} slices a channel needs as many banks", slices / p.channels));
    // Slices that share a channel share its rows, by bits of the line address.
    rules.require(
        slices <= p.channels || is_power_of_two(slices / p.channels), "partitions.channels",
        fmt::format("is {}", p.channels),
        fmt::format("the L2 slices of a partition, {}, must be a power of two for each", slices));
    if (slices > p.channels && !p.slices_own_banks)
      rules.at_least("dram.row_bytes", m.dram.row_bytes,
                     "l1.line_bytes for each L2 slice of a channel",
                     m.l1.line_bytes * (slices / p.channels));
  } else {
    const uint32_t bytes = m.stack.interleave_bytes;
    rules.require(bytes == 0 || (is_power_of_two(bytes) && bytes >= m.l1.line_bytes &&
                                 bytes <= m.memory.page_bytes),
                  "stack.interleave_bytes", fmt::format("is {}", bytes),
                  fmt::format("it must be 0 or a power of two from l1.line_bytes, {}, to "
                              "memory.page_bytes, {}",
                              m.l1.line_bytes, m.memory.page_bytes));
    rules.multiple("l2.slices", m.l2.slices, "stack.count", m.stack.count);
    rules.at_most("l2.slices", m.l2.slices, "stack.count x stack.vaults",
                  uint64_t{m.stack.count} * m.stack.vaults);
    if (shape_of(m).stacks_behind_links())
      rules.at_most("l2.slices", m.l2.slices, "the ports of a crossbar",
                    kMaxSwitchPorts - m.stack.count - 1);  // one goes to the CPU
    rules.require(m.stack.vaults % (m.l2.slices / m.stack.count) == 0, "l2.slices",
                  fmt::format("is {}", m.l2.slices),
                  fmt::format("stack.vaults, {}, must be a multiple of the slices of a stack",
                              m.stack.vaults));
  }
}

/// Virtual channels share out the inputs of a router's switch among themselves.
void check_input_speedup(const Rules& rules, const MachineConfig& m) {
  if (m.interconnect.input_speedup > 1 && m.interconnect.topology != "switch")
    rules.at_most("interconnect.input_speedup", m.interconnect.input_speedup, "interconnect.vcs",
                  m.interconnect.vcs);
}

/// Every port of a mesh has a tile of its own.
void check_mesh(const Rules& rules, const MachineConfig& m) {
  std::vector<uint32_t> tiles = memory_tiles(m);
  rules.require(m.interconnect.topology != "switch", "interconnect.topology", "is \"switch\"",
                "a switch of whole packets has no places for machine.shape = \"mesh\"");
  rules.require(m.l2.slices == m.partitions.count, "l2.slices", fmt::format("is {}", m.l2.slices),
                fmt::format("a tile has one: it must be partitions.count, {}", m.partitions.count));
  const uint64_t wanted = m.gpu.sms / m.gpu.sms_per_cluster + m.partitions.count;
  rules.at_least("mesh.height", uint64_t{m.mesh.width} * m.mesh.height,
                 "times mesh.width, as the clusters of SMs and the partitions together", wanted);
  rules.require(!tiles.empty(), "mesh.memory_tiles",
                fmt::format("cannot be \"{}\"", m.mesh.memory_tiles),
                "numbers of tiles separated by blanks, as in \"0 9 18\"");
  rules.require(tiles.size() == m.partitions.count, "mesh.memory_tiles",
                fmt::format("has {} numbers", tiles.size()),
                fmt::format("as many as partitions.count, {}", m.partitions.count));
  std::sort(tiles.begin(), tiles.end());
  rules.require(std::adjacent_find(tiles.begin(), tiles.end()) == tiles.end(), "mesh.memory_tiles",
                "names a tile twice", "one partition for each tile");
  rules.require(tiles.back() < m.mesh.width * m.mesh.height, "mesh.memory_tiles",
                fmt::format("names tile {}", tiles.back()),
                fmt::format("the last one is {}", m.mesh.width * m.mesh.height - 1));
}

/// SMs in stacks, and the ports of the switches there.
void check_stacks(const Rules& rules, const MachineConfig& m) {
  rules.multiple("gpu.sms", m.gpu.sms, "stack.count", m.stack.count);
  rules.at_most("gpu.sms", m.gpu.sms / m.stack.count, "for each stack the ports of a crossbar",
                kMaxSwitchPorts);
  const uint64_t slices = m.l2.slices / m.stack.count;
  rules.at_most("l2.slices", slices + m.stack.vaults + m.stack.count,
                "for each stack, with its vaults and other stacks, the ports of a switch",
                kMaxSwitchPorts);
}

void check_near_bank(const Rules& rules, const MachineConfig& m) {
  const MachineConfig::NearBank& n = m.near_bank;
  rules.multiple("gpu.sms", m.gpu.sms, "near_bank.processors", n.processors);
  rules.multiple("near_bank.processors", n.processors, "near_bank.processors_per_row",
                 n.processors_per_row);
  const uint32_t cores = m.gpu.sms / n.processors;
  rules.require(cores % n.cores_per_row == 0, "near_bank.cores_per_row",
                fmt::format("is {}", n.cores_per_row),
                fmt::format("it must divide the cores of a processor, {}", cores));
  rules.require(m.interconnect.topology == "mesh", "interconnect.topology",
                fmt::format("is \"{}\"", m.interconnect.topology),
                "with machine.shape = \"near_bank\" it must be \"mesh\"");
  rules.at_least("near_bank.interleave_bytes", n.interleave_bytes, "l1.line_bytes",
                 m.l1.line_bytes);
  rules.require(n.unit_interleave_bytes == 0 || (is_power_of_two(n.unit_interleave_bytes) &&
                                                 n.unit_interleave_bytes >= m.l1.line_bytes),
                "near_bank.unit_interleave_bytes", fmt::format("is {}", n.unit_interleave_bytes),
                fmt::format("it must be 0, or a power of two and at least l1.line_bytes, {}",
                            m.l1.line_bytes));
  rules.require(
      n.unit_interleave_bytes <= m.l1.line_bytes || is_power_of_two(m.gpu.sms),
      "near_bank.unit_interleave_bytes", fmt::format("is {}", n.unit_interleave_bytes),
      fmt::format("with {} cores (gpu.sms), which is no power of two, it must be 0", m.gpu.sms));
  rules.at_least("links.memory_to_memory_mbps", m.links.one_way(m.links.memory_to_memory_mbps),
                 "1 MB/s for each row or column of a processor's cores",
                 std::max(n.cores_per_row, cores / n.cores_per_row));
}

void check_links(const Rules& rules, const MachineConfig& m) {
  if (shape_of(m).sms_in_stacks() && m.links.topology != "pairs" && m.stack.count > 1)
    rules.at_least("links.latency_cycles", m.links.latency_cycles,
                   "the wires and switches of links.topology, a cycle each", 4);
  if (m.links.directions != "together") return;
  const auto both = [&](std::string_view key, uint32_t mbps) {
    rules.require(mbps >= 2, key, fmt::format("is {}", mbps),
                  "with links.directions = \"together\" it must be at least 2");
  };
  if (shape_of(m).stacks_behind_links())
    both("links.gpu_to_memory_mbps", m.links.gpu_to_memory_mbps);
  both("links.memory_to_memory_mbps", m.links.memory_to_memory_mbps);
}

/// Fermi's hash is of two numbers of sets, and there are polynomials of some degrees.
void check_set_function(const Rules& rules, std::string_view key, const std::string& function,
                        uint64_t sets, uint64_t line_bytes) {
  rules.require(
      function != "fermi" || ((sets == 32 || sets == 64) && line_bytes == 128), key, "is \"fermi\"",
      fmt::format("that is for 32 or 64 sets of lines of 128 bytes, not {} of {} - choose xor or "
                  "linear",
                  sets, line_bytes));
  rules.require(function != "ipoly" || (sets >= 2 && sets <= 256), key, "is \"ipoly\"",
                fmt::format("that is for 2 to 256 sets, not {} - choose folded or xor", sets));
}
void check_l1_set_function(const Rules& rules, const MachineConfig& m, uint64_t bytes,
                           uint64_t ways) {
  check_set_function(rules, "l1.set_function", m.l1.set_function, bytes / (ways * m.l1.line_bytes),
                     m.l1.line_bytes);
}

/// Stack SMs, where they differ from the main ones.
void check_stack_sms(const Rules& rules, const MachineConfig& m) {
  if (m.stack_sm.l1_bytes == 0 && m.stack_sm.l1_ways == 0) return;
  const uint32_t bytes = m.stack_sm.l1_bytes != 0 ? m.stack_sm.l1_bytes : m.l1.bytes;
  const uint32_t ways = m.stack_sm.l1_ways != 0 ? m.stack_sm.l1_ways : m.l1.ways;
  check_sets(rules, "stack_sm.l1_bytes", bytes, 1, ways, m.l1.line_bytes, "ways x l1.line_bytes");
  check_l1_set_function(rules, m, bytes, ways);
}

void check_gpu(const Rules& rules, const MachineConfig& m) {
  rules.multiple("gpu.sms", m.gpu.sms, "gpu.sms_per_cluster", m.gpu.sms_per_cluster);
  rules.multiple("gpu.sms_with_ndp", m.gpu.sms_with_ndp, "gpu.sms_per_cluster",
                 m.gpu.sms_per_cluster);
  rules.at_least("sm.registers", m.sm.registers, "32 times sm.register_unit",
                 kWarpThreads * m.sm.register_unit);
  if (!shape_of(m).one_gpu) return;  // no crossbar joins all SMs
  for (const auto& [key, sms] :
       {std::pair{"gpu.sms", m.gpu.sms}, std::pair{"gpu.sms_with_ndp", m.gpu.sms_with_ndp}}) {
    rules.at_most(key, sms, "64 clusters' SMs", kMaxSwitchPorts * m.gpu.sms_per_cluster);
  }
  rules.at_most("gpu.sms", m.gpu.sms, "the inputs of a crossbar", most_inputs(m));
  rules.at_most("gpu.sms_with_ndp", m.gpu.sms_with_ndp, "the inputs of a crossbar", most_inputs(m));
}

/// Networks of SMs for clusters.
void check_gpcs(const Rules& rules, const MachineConfig& m) {
  if (m.gpu.gpcs == 0) return;
  const uint64_t tpcs = (m.gpu.sms + m.gpu.sms_per_tpc - 1) / m.gpu.sms_per_tpc;
  const uint64_t each = (tpcs + m.gpu.gpcs - 1) / m.gpu.gpcs * m.gpu.sms_per_tpc;
  rules.at_most("gpu.gpcs", m.gpu.gpcs, "the TPCs that gpu.sms and gpu.sms_per_tpc make", tpcs);
  rules.require(each <= kMaxGpcSms, "gpu.gpcs", fmt::format("is {}", m.gpu.gpcs),
                fmt::format("one of them then has {} SMs (gpu.sms, gpu.sms_per_tpc): at most {} "
                            "are possible",
                            each, kMaxGpcSms));
  rules.require(m.lsu.remote_shared_bytes != 0, "lsu.remote_shared_bytes", "is 0",
                "with gpu.gpcs an SM's port must move a byte a cycle at least");
  rules.require(m.lsu.remote_shared_cycles != 0 && m.lsu.remote_shared_cycles % 4 == 0,
                "lsu.remote_shared_cycles", fmt::format("is {}", m.lsu.remote_shared_cycles),
                "with gpu.gpcs four wires share it: it must be a multiple of 4, and not 0");
}

/// Halves of the L2.
void check_link(const Rules& rules, const MachineConfig& m) {
  const MachineConfig::L2& l2 = m.l2;
  if (l2.link_latency_cycles == 0) {
    rules.require(l2.link_bytes == 0, "l2.link_bytes", fmt::format("is {}", l2.link_bytes),
                  "that needs l2.link_latency_cycles, as one part has no link");
    rules.require(!l2.link_copies, "l2.link_copies", "is true",
                  "that needs l2.link_latency_cycles, as one part has no other's lines");
    return;
  }
  const std::string is = fmt::format("is {}", l2.link_latency_cycles);
  rules.require(
      m.partitions.count % 2 == 0, "l2.link_latency_cycles", is,
      fmt::format("partitions.count, {}, must be even: each half has as many", m.partitions.count));
  rules.require(m.gpu.sms > m.gpu.sms_per_cluster, "l2.link_latency_cycles", is,
                "each half needs an SM's port (gpu.sms, gpu.sms_per_cluster)");
  rules.require(m.interconnect.topology == "crossbar" || m.interconnect.topology == "switch",
                "l2.link_latency_cycles", is,
                fmt::format("that needs interconnect.topology = \"crossbar\" or \"switch\", not "
                            "\"{}\"",
                            m.interconnect.topology));
  if (!l2.link_copies) return;
  rules.require(l2.sectors && l2.write_policy == "back", "l2.link_copies", "is true",
                "that needs l2.sectors = true and l2.write_policy = \"back\"");
  rules.require(l2.ways > 1 && l2.mshr_entries > 1, "l2.link_copies", "is true",
                "that needs two ways and two MSHRs: one of each is left to lines of its half");
  rules.require(!l2.begins_with_data, "l2.link_copies", "is true",
                "an L2 of two halves with copies begins empty (l2.begins_with_data)");
}

/// Latencies of channels in ticks must fit their words, however fine the base clock is.
void check_latencies(const Rules& rules, const MachineConfig& m) {
  const uint64_t limit = longest_latency_cycles(m);
  for (const auto& [key, cycles] :
       {std::pair{"gpu.control_latency_cycles", m.gpu.control_latency_cycles},
        std::pair{"interconnect.channel_latency_cycles", m.interconnect.channel_latency_cycles},
        std::pair{"l2.link_latency_cycles", m.l2.link_latency_cycles},
        std::pair{"links.latency_cycles", m.links.latency_cycles},
        std::pair{"stack.sm_latency_cycles", m.stack.sm_latency_cycles},
        std::pair{"stack.switch_latency_cycles", m.stack.switch_latency_cycles},
        std::pair{"partitions.latency_cycles", m.partitions.latency_cycles},
        std::pair{"near_bank.tsv_latency_cycles", m.near_bank.tsv_latency_cycles}}) {
    rules.at_most(key, cycles, "2^31 ticks of the base clock", limit);
  }
}

void check_caches(const Rules& rules, const MachineConfig& m) {
  rules.require(m.memory.local_memory == "thread" || m.l1.line_bytes == kLocalLineBytes,
                "l1.line_bytes", fmt::format("is {}", m.l1.line_bytes),
                fmt::format("memory.local_memory = \"slot\" needs {}", kLocalLineBytes));
  check_sets(rules, "l1.bytes", m.l1.bytes, 1, m.l1.ways, m.l1.line_bytes,
             "l1.ways x l1.line_bytes");
  check_l1_set_function(rules, m, m.l1.bytes, m.l1.ways);
  if (m.instruction_cache.bytes != 0) {
    check_sets(rules, "instruction_cache.bytes", m.instruction_cache.bytes, 1,
               m.instruction_cache.ways, m.l1.line_bytes, "instruction_cache.ways x l1.line_bytes");
    rules.require(m.sm.fetch_width != 0, "sm.fetch_width", "is 0",
                  "instruction_cache.bytes wants fetches that take time");
  }
  if (m.constant_cache.bytes != 0) {
    const auto& c = m.constant_cache;
    check_sets(rules, "constant_cache.bytes", c.bytes, 1, c.ways, c.line_bytes,
               "constant_cache.ways x constant_cache.line_bytes");
    rules.require(c.line_bytes <= m.l1.line_bytes, "constant_cache.line_bytes",
                  fmt::format("is {}", c.line_bytes),
                  fmt::format("at most l1.line_bytes = {}", m.l1.line_bytes));
  }
  // Mechanisms that compute in stacks find memory up to date, and have lines invalidated.
  rules.require(!m.l2.sectors || shape_of(m).any_cache, "l2.sectors", "is true",
                "only machines of the shape \"discrete\" may have it");
  rules.require(m.l2.write_policy != "back" || !shape_of(m).stacks_behind_links(),
                "l2.write_policy", "is \"back\"",
                "only machines of the shapes \"discrete\", \"mesh\" and \"stacks\" may have it");
  rules.require(m.l2.write_miss == "allocate" || (m.l2.write_policy == "back" && !m.l2.sectors),
                "l2.write_miss", fmt::format("is \"{}\"", m.l2.write_miss),
                "that needs l2.write_policy = \"back\" and l2.sectors = false");
  rules.require(!m.l1.sectors || m.l2.sectors, "l1.sectors", "is true",
                "that needs l2.sectors = true, as sectors are what it asks for");
  rules.require(m.l1.write_policy == "through" || shape_of(m).any_cache, "l1.write_policy",
                fmt::format("is \"{}\"", m.l1.write_policy),
                "only machines of the shape \"discrete\" may have it");
  rules.require(m.l1.write_policy != "allocate" || m.l1.sectors, "l1.write_policy",
                "is \"allocate\"", "that needs l1.sectors = true");
  rules.require(m.l1.write_policy != "local-back" || !m.l1.sectors, "l1.write_policy",
                "is \"local-back\"", "that is of whole lines, without l1.sectors");
  rules.require(m.l1.keep == "lines" || (!m.l1.sectors && m.l1.write_policy == "through" &&
                                         m.l1.allocate == "miss" && m.l1.mshr_entries <= 64),
                "l1.keep", fmt::format("is \"{}\"", m.l1.keep),
                "that needs l1.sectors = false, l1.write_policy = \"through\", l1.allocate = "
                "\"miss\" and at most 64 l1.mshr_entries");
  rules.require(m.l1.keep != "remote" || shape_of(m).in_banks(), "l1.keep", "is \"remote\"",
                "only SMs of machines of the shape \"near_bank\" have memory of their own");
  rules.require(m.l1.allocate == "miss" || shape_of(m).any_cache, "l1.allocate", "is \"fill\"",
                "only machines of the shape \"discrete\" may have it");
  rules.require(
      m.l1.allocate == "miss" || m.l1.write_policy != "local-back", "l1.allocate", "is \"fill\"",
      "with l1.write_policy = \"local-back\" it must be \"miss\": a reply that replaced a "
      "dirty line would have to wait until that can be sent");
  rules.require(m.l1.mshr_entries <= 64 || shape_of(m).any_cache, "l1.mshr_entries",
                fmt::format("is {}", m.l1.mshr_entries),
                "machines of other shapes than \"discrete\" may have at most 64");
  rules.require(m.l2.sectors_per_cycle == 0 || m.l2.sectors, "l2.sectors_per_cycle",
                fmt::format("is {}", m.l2.sectors_per_cycle), "that needs l2.sectors = true");
  if (shape_of(m).slices) {
    check_sets(rules, "l2.bytes", m.l2.bytes, m.l2.slices, m.l2.ways, m.l1.line_bytes,
               "l2.slices x l2.ways x l1.line_bytes");
    check_set_function(rules, "l2.set_function", m.l2.set_function,
                       m.l2.bytes / (uint64_t{m.l2.slices} * m.l2.ways * m.l1.line_bytes),
                       m.l1.line_bytes);
  }
}

void check_memory(const Rules& rules, const MachineConfig& m) {
  rules.at_least("tlb.page_bytes", m.tlb.page_bytes, "memory.page_bytes", m.memory.page_bytes);
  rules.at_least("dram.row_bytes", m.dram.row_bytes, "l1.line_bytes", m.l1.line_bytes);
  rules.at_most("packets.sector_bytes", m.packets.sector_bytes, "l1.line_bytes", m.l1.line_bytes);
  rules.at_most("dram.write_high_watermark", m.dram.write_high_watermark, "dram.queue_entries",
                m.dram.queue_entries);
  rules.at_most("dram.write_high_watermark", m.dram.write_high_watermark, "dram.write_entries",
                m.dram.write_entries);
  rules.require(
      m.dram.write_low_watermark < m.dram.write_high_watermark, "dram.write_low_watermark",
      fmt::format("is {}", m.dram.write_low_watermark),
      fmt::format("it must be below dram.write_high_watermark, {}", m.dram.write_high_watermark));
  rules.at_most("dram.bank_groups", m.dram.bank_groups, "dram.banks", m.dram.banks);
  rules.require(uint64_t{m.dram.banks} * m.dram.row_buffers <= 64, "dram.row_buffers",
                fmt::format("is {}", m.dram.row_buffers), "times dram.banks it must be at most 64");
  if (m.dram.bank_groups > 1) {
    rules.at_least("dram.tRRD_L", m.dram.tRRD_L, "dram.tRRD", m.dram.tRRD);
    rules.at_least("dram.tCCD_L", m.dram.tCCD_L, "dram.tCCD", m.dram.tCCD);
    rules.at_least("dram.tWTR_L", m.dram.tWTR_L, "dram.tWTR", m.dram.tWTR);
  }
  rules.at_least("dram.tRAS", m.dram.tRAS, "dram.tRCD", m.dram.tRCD);
  rules.at_least("dram.tRC", m.dram.tRC, "dram.tRAS + dram.tRP",
                 uint64_t{m.dram.tRAS} + m.dram.tRP);
  rules.at_least("dram.tFAW", m.dram.tFAW, "dram.tRRD", m.dram.tRRD);
  rules.require(m.dram.tREFI == 0 || m.dram.tREFI > m.dram.tRFC, "dram.tREFI",
                fmt::format("is {}", m.dram.tREFI),
                fmt::format("it must be 0 or above dram.tRFC, {}", m.dram.tRFC));
  check_constraints(m, rules.places());
}

}  // namespace

std::vector<uint32_t> memory_tiles(const MachineConfig& machine) {
  std::vector<uint32_t> tiles;
  std::istringstream text(machine.mesh.memory_tiles);
  for (std::string word; text >> word;) {
    const bool good = word.size() <= 4 && word.find_first_not_of("0123456789") == std::string::npos;
    if (!good || std::stoul(word) >= kMaxTiles) return {};
    tiles.push_back(static_cast<uint32_t>(std::stoul(word)));
  }
  return tiles;
}

uint64_t longest_latency_cycles(const MachineConfig& machine) {
  return (kMaxLatencyTicks - 1) / (base_mhz(machine) / machine.clocks.interconnect_mhz);
}

uint64_t memory_mbps(const MachineConfig& machine) {
  if (shape_of(machine).sms_in_stacks())
    return uint64_t{machine.stack.count} * machine.stack.vaults * machine.stack.tsv_mbps;
  if (shape_of(machine).in_banks())
    return uint64_t{machine.gpu.sms} * machine.near_bank.tsv_bytes *
           machine.clocks.interconnect_mhz;
  if (!shape_of(machine).stacks_behind_links())
    return uint64_t{machine.partitions.count} * machine.partitions.channels *
           machine.partitions.channel_mbps;
  return uint64_t{machine.stack.count} * machine.links.gpu_to_memory_mbps;
}

void check_rules(const MachineConfig& machine, const PlaceOf& place_of) {
  const Rules rules(place_of);
  check_gpu(rules, machine);
  check_gpcs(rules, machine);
  check_link(rules, machine);
  check_latencies(rules, machine);
  check_slices(rules, machine);
  check_input_speedup(rules, machine);
  if (shape_of(machine).tiles) check_mesh(rules, machine);
  if (shape_of(machine).sms_in_stacks()) check_stacks(rules, machine);
  if (shape_of(machine).in_banks()) check_near_bank(rules, machine);
  if (!shape_of(machine).in_partitions()) check_links(rules, machine);
  check_caches(rules, machine);
  check_stack_sms(rules, machine);
  check_memory(rules, machine);
  for (const MechanismDeclaration* d : declared_mechanisms())
    if (d->check_machine != nullptr) d->check_machine(machine, rules);
}

}  // namespace nearwarp::config
