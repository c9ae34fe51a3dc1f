// What TOM adds to a machine: to its graph, and to the components' States.
#include "host/timing/machine/tom_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/core/error.h"
#include "host/timing/machine/shapes/parts.h"
#include "host/timing/machine/system.h"

namespace nearwarp::sim {

// --- graph ---

namespace {

Wire pcie(const Parts& parts) {
  const config::MachineConfig::Pcie& p = parts.machine.pcie;
  const Tick round_trip = std::max<Tick>(2, parts.ns_ticks(p.round_trip_ns));
  return {static_cast<uint32_t>(round_trip / 2), p.queue_entries, p.mbps};
}

void add_stack_sms(Graph& g, const Parts& parts, const StackedNodes& nodes) {
  SmSpec spec = parts.stack_sm();
  spec.homes = nodes.vault_homes;
  spec.params.offload = g.spec<SmSpec>(nodes.sm_class).params.offload;
  spec.params.in_stack = true;
  const uint16_t stack_sm = g.add_class("stack_sm", spec);
  const Wire wire = parts.in_stack();
  for (uint16_t k = 0; k < nodes.switches.size(); ++k) {
    const NodeId sm = g.add(stack_sm, fmt::format("stack sm {}", k), k);
    constexpr uint8_t kBoth = kRequests | kReplies;
    g.link(g.at(sm), g.next_in(nodes.switches[k]), ChannelClass::kInStack, kBoth, wire);
    g.link(g.next_out(nodes.switches[k]), g.at(sm), ChannelClass::kInStack, kBoth, wire);
    g.tom.stack_sms.push_back(sm);
  }
}

void add_invalidations(Graph& g, const Parts& parts, const StackedNodes& nodes) {
  const uint16_t crossbar = g.add_class(
      "invalidation_crossbar", parts.crossbar_switch(parts.machine.interconnect.flit_bytes));
  const NodeId network = g.add(crossbar, "invalidation crossbar");
  for (uint32_t i = 0; i < nodes.sms.size(); ++i)
    g.link(g.at(nodes.sms[i]), g.at(network, parts.cluster_of(i)), ChannelClass::kInvalidation,
           kInvalidations, parts.hop());
  for (uint32_t i = 0; i < nodes.slices.size(); ++i)
    g.link(g.at(network, i), g.at(nodes.slices[i]), ChannelClass::kInvalidation, kInvalidations,
           parts.hop());
}

/// The channel busy monitors, which tell the front end.
void add_monitors(Graph& g, const Parts& parts, const StackedNodes& nodes) {
  LinkPortParams& p = g.spec<LinkPortSpec>(nodes.port_class).params;
  p.monitor = 1;
  p.interval_ticks = parts.machine.offload.monitor_interval_cycles * parts.icnt_period;
  p.threshold_percent = std::max(1u, parts.policy.offload.busy_threshold_percent);
  for (const NodeId port : nodes.ports)
    g.link(g.at(port), g.at(nodes.front_end), ChannelClass::kControl, kControl, parts.control(4));
}

void add_learning(Graph& g, const Parts& parts, const StackedNodes& nodes) {
  HostMemorySpec spec;
  spec.params.period = parts.icnt_period;
  spec.params.header_bytes = static_cast<uint16_t>(parts.machine.packets.header_bytes);
  spec.params.line_bytes = static_cast<uint16_t>(parts.machine.l1.line_bytes);
  spec.params.sector_bytes = static_cast<uint16_t>(parts.machine.packets.sector_bytes);
  const NodeId host = g.add(g.add_class("host_memory", spec), "CPU memory");
  const Wire wire = pcie(parts);
  g.link(g.next_out(nodes.request_network), g.at(host), ChannelClass::kPcie, kRequests, wire);
  g.link(g.at(host), g.next_in(nodes.reply_network), ChannelClass::kPcie, kReplies, wire);
  g.spec<SmSpec>(nodes.sm_class).params.host_memory = host;
  frontend::FrontEndParams& p = g.spec<FrontEndSpec>(nodes.front_end_class).params;
  p.learning_instances = parts.data.learning_instances;
  // At least a window, so that the host comes in between.
  p.remap_ticks =
      std::max(parts.ns_ticks(parts.machine.pcie.remap_latency_ns), Tick{parts.hop().latency});
}

}  // namespace

void add_tom(Graph& g, const Parts& parts, const StackedNodes& nodes) {
  const config::MachineConfig& m = parts.machine;
  if (m.stack.sms != 1)
    throw Error(
        fmt::format("{}: stack.sms = {} - TOM places one SM in each stack", m.path, m.stack.sms));
  if (nodes.switches.size() > kMaxStacks)
    throw Error(fmt::format("{}: {} stacks - TOM's tables have room for {}", m.path,
                            nodes.switches.size(), kMaxStacks));
  g.tom.learning = parts.data.learning_instances != 0;
  g.tom.own_mapping = parts.policy.mapping == "tmap" || parts.policy.mapping == "oracle";
  g.tom.line_bytes = m.l1.line_bytes;
  g.tom.candidates = static_cast<uint32_t>(parts.image.candidates.size());
  g.tom.waiting_entries = static_cast<uint32_t>(nodes.sms.size()) * m.sm.warps;
  g.tom.ranges = parts.data.ranges;
  offload::OffloadParams& o = g.spec<SmSpec>(nodes.sm_class).params.offload;
  o.enabled = true;
  o.dynamic_control = parts.policy.offload.dynamic_control;
  o.no_overhead = !parts.policy.offload.overhead;
  o.all_local = parts.policy.mapping == "local";
  o.pipeline_latency = m.offload.pipeline_latency_cycles;
  o.dirty_entries = m.offload.dirty_entries;
  frontend::FrontEndParams& f = g.spec<FrontEndSpec>(nodes.front_end_class).params;
  f.num_stacks = static_cast<uint32_t>(nodes.switches.size());
  f.stack_warps = m.stack.sm_warps;
  f.dynamic_control = parts.policy.offload.dynamic_control;
  add_stack_sms(g, parts, nodes);
  add_invalidations(g, parts, nodes);
  add_monitors(g, parts, nodes);
  if (g.tom.learning) add_learning(g, parts, nodes);
}

// --- layout ---

TomTables make_tom_tables(ArenaBuilder& arena, const TomData& data, MemoryMap& map) {
  TomTables tables;
  tables.ranges = arena.allocate<offload::LineRange>(static_cast<uint32_t>(data.ranges.size()));
  std::copy(data.ranges.begin(), data.ranges.end(), arena.get(tables.ranges));
  tables.stack_sms = arena.allocate<uint16_t>(static_cast<uint32_t>(data.stack_sms.size()));
  std::copy(data.stack_sms.begin(), data.stack_sms.end(), arena.get(tables.stack_sms));
  if (!data.own_mapping) return tables;
  OffloadMapping own;
  own.page_shift = kMappingPageShift - static_cast<uint32_t>(std::countr_zero(data.line_bytes));
  const uint64_t lines = data.ranges.empty() ? 0 : data.ranges.back().end;
  const uint64_t pages = (lines + (uint64_t{1} << own.page_shift) - 1) >> own.page_shift;
  own.pages = arena.allocate<uint64_t>(static_cast<uint32_t>((pages + 63) / 64));
  map.offload = arena.allocate<OffloadMapping>(1);
  *arena.get(map.offload) = own;
  return tables;
}

template <uint32_t kWords>
void make_tom_sm_state(ArenaBuilder& a, const TomData& data, const TomTables& tables,
                       const sm::SmParams& p, sm::SmStateOf<kWords>& s) {
  s.offload.candidates =
      a.allocate<offload::CandidateCounters>(std::max<uint32_t>(1, data.candidates));
  if (p.in_stack) {
    s.offload.dirty = a.allocate<uint32_t>(p.num_warps * p.offload.dirty_entries);
    s.offload.num_dirty = a.allocate<uint16_t>(p.num_warps);
    return;
  }
  s.offload.since = a.allocate<uint32_t>(p.num_warps);
  s.offload.decided = a.allocate<uint32_t>(p.num_warps);
  if (!data.learning) return;
  s.offload.analyzer.mode = offload::SmMode::kLearning;
  s.offload.analyzer.entries = a.allocate<offload::AnalyzerEntry>(p.num_warps);
  s.offload.analyzer.ranges = tables.ranges;
  s.offload.analyzer.touched = a.allocate<uint8_t>(tables.ranges.count);
}
template void make_tom_sm_state(ArenaBuilder&, const TomData&, const TomTables&,
                                const sm::SmParams&, sm::SmState&);
template void make_tom_sm_state(ArenaBuilder&, const TomData&, const TomTables&,
                                const sm::SmParams&, sm::WideSmState&);

void make_tom_front_end_state(ArenaBuilder& a, const TomData& data,
                              const std::vector<Ref<Channel>>& from_ports,
                              frontend::FrontEndState& s) {
  if (data.learning) s.learning = frontend::LearningPhase::kLearning;
  const auto stacks = static_cast<uint32_t>(data.stack_sms.size());
  s.waiting_entries = data.waiting_entries;
  s.waiting = a.allocate<frontend::Waiting>(stacks * data.waiting_entries);
  s.from_link_port = a.allocate<Ref<Channel>>(static_cast<uint32_t>(from_ports.size()));
  std::copy(from_ports.begin(), from_ports.end(), a.get(s.from_link_port));
}

}  // namespace nearwarp::sim
