// Lays out SMs, and the front end that feeds them.
#include <algorithm>
#include <variant>

#include "host/timing/machine/layout.h"

namespace nearwarp::sim {

namespace {

template <uint32_t kWords>
sm::SmStateOf<kWords> make_sm(ArenaBuilder& a, const sm::SmParams& p) {
  sm::SmStateOf<kWords> s;
  s.free_warps = WarpSet<kWords>::lowest(p.num_warps);
  s.free_loads = low_bits(p.load_entries);
  s.warps = a.allocate<sm::Warp>(p.num_warps);
  s.scoreboard = a.allocate<uint32_t>(p.num_warps * p.slots_per_warp);
  s.load_entries = a.allocate<sm::LoadEntry>(p.load_entries);
  s.blocks = a.allocate<sm::BlockSlotOf<kWords>>(p.num_blocks);
  if (!p.in_stack) {
    s.barrier_waiting = a.allocate<WarpSet<kWords>>(p.num_blocks * sm::kMaxBarriers);
    s.barrier_arrived = a.allocate<uint16_t>(p.num_blocks * sm::kMaxBarriers);
  }
  const uint32_t lines = p.l1.sets * p.l1.ways;
  s.l1.tags = a.allocate<LineAddr>(lines);
  s.l1.last_use = a.allocate<uint32_t>(lines);
  s.l1.filling = a.allocate<uint8_t>(lines);
  s.l1.mshr_line = a.allocate<LineAddr>(p.l1.mshrs);
  s.l1.mshr_since = a.allocate<uint32_t>(p.l1.mshrs);
  s.l1.mshr_way = a.allocate<uint16_t>(p.l1.mshrs);
  s.l1.mshr_count = a.allocate<uint8_t>(p.l1.mshrs);
  s.l1.mshr_loads = a.allocate<uint8_t>(p.l1.mshrs * p.l1.merges);
  s.l1.mshr_free = low_bits(p.l1.mshrs);
  std::fill_n(a.get(s.l1.tags), lines, kNoLine);
  std::fill_n(a.get(s.l1.mshr_line), p.l1.mshrs, kNoLine);
  if (p.tlb.entries != 0) s.tlb = sm::make_tlb(a, p.tlb);
  return s;
}

template <uint32_t kWords>
void add_sm(Layout& l, NodeId node, const sm::SmParams& p) {
  sm::SmStateOf<kWords> s = make_sm<kWords>(l.s.arena, p);
  s.endpoint = node;
  s.stack = l.graph.nodes[node].stack;
  s.to_network = l.out(node, kRequests | kReplies);
  s.from_network = l.in(node, kRequests | kReplies);
  s.to_front_end = l.find_out(node, kControl);
  s.from_front_end = l.find_in(node, kControl);
  l.add(node, p, s);
}

}  // namespace

void Layout::node(NodeId node, const SmSpec& spec) {
  sm::SmParams p = spec.params;
  p.map = s.map;
  p.translation = s.page_tables.translation;
  p.homes = homes[spec.homes];
  for (const uint32_t i : links[node].out)
    if ((graph.links[i].carries & kControl) != 0) p.front_end = graph.links[i].to.node;
  if (p.num_warps <= WarpSet<1>::kCapacity) {
    add_sm<1>(*this, node, p);
  } else {
    add_sm<sm::kWideWords>(*this, node, p);
  }
}

void Layout::node(NodeId node, const FrontEndSpec& spec) {
  std::vector<Ref<Channel>> to_sm, from_sm, monitors;
  for (const uint32_t i : links[node].out) to_sm.push_back(channels[i]);
  for (const uint32_t i : links[node].in) {
    const NodeId from = graph.links[i].from.node;
    const bool is_sm = std::holds_alternative<SmSpec>(graph.spec_of(from));
    (is_sm ? from_sm : monitors).push_back(channels[i]);
    if (is_sm) s.sms.push_back(from);
  }
  ArenaBuilder& a = s.arena;
  frontend::FrontEndParams p = spec.params;
  p.num_sms = s.num_sms();
  p.endpoint = node;
  frontend::FrontEndState f;
  f.to_sm = kernels::place(a, std::span<const Ref<Channel>>(to_sm));
  f.from_sm = kernels::place(a, std::span<const Ref<Channel>>(from_sm));
  f.from_monitor = kernels::place(a, std::span<const Ref<Channel>>(monitors));
  f.outbox = a.allocate<frontend::Outbox>(p.num_sms);
  f.outgoing = a.allocate<frontend::Outgoing>(p.num_sms * p.outbox_entries);
  f.dispatch.done_log = a.allocate<uint32_t>(p.num_sms * spec.blocks_per_sm);
  f.dispatch.launch_end = a.allocate<Tick>(std::max(1u, spec.launches));
  f.dispatch.launch_at = Tick{p.launch_gap} * p.period;
  add(node, p, f);
  s.front_end_at = node;
}

}  // namespace nearwarp::sim
