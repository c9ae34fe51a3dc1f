// A machine of tightly coupled parts: a chain of switches, each with a source of traffic and a
// vault, most of them 1 to 3 ticks apart, a few far from each other.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/core/make_channel.h"
#include "device/dram/vault.h"
#include "host/config/config.h"
#include "host/timing/dram/channel_system.h"
#include "kernels/clusters.h"
#include "kernels/run_control.h"

namespace nearwarp::testing {

struct ChainOptions {
  bool clusters = true;  ///< false: every component by itself, in windows of the shortest channel
  uint32_t slots = 4;    ///< slots of every channel
  TrafficPacing pacing = TrafficPacing::kSaturated;
  uint32_t writes_num = 1;  ///< writes among 4 requests
};

/// Nodes 0-2, 3-5 and 6-7 are clusters; node 8 is none. Sources send to all vaults.
class Chain {
 public:
  static constexpr uint32_t kNodes = 9, kFar = 36;
  static constexpr uint32_t kSource = 0, kSwitch = kNodes, kVault = 2 * kNodes;

  explicit Chain(const ChainOptions& options) : options_(options) {
    const config::DramConfig standard = config::load_dram("hmc-vault");
    organisation_ = standard.organisation;
    vault_ = dram::vault_params(standard);
    vault_.posted_writes = 1;
    vault_.read_entries = vault_.write_entries = 8;
    vault_.write_high = 6;
    vault_.write_low = 2;
    table_ = arena_.allocate<kernels::Component>(3 * kNodes);
    front_end_ = place(frontend::FrontEndState{});
    for (uint32_t n = 0; n < kNodes; ++n) make_wires(n);
    for (uint32_t n = 0; n < kNodes; ++n) make_node(n);
    std::vector<const Channel*> all;
    for (const Ref<Channel> c : channels_) all.push_back(arena_.get(c));
    window_ = kernels::set_windows(components(), all);
  }

  std::span<kernels::Component> components() { return {arena_.get(table_), table_.count}; }
  ArenaBuilder& arena() { return arena_; }
  Tick window() const { return window_; }

  /// A run up to `limit` in windows of `longest` ticks, or of the longest possible.
  kernels::RunState begin(Tick limit, Tick longest = 0) {
    kernels::RunState run;
    run.view.arena = arena_.base();
    run.table = table_;
    run.front_end = front_end_.offset;
    run.control.longest = longest == 0 ? window_ : std::min(longest, window_);
    run.control.limit = limit;
    kernels::begin_windows(run.control);
    return run;
  }

  /// All counters, and the state of every channel.
  std::string text() {
    std::string t;
    const auto add = [&](uint64_t value) { t += std::to_string(value) + ' '; };
    for (uint32_t n = 0; n < kNodes; ++n) {
      const auto& source = *arena_.get(streams_[n]);
      const auto& counters = source.counters;
      for (const uint64_t v :
           {counters.reads_sent, counters.writes_sent, counters.reads_done, counters.latency_cycles,
            counters.latency_min, counters.latency_max, source.position, source.random})
        add(v);
      for (uint32_t b = 0; b < source.histogram.count; ++b)
        if (const uint64_t v = arena_.get(source.histogram)[b]; v != 0) add(b), add(v);
      const SwitchCounters& s = arena_.get(switches_[n])->counters;
      for (const uint64_t v : {s.packets, s.bytes, s.flits, s.replies, s.port_busy_ticks}) add(v);
      const VaultCounters& v = arena_.get(vaults_[n])->counters;
      for (const uint64_t x : {v.reads, v.writes, v.row_hits, v.row_conflicts, v.activates,
                               v.precharges, v.read_commands, v.write_commands, v.latency_ticks})
        add(x);
      add(arena_.get(switches_[n])->fault.code + arena_.get(sources_[n])->fault.code);
      t += '\n';
    }
    for (const Ref<Channel> ref : channels_) {
      const Channel& c = *arena_.get(ref);
      add(c.producer_side.packets);
      add(c.producer_side.bytes);
      add(c.consumer_side.packets);
      for (uint32_t i = 0; i < c.slots.count; ++i)
        add(arena_.get(c.slots)[i].arrive), add(arena_.get(c.slots)[i].credit);
      t += '\n';
    }
    return t;
  }
  uint64_t reads_done() {
    uint64_t n = 0;
    for (const auto s : streams_) n += arena_.get(s)->counters.reads_done;
    return n;
  }

 private:
  static uint16_t cluster_of(uint32_t node) {
    return static_cast<uint16_t>(node < 3 ? 1 : node < 6 ? 2 : node < 8 ? 7 : 0);
  }
  template <class T>
  Ref<T> place(const T& object) {
    const Ref<T> ref = arena_.allocate<T>(1);
    *arena_.get(ref) = object;
    return ref;
  }
  Ref<Channel> channel(uint32_t from, uint32_t to) {
    const uint32_t a = cluster_of(from % kNodes), b = cluster_of(to % kNodes);
    const bool near = a != 0 && a == b;
    ChannelSpec c;
    c.slots = options_.slots;
    // One of 2 and 3 ticks, another of 1 where only cluster 1 has it.
    c.latency = near ? (a == 1 && from == kSource ? 1 : 2 + from % 2) : kFar + from % 3;
    c.credit_latency = near ? 2 : kFar;
    c.producer = static_cast<uint16_t>(from);
    c.consumer = static_cast<uint16_t>(to);
    channels_.push_back(make_channel(arena_, c));
    return channels_.back();
  }

  struct Wires {
    Ref<Channel> from_source, to_source, to_vault, from_vault;
    Ref<Channel> right_request, right_reply, left_request, left_reply;  ///< to the neighbours
  };

