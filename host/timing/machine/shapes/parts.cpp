// Parts that shapes are put together from, as a machine's keys describe them.
#include "host/timing/machine/shapes/parts.h"

#include <algorithm>
#include <bit>

#include "device/core/make_channel.h"
#include "host/functional/instructions/decoded.h"
#include "host/timing/machine/baseline_map.h"
#include "host/timing/machine/polynomials.h"
#include "host/timing/machine/system.h"
#include "host/timing/vault/table.h"

namespace nearwarp::sim {

namespace {

/// The logarithm of a power of two.
uint32_t log2_exact(uint32_t n) { return static_cast<uint32_t>(std::countr_zero(n)); }

cache::SetIndex set_index(uint32_t sets, const std::string& function) {
  cache::SetIndex index;
  index.sets = sets;
  index.bits = log2_exact(sets);
  index.function = function == "fermi"    ? cache::SetFunction::kFermi
                   : function == "xor"    ? cache::SetFunction::kXor
                   : function == "folded" ? cache::SetFunction::kFolded
                   : function == "ipoly"  ? cache::SetFunction::kPolynomial
                                          : cache::SetFunction::kLinear;
  if (function == "ipoly") index.polynomial = primitive_polynomial(index.bits) ^ sets;
  return index;
}

cache::Replacement replacement(const std::string& word) {
  return word == "fifo"     ? cache::Replacement::kFifo
         : word == "random" ? cache::Replacement::kRandom
         : word == "srrip"  ? cache::Replacement::kSrrip
                            : cache::Replacement::kLru;
}

/// Header, line and sector of a kind's packets.
template <class P>
void set_packets(P& p, const config::MachineConfig& m) {
  p.header_bytes = static_cast<uint16_t>(m.packets.header_bytes);
  p.line_bytes = static_cast<uint16_t>(m.l1.line_bytes);
  p.sector_bytes = static_cast<uint16_t>(m.packets.sector_bytes);
}

void set_fetch(sm::SmParams& p, const config::MachineConfig& m) {
  const config::MachineConfig::InstructionCache& c = m.instruction_cache;
  p.fetch.width = m.sm.fetch_width;
  p.fetch.per_cycle = m.sm.fetches_per_cycle;
  p.fetch.cached = c.bytes != 0;
  if (!p.fetch.cached) return;
  p.fetch.line_shift = log2_exact(m.l1.line_bytes / c.instruction_bytes);
  p.fetch.cache.index = set_index(c.bytes / (c.ways * m.l1.line_bytes), "linear");
  p.fetch.cache.ways = c.ways;
  p.fetch.cache.replacement = replacement(c.replacement);
  p.fetch.cache.mshrs = c.mshr_entries;
  p.fetch.cache.merges = std::min(p.num_warps, 255u);  // counted in a byte
}

void set_constants(sm::SmParams& p, const config::MachineConfig& m) {
  const config::MachineConfig::ConstantCache& c = m.constant_cache;
  p.constants.cached = c.bytes != 0;
  if (!p.constants.cached) return;
  p.constants.line_shift = log2_exact(c.line_bytes);
  if (m.l2.sectors && c.line_bytes < m.l1.line_bytes)
    p.constants.sectors = static_cast<uint8_t>(low_bits(c.line_bytes / m.packets.sector_bytes));
  p.constants.cache.index = set_index(c.bytes / (c.ways * c.line_bytes), "linear");
  p.constants.cache.ways = c.ways;
  p.constants.cache.replacement = replacement(c.replacement);
  p.constants.cache.mshrs = c.mshr_entries;
  p.constants.cache.merges = c.mshr_merges;
}

}  // namespace

Parts::Parts(const ShapeInputs& inputs)
    : ShapeInputs(inputs),
      base_mhz(config::base_mhz(machine)),
      core_period(period(machine.clocks.core_mhz)),
      icnt_period(period(machine.clocks.interconnect_mhz)) {}

Graph Parts::empty_graph() const {
  Graph g;
  g.base_mhz = base_mhz;
  g.core_period = core_period;
  g.map = machine_address_map(machine);
  g.page_shift = log2_exact(machine.memory.page_bytes / machine.l1.line_bytes);
  g.tlb_page_shift = log2_exact(machine.tlb.page_bytes / machine.l1.line_bytes);
  return g;
}

SmSpec Parts::main_sm() const {
  const config::MachineConfig& m = machine;
  SmSpec spec;
  sm::SmParams& p = spec.params;
  p.period = core_period;
  p.num_warps = m.sm.warps;
  p.num_blocks = m.sm.blocks;
  p.num_schedulers = m.sm.schedulers;
  p.policy = m.sm.scheduler_policy == "lrr" ? sm::SchedulerPolicy::kLooseRoundRobin
                                            : sm::SchedulerPolicy::kGreedyThenOldest;
  const auto set_ports = [&](sm::Unit unit, uint32_t n) {
    p.ports[static_cast<uint32_t>(unit)] = n;
  };
  set_ports(sm::Unit::kSp, m.sm.sp_units);
  set_ports(sm::Unit::kSfu, m.sm.sfu_units);
  set_ports(sm::Unit::kDp, m.sm.dp_units);
  set_ports(sm::Unit::kInt, m.sm.int_units);
  set_ports(sm::Unit::kMatrix, m.sm.matrix_units);
  p.sub_cores = m.sm.sub_cores;
  p.port_queue = static_cast<uint8_t>(m.sm.port_queue);
  set_fetch(p, m);
  set_constants(p, m);
  spec.capacity = sm_capacity(m);
  p.slots_per_warp = image.max_slots;
  p.copies = image.has_copies;
  p.clusters = has_gpcs();
  p.lsu_queue = m.lsu.queue_entries;
  p.load_entries = m.lsu.load_entries;
  p.shared_latency = m.lsu.shared_latency_cycles + m.lsu.pipeline_cycles;
  p.remote_shared = m.lsu.remote_shared_cycles;
  p.shared_banks = m.lsu.shared_banks;
  p.branch_latency = m.sm.branch_latency_cycles;
  p.grid.device_base = exec::kDeviceBase;
  p.grid.line_shift = log2_exact(m.l1.line_bytes);
  if (m.memory.local_memory == "slot") p.local_sms = m.gpu.sms;
  p.count_rounds = m.l2.atomic_cycles != 0;
  p.atomic_packets = m.lsu.atomic_packets == "sector" ? sm::AtomicPackets::kSectors
                     : m.lsu.atomic_packets == "lane" ? sm::AtomicPackets::kLanes
                                                      : sm::AtomicPackets::kLines;
  p.mark_words = m.l2.write_policy == "back" || m.l1.write_policy == "allocate";
  p.header_bytes = m.packets.header_bytes;
  p.sector_bytes = m.packets.sector_bytes;
  p.line_address_bytes = m.packets.line_address_bytes;
  p.l1.index = set_index(m.l1.bytes / (m.l1.ways * m.l1.line_bytes), m.l1.set_function);
  p.l1.ways = m.l1.ways;
  p.l1.replacement = replacement(m.l1.replacement);
  p.l1.hit_latency = m.l1.hit_latency_cycles + m.lsu.pipeline_cycles;
  p.l1.mshrs = m.l1.mshr_entries;
  p.l1.merges = m.l1.mshr_merges;
  p.l1.keep = m.l1.keep == "misses"    ? cache::L1Keep::kMisses
              : m.l1.keep == "nothing" ? cache::L1Keep::kNothing
              : m.l1.keep == "remote"  ? cache::L1Keep::kRemote
                                       : cache::L1Keep::kLines;
  p.l1.by_sectors = m.l1.sectors ? 1 : 0;
  p.l1.writes = m.l1.write_policy == "allocate"     ? cache::L1Writes::kAllocate
                : m.l1.write_policy == "local-back" ? cache::L1Writes::kLocalBack
                                                    : cache::L1Writes::kThrough;
  p.l1.all_sectors = static_cast<uint8_t>(low_bits(m.l1.line_bytes / m.packets.sector_bytes));
  p.l1.on_fill = m.l1.allocate == "fill" ? 1 : 0;
  p.l1.plain = !m.l1.sectors && m.l1.write_policy == "through" && m.l1.mshr_entries <= 64 &&
               p.l1.on_fill == 0;
  p.tlb.entries = m.tlb.entries;
  p.tlb.replacement = replacement(m.tlb.replacement);
  p.tlb.page_shift = log2_exact(m.tlb.page_bytes / m.l1.line_bytes);
  p.tlb.walkers = m.tlb.walkers;
  p.tlb.walk_accesses = m.tlb.walk_accesses;
  p.tlb.entry_shift = log2_exact(m.l1.line_bytes / sm::kPageTableEntryBytes);
  return spec;
}

SmSpec Parts::stack_sm() const {
  SmSpec spec = main_sm();
  sm::SmParams& p = spec.params;
  p.num_warps = p.num_blocks = machine.stack.sm_warps;
  p.fetch.cache.merges = std::min(p.num_warps, 255u);  // counted in a byte
  const config::MachineConfig::StackSm& own = machine.stack_sm;
  if (own.clock_mhz != 0) p.period = period(own.clock_mhz);
  if (own.schedulers != 0) p.num_schedulers = own.schedulers;
  if (own.sp_units != 0) p.ports[static_cast<uint32_t>(sm::Unit::kSp)] = own.sp_units;
  if (own.sfu_units != 0) p.ports[static_cast<uint32_t>(sm::Unit::kSfu)] = own.sfu_units;
  if (own.l1_ways != 0) p.l1.ways = own.l1_ways;
  const uint32_t l1_bytes = own.l1_bytes != 0 ? own.l1_bytes : machine.l1.bytes;
  p.l1.index = set_index(l1_bytes / (p.l1.ways * machine.l1.line_bytes), machine.l1.set_function);
  return spec;
}

L2SliceSpec Parts::l2_slice() const {
  const config::MachineConfig& m = machine;
  L2SliceSpec spec;
  L2SliceParams& p = spec.params;
  p.period = period(m.clocks.l2_mhz);
  p.latency_cycles = m.l2.latency_cycles;
  p.index = set_index(m.l2.bytes / m.l2.slices / (m.l2.ways * m.l1.line_bytes), m.l2.set_function);
  p.ways = m.l2.ways;
  p.replacement = replacement(m.l2.replacement);
  p.mshr_entries = m.l2.mshr_entries;
  p.mshr_merges = m.l2.mshr_merges;
  p.atomic_cycles = m.l2.atomic_cycles;
  p.by_sectors = m.l2.sectors ? 1 : 0;
  p.sectors_per_cycle = static_cast<uint8_t>(m.l2.sectors_per_cycle);
  p.write_back = m.l2.write_policy == "back" ? 1 : 0;
  p.write_miss = m.l2.write_miss == "fetch"            ? L2WriteMiss::kFetch
                 : m.l2.write_miss == "through"        ? L2WriteMiss::kThrough
                 : m.l2.write_miss == "fetch-on-write" ? L2WriteMiss::kFetchOnWrite
                                                       : L2WriteMiss::kAllocate;
  p.atomics_in_memory = m.l2.atomics == "memory" ? 1 : 0;
  p.at_launch = m.l2.at_launch == "all"      ? L2AtLaunch::kAll
                : m.l2.at_launch == "remote" ? L2AtLaunch::kRemote
                                             : L2AtLaunch::kKeep;
  set_packets(p, m);
  spec.queue_entries = m.l2.queue_entries;
  return spec;
}

VaultSpec Parts::vault(uint32_t mbps) const {
  const config::MachineConfig::Dram& d = machine.dram;
  VaultSpec spec;
  VaultParams& p = spec.params;
  p.period = period(machine.clocks.dram_mhz);
  p.tCL = d.tCL, p.tCWL = d.tCWL;
  p.in_order = d.scheduler == "fcfs" ? 1 : 0;
  p.closed_page = d.page_policy == "closed" ? 1 : 0;
  p.forward_writes = d.forward_writes ? 1 : 0;
  p.row_buffer_bits = static_cast<uint8_t>(log2_exact(d.row_buffers));
  p.any_row_buffer = d.row_buffer_rule == "any" ? 1 : 0;
  const uint64_t line = uint64_t{machine.l1.line_bytes} * machine.clocks.dram_mhz;
  set_constraints(p,
                  config::constraints_of(machine, static_cast<uint32_t>((line + mbps - 1) / mbps)),
                  config::parts_of(machine), machine.path);
  const TicksPerByte t = ticks_per_byte(base_mhz, mbps);
  p.ticks_per_byte_num = t.num;
  p.ticks_per_byte_den = t.den;
  p.burst_mask = static_cast<uint16_t>(d.burst_bytes - 1);
  if (d.sector_bursts) {
    const uint32_t sector = machine.packets.sector_bytes;
    const uint32_t each = (sector + d.burst_bytes - 1) / d.burst_bytes * d.burst_bytes;
    p.line_bus_bytes = static_cast<uint16_t>(machine.l1.line_bytes / sector * each);
  }
  p.sector_reads = machine.l2.sectors ? 1 : 0;
  p.starvation_cycles = d.starvation_cycles;
  p.fixed_latency_cycles = d.fixed_latency_cycles;
  p.read_entries = d.read_entries;
  p.write_entries = d.write_entries;
  p.write_high = d.write_high_watermark;
  p.write_low = d.write_low_watermark;
  set_packets(p, machine);
  spec.banks = d.banks;
  spec.entries = std::min(d.queue_entries, d.read_entries + d.write_entries);
  return spec;
}

SwitchSpec Parts::crossbar_switch(uint32_t flit_bytes) const {
  SwitchSpec spec;
  spec.params.period = icnt_period;
  spec.params.flit_bytes = flit_bytes;
  return spec;
}

NodeSpec Parts::network(bool from_sms) const {
  if (machine.interconnect.topology == "switch")
    return crossbar_switch(machine.interconnect.flit_bytes);
  return RouterNetworkSpec{icnt_period, machine.interconnect, from_sms, {}};
}

LinkPortSpec Parts::link_port() const {
  LinkPortSpec spec;
  // The port moves a packet per cycle; the slices' channels and the link set the pace.
  spec.params.ports = crossbar_switch(machine.l1.line_bytes * 2).params;
  spec.params.control_bytes = static_cast<uint16_t>(machine.packets.header_bytes);
  return spec;
}

FrontEndSpec Parts::front_end() const {
  FrontEndSpec spec;
  frontend::FrontEndParams& p = spec.params;
  p.period = core_period;
  // The host's doorbell takes as long as a control message.
  const uint32_t doorbell =
      (machine.gpu.control_latency_cycles * icnt_period + core_period - 1) / core_period;
  p.launch_gap = machine.gpu.kernel_launch_latency_cycles + doorbell;
  p.outbox_entries = machine.sm.warps + 1;
  p.dispatch.max_running = machine.gpu.launches_in_flight;
  p.dispatch.one_at_a_time = !machine.gpu.launches_share_sms;
  spec.launches = image.launches;
  if (has_gpcs()) {
    p.dispatch.gpcs = machine.gpu.gpcs;
    for (uint32_t i = 0; i < machine.gpu.sms; ++i) spec.gpcs.push_back(gpc_of(i));
  }
  return spec;
}

}  // namespace nearwarp::sim
