// One SM between a mock network and a mock front end, one tick per core cycle.
#pragma once

#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

#include "device/mechanisms/tom/mechanism.h"
#include "device/sm/make_sm.h"
#include "device/sm/sm.h"
#include "tests/support/program.h"
#include "tests/support/rig.h"

namespace nearwarp::testing {

/// A neighbour that keeps all that it got. By default it answers memory requests a fixed time after
/// their arrival; `handler` may do something else with a packet (then it returns true).
struct MockMemory {
  struct Item {
    Tick at = 0;
    Packet packet;
  };
  Ref<Channel> in, out;
  Tick latency = 50;
  bool answers = true;
  std::vector<Item> got;
  std::deque<Item> to_send;  ///< ordered by time
  std::function<bool(const Packet&, Tick)> handler;

  void send_at(Tick at, const Packet& p) {
    auto before = to_send.end();
    while (before != to_send.begin() && std::prev(before)->at > at) --before;
    to_send.insert(before, {at, p});
  }
  std::vector<Item> of(PacketKind kind) const {
    std::vector<Item> some;
    for (const Item& i : got)
      if (i.packet.kind == kind) some.push_back(i);
    return some;
  }
  void receive(const Packet& p, Tick t) {
    got.push_back({t, p});
    if (handler && handler(p, t)) return;
    if (!answers || p.kind > PacketKind::kAtomic) return;
    Packet r;
    r.kind = p.kind == PacketKind::kRead    ? PacketKind::kReadReply
             : p.kind == PacketKind::kWrite ? PacketKind::kWriteAck
                                            : PacketKind::kAtomicReply;
    r.src = p.dst;
    r.dst = p.src;
    r.line = p.line;
    r.tag = p.tag;
    r.bytes = 8;
    send_at(t + latency, r);
  }
  StepResult step(std::byte* base, Window w, Horizon& h) {
    Channel& from = *in.in(base);
    Channel& to = *out.in(base);
    for (Tick t = w.begin; t < w.end; ++t) {
      if (has_packet(from, base, t)) {
        const Packet p = front(from, base);
        pop(from, base, t, h);
        receive(p, t);
      }
      if (!to_send.empty() && to_send.front().at <= t && can_send(to, base, t)) {
        send(to, base, t, to_send.front().packet, h);
        to_send.pop_front();
      }
    }
    StepResult r;
    if (!to_send.empty()) r.wake = std::max(w.end, to_send.front().at);
    return r;
  }
};

inline constexpr uint16_t kSmEndpoint = 3, kStackSmEndpoint = 10, kSliceEndpoint = 100,
                          kVaultEndpoint = 200, kFrontEndEndpoint = 50;
inline constexpr uint32_t kLatency = 4;  ///< latency of every channel, both ways

struct Issue {
  uint32_t cycle = 0, warp = 0, pc = 0;
  bool operator==(const Issue&) const = default;
};

/// `kWords`: words of the SM's warp sets. `List`: the mechanisms of its family.
template <uint32_t kWords, class List = sm::MechanismList<tom::Mechanism>>
class SmBenchOf {
 public:
  using State = sm::SmStateOf<kWords>;
  sm::SmParams params;
  Program program;
  Traces traces;
  Rig rig;
  std::shared_ptr<MockMemory> network = std::make_shared<MockMemory>();
  std::shared_ptr<MockMemory> invalidations = std::make_shared<MockMemory>();
  std::shared_ptr<MockMemory> front_end = std::make_shared<MockMemory>();
  std::vector<Issue> issues;  ///< filled by run_logged()
  bool in_general = false;    ///< stepped by code for all cases
  uint32_t network_slots = 64, control_slots = 64;
  bool learning = false;               ///< begin in the learning phase ...
  std::vector<tom::LineRange> ranges;  ///< ... with this memory allocation table
  /// TOM on this SM.
  struct Offload : tom::SmSideParams {
    bool enabled = false;
  } offload;
  /// Attaches another mechanism of the list, where there is one.
  std::function<void(State&)> attach_own;