  void make_wires(uint32_t n) {
    Wires w;
    w.from_source = channel(kSource + n, kSwitch + n);
    w.to_source = channel(kSwitch + n, kSource + n);
    w.to_vault = channel(kSwitch + n, kVault + n);
    w.from_vault = channel(kVault + n, kSwitch + n);
    if (n + 1 < kNodes) {
      w.right_request = channel(kSwitch + n, kSwitch + n + 1);
      w.right_reply = channel(kSwitch + n, kSwitch + n + 1);
    }
    if (n > 0) {
      w.left_request = channel(kSwitch + n, kSwitch + n - 1);
      w.left_reply = channel(kSwitch + n, kSwitch + n - 1);
    }
    wires_.push_back(w);
  }

  void add(uint32_t number, kernels::ComponentKind kind, uint32_t params, uint32_t state,
           const std::vector<Ref<Channel>>& inputs) {
    kernels::Component c;
    c.kind = kind;
    c.params = params;
    c.state = state;
    c.inputs = arena_.allocate<Ref<Channel>>(static_cast<uint32_t>(inputs.size()));
    std::copy(inputs.begin(), inputs.end(), arena_.get(c.inputs));
    c.cluster = options_.clusters ? cluster_of(number % kNodes) : uint16_t{0};
    arena_.get(table_)[number] = c;
  }

  void make_node(uint32_t n) {
    const Wires& w = wires_[n];
    TrafficStream stream;
    stream.params.pattern = TrafficPattern::kRandom;
    stream.params.pacing = options_.pacing;
    stream.params.window = 5;
    stream.params.writes_num = options_.writes_num;
    stream.params.writes_den = 4;
    stream.params.arrival_threshold = 1u << 26;
    stream.histogram = arena_.allocate<uint64_t>(kLatencyBuckets);
    stream.random = n + 1;
    streams_.push_back(place(stream));
    TrafficParams t;
    t.lines = 1 << 14;
    t.period = vault_.period;
    t.reply_latency = t.request_latency = 0;
    t.endpoint = static_cast<uint16_t>(kSource + n);
    t.first_memory = kVault;
    t.memories = kNodes;
    TrafficState s;
    s.out = w.from_source;
    s.in = w.to_source;
    s.streams = streams_.back();
    sources_.push_back(place(s));
    add(kSource + n, kernels::ComponentKind::kTraffic, place(t).offset, sources_.back().offset,
        {w.to_source});

    VaultParams v = vault_;
    v.endpoint = endpoint_of(kVault + n);
    vaults_.push_back(
        place(make_vault(arena_, v, organisation_.bank_groups * organisation_.banks_per_group, 16,
                         w.to_vault, w.from_vault)));
    add(kVault + n, kernels::ComponentKind::kVault, place(v).offset, vaults_.back().offset,
        {w.to_vault});
    make_switch_of(n);
  }

  void make_switch_of(uint32_t n) {
    const Wires& w = wires_[n];
    std::vector<SwitchLink> in{{w.from_source, 0}, {w.from_vault, 1}};
    std::vector<SwitchLink> out{{w.to_source, 0}, {w.to_vault, 1}};
    uint16_t port = 2, left = kNoRoute, right = kNoRoute;
    const auto neighbour = [&](const Ref<Channel>& request_in, const Ref<Channel>& reply_in,
                               const Ref<Channel>& request_out, const Ref<Channel>& reply_out) {
      in.push_back({request_in, port});
      in.push_back({reply_in, port});
      out.push_back({request_out, port});
      out.push_back({reply_out, port});
      port = static_cast<uint16_t>(port + 1);
      return static_cast<uint16_t>(out.size() - 2);
    };
    if (n > 0)
      left = neighbour(wires_[n - 1].right_request, wires_[n - 1].right_reply, w.left_request,
                       w.left_reply);
    if (n + 1 < kNodes)
      right = neighbour(wires_[n + 1].left_request, wires_[n + 1].left_reply, w.right_request,
                        w.right_reply);
    SwitchParams p;
    p.flit_bytes = 16;
    p.component = static_cast<uint16_t>(kSwitch + n);
    p.endpoints = 3 * kNodes;
    const SwitchState s = make_switch(arena_, p, in, out);
    for (uint16_t node = 0; node < kNodes; ++node) {
      const uint16_t side = node < n ? left : right;
      const auto reply = static_cast<uint16_t>(side + 1);
      set_route(p, s, arena_.base(), static_cast<uint16_t>(kVault + node),
                node == n ? uint16_t{1} : side, kNoRoute);
      set_route(p, s, arena_.base(), static_cast<uint16_t>(kSource + node), kNoRoute,
                node == n ? uint16_t{0} : reply);
    }
    switches_.push_back(place(s));
    std::vector<Ref<Channel>> inputs;
    for (const SwitchLink& l : in) inputs.push_back(l.channel);
    add(kSwitch + n, kernels::ComponentKind::kSwitch, place(p).offset, switches_.back().offset,
        inputs);
  }

  ChainOptions options_;
  config::DramConfig::Organisation organisation_;
  VaultParams vault_;
  ArenaBuilder arena_;
  Ref<kernels::Component> table_;
  Ref<frontend::FrontEndState> front_end_;
  std::vector<Ref<Channel>> channels_;
  std::vector<Wires> wires_;
  std::vector<Ref<TrafficState>> sources_;
  std::vector<Ref<TrafficStream>> streams_;
  std::vector<Ref<SwitchState>> switches_;
  std::vector<Ref<VaultState>> vaults_;
  Tick window_ = 1;
};

}  // namespace nearwarp::testing