  SmBenchOf() {
    params.num_warps = 48;
    params.num_blocks = 8;
    params.slots_per_warp = 32;
    params.grid.device_base = kBase;
    params.branch_latency = 4;
    params.front_end = endpoint_of(kFrontEndEndpoint);
    params.l1.hit_latency = 35;
  }

  tom::SmSideState<kWords>& side() { return *rig.arena.get(side_); }
  tom::WarpSide& warp_side(uint32_t i) { return rig.arena.get(side().warps)[i]; }
  State& state() { return *rig.arena.get(state_); }
  sm::Warp& warp(uint32_t i) { return rig.arena.get(state().warps)[i]; }
  const sm::SmCounters& counters() { return state().counters; }

  /// Lay everything out; parameters, program and traces stand.
  void build() {
    make_homes();
    State s = make_state();
    const ChannelSpec net{network_slots, kLatency, kLatency, 0, 1};
    const ChannelSpec control{control_slots, kLatency, kLatency, 0, 1};
    s.to_network = rig.channel(net);
    s.from_network = rig.channel(net);
    std::vector<Ref<Channel>> inputs{s.from_network};
    if (!params.in_stack) {
      s.to_front_end = rig.channel(control);
      s.from_front_end = rig.channel(control);
      inputs.push_back(s.from_front_end);
    }
    if (offload.enabled) attach_tom(s);
    if (attach_own) attach_own(s);
    state_ = rig.arena.allocate<State>(1);
    *rig.arena.get(state_) = s;
    trace_ = traces.finish();
    rig.add([this](std::byte* base, Window w, Horizon& h) { return step(base, w, h); }, inputs);
    attach(network, s.to_network, s.from_network);
    if (params.in_stack) return;
    front_end->answers = false;
    attach(front_end, s.to_front_end, s.from_front_end);
    if (!offload.enabled) return;
    invalidations->answers = false;
    attach(invalidations, side().invalidations, rig.channel(net));
  }
  /// Have the front end launch thread block `block` (counted over all launches) of `launch` at tick
  /// `at`.
  void launch(uint32_t block, Tick at = 0, uint32_t launch = 0) {
    Packet p = make_packet(PacketKind::kLaunchBlock, kFrontEndEndpoint, kSmEndpoint, 0, launch,
                           block - program.launches[launch].first_block, launch + 1);
    front_end->send_at(at, p);
  }
  /// Build, and launch every thread block of the traces at tick 0.
  void start() {
    build();
    for (uint32_t i = 0; i < traces.first_warp.size(); ++i) launch(i);
  }
  /// Run with windows of one tick up to `end`, logging which warp issued what when. Cycle 0 is the
  /// one in which the first block arrives.
  void run_logged(Tick end) {
    RunOptions one;
    one.to_limit = true;
    while (rig.now() < end) {
      std::vector<sm::Cursor> before;
      for (uint32_t i = 0; i < params.num_warps; ++i) before.push_back(warp(i).at);
      const uint64_t issued = counters().issued();
      rig.run(one, rig.now() + 1);
      if (counters().issued() == issued) continue;
      for (uint32_t i = 0; i < params.num_warps; ++i) {
        const sm::Cursor& a = before[i];
        const sm::Cursor& b = warp(i).at;
        if (a.pc == sm::kEndOfTrace) continue;
        if (a.pc != b.pc || a.trace_pos != b.trace_pos || a.repeats != b.repeats)
          issues.push_back({static_cast<uint32_t>(rig.now() - 1) - kLatency, i, a.pc});
      }
    }
  }
  /// Cycles at which `warp` issued its instructions, in order.
  std::vector<uint32_t> cycles(uint32_t warp) const {
    std::vector<uint32_t> c;
    for (const Issue& i : issues)
      if (i.warp == warp) c.push_back(i.cycle);
    return c;
  }
  /// Packets of a kind that the front end heard.
  std::vector<MockMemory::Item> heard(PacketKind kind) const { return front_end->of(kind); }
  const tom::CandidateCounters& candidate(uint32_t i = 0) {
    return rig.arena.get(side().candidates)[i];
  }

 private:
  void attach(const std::shared_ptr<MockMemory>& m, Ref<Channel> in, Ref<Channel> out) {
    m->in = in;
    m->out = out;
    rig.add([m](std::byte* base, Window w, Horizon& h) { return m->step(base, w, h); }, {in});
  }
  StepResult step(std::byte* base, Window w, Horizon& h) {
    sm::SystemView view;
    view.arena = base;
    view.image = program.view();
    view.traces = trace_;
    const uint32_t throughout = state_.in(base)->attached & sm::with_all_hooks(List());
    if (!in_general && throughout == 0) {  // as ProductFamily does
      if (state_.in(base)->simple)
        return sm::step_sm<sm::SimpleOf<List>>(params, *state_.in(base), view, w, h);
      return sm::step_sm<sm::NoneOf<List>>(params, *state_.in(base), view, w, h);
    }
    return sm::step_sm<List>(params, *state_.in(base), view, w, h);
  }
  /// Four stacks of 16 vaults, four slices in front of each.
  void make_homes() {
    params.homes = {rig.arena.allocate<Endpoint>(4 * 16), 16};
    for (uint32_t k = 0; k < 4; ++k) {
      for (uint32_t v = 0; v < 16; ++v)
        rig.arena.get(params.homes.endpoints)[k * 16 + v] = endpoint_of(
            params.in_stack ? kVaultEndpoint + k * 16 + v : kSliceEndpoint + k * 4 + v % 4);
    }
  }
  State make_state() {
    if (params.in_stack) params.num_blocks = params.num_warps;  // each guest is one
    State s = sm::make_sm<kWords>(rig.arena, params);
    s.endpoint = endpoint_of(params.in_stack ? kStackSmEndpoint : kSmEndpoint);
    return s;
  }

  void attach_tom(State& s) {
    ArenaBuilder& a = rig.arena;
    tom::SmSideState<kWords> side;
    offload.in_stack = params.in_stack;
    offload.stack_sms = place(std::vector<Endpoint>{
        endpoint_of(kStackSmEndpoint), endpoint_of(kStackSmEndpoint + 1),
        endpoint_of(kStackSmEndpoint + 2), endpoint_of(kStackSmEndpoint + 3)});
    offload.candidates = place(program.candidates);
    offload.candidate_of = place(program.candidate_of);
    if (!program.inner_of.empty()) offload.inner_of = place(program.inner_of);
    offload.weight = place(program.weight);
    offload.head_of = place(program.head_of);
    offload.heads = place(program.heads);
    side.history = a.allocate<tuning::TrafficHistory>(params.num_warps);
    side.warps = a.allocate<tom::WarpSide>(params.num_warps);
    side.dirty = a.allocate<uint32_t>(params.num_warps * offload.dirty_entries);
    if (!params.in_stack)
      side.invalidations = rig.channel({network_slots, kLatency, kLatency, 0, 1});
    if (learning) {
      tom::AnalyzerState& n = side.analyzer;
      n.mode = tom::SmMode::kLearning;
      n.entries = a.allocate<tom::AnalyzerEntry>(params.num_warps);
      n.ranges = place(ranges);
      n.touched = a.allocate<uint8_t>(static_cast<uint32_t>(ranges.size()));
    }
    side.candidates = a.allocate<tom::CandidateCounters>(
        std::max<uint32_t>(1, static_cast<uint32_t>(program.candidates.size())));
    const Ref<tom::SmSideParams> own = a.allocate<tom::SmSideParams>(1);
    *a.get(own) = offload;
    side_ = a.allocate<tom::SmSideState<kWords>>(1);
    *a.get(side_) = side;
    s.attached = 1;
    s.mechanism_state[0] = side_.offset;
    s.mechanism_params[0] = own.offset;
  }
  template <class T>
  Ref<T> place(const std::vector<T>& values) {
    const Ref<T> ref = rig.arena.allocate<T>(static_cast<uint32_t>(values.size()));
    std::copy(values.begin(), values.end(), rig.arena.get(ref));
    return ref;
  }

  Ref<State> state_;
  Ref<tom::SmSideState<kWords>> side_;
  const sm::TraceBlock* trace_ = nullptr;
};
using SmBench = SmBenchOf<1>;

}  // namespace nearwarp::testing
