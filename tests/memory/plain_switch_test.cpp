// Do switches do the same as one that looks at everything in every cycle? Traffic, ports, channels
// and queues are random.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <span>

#include "device/noc/switch.h"
#include "tests/support/rig.h"

namespace nearwarp::testing::plain_switch_test {
namespace {

/// A random switch and what is sent over it.
struct Plan {
  SwitchParams params;
  std::vector<uint16_t> in_ports, out_ports;  // [channel]
  std::vector<ChannelSpec> in_specs, out_specs;
  struct Send {
    size_t input;
    Tick at;
    Packet packet;
  };
  std::vector<Send> sends;
  std::vector<Tick> consumers_from;

  /// Replies for a destination leave by another channel than requests.
  size_t output_of(const Packet& packet) const {
    return (node_of(packet.dst) + (is_reply(packet.kind) ? 1u : 0u)) % out_ports.size();
  }
};

class Numbers {
 public:
  explicit Numbers(uint32_t seed) : random_(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  uint32_t between(uint32_t low, uint32_t high) { return low + below(high - low + 1); }

 private:
  std::mt19937 random_;
};

std::vector<uint16_t> random_ports(Numbers& some, uint32_t ports, uint32_t most_channels) {
  std::vector<uint16_t> of_channel;
  for (uint32_t port = 0; port < ports; ++port)
    of_channel.insert(of_channel.end(), some.between(1, most_channels),
                      static_cast<uint16_t>(port));
  return of_channel;
}

Plan random_plan(uint32_t seed) {
  Numbers some(seed);
  Plan plan;
  plan.params.period = some.between(1, 12);
  plan.params.flit_bytes = some.between(8, 64);
  const bool wide = some.below(8) == 0;  // more than a word of inputs
  plan.in_ports = random_ports(some, wide ? some.between(30, 40) : some.between(1, 9),
                               wide ? 3 : some.between(1, 3));
  plan.out_ports = random_ports(some, some.between(1, 7), some.between(1, 3));
  plan.params.endpoints = static_cast<uint16_t>(plan.out_ports.size());
  const uint32_t latency = plan.params.period * 80;
  const auto spec = [&]() -> ChannelSpec {
    const uint32_t slots = some.below(3) == 0 ? some.between(1, 4) : some.between(30, 200);
    const bool slow = some.below(3) == 0;
    return {slots, latency + some.below(30), latency + some.below(30),
            slow ? some.between(1, 9) : 0, some.between(1, 20)};
  };
  for (size_t i = 0; i < plan.in_ports.size(); ++i) plan.in_specs.push_back(spec());
  for (size_t o = 0; o < plan.out_ports.size(); ++o) {
    plan.out_specs.push_back(spec());
    plan.consumers_from.push_back(some.below(6) == 0 ? some.below(20000) : 0);
  }
  const uint32_t gap = 1 + some.below(40) * plan.params.period;
  for (size_t i = 0; i < plan.in_ports.size(); ++i) {
    Tick at = 0;
    for (uint32_t n = some.below(wide ? 20 : 60); n != 0; --n) {
      at += some.below(gap);
      const auto kind = some.below(2) == 0 ? PacketKind::kRead : PacketKind::kReadReply;
      const auto to = static_cast<uint16_t>(some.below(plan.params.endpoints));
      const auto bytes = static_cast<uint16_t>(some.below(160));
      plan.sends.push_back({i, at, make_packet(kind, 0, to, bytes, n)});
    }
  }
  return plan;
}

/// The rules of device/noc/switch.h, cycle by cycle.
class PlainSwitch {
 public:
  PlainSwitch(const Plan& plan, std::vector<Ref<Channel>> in, std::vector<Ref<Channel>> out)
      : plan_(plan),
        in_(std::move(in)),
        out_(std::move(out)),
        in_ports_(plan.in_ports.back() + 1u),
        out_ports_(plan.out_ports.back() + 1u) {}

  StepResult step(std::byte* base, Window window, Horizon& horizon) {
    const uint32_t period = plan_.params.period;
    Tick t = cycle_at_or_after(window.begin, period) * period;
    for (; t < window.end; t += period) cycle(base, t, horizon);
    for (const Ref<Channel> channel : in_)
      if (head_arrival(*channel.in(base), base) < window.end) return {t, true};
    return {};
  }

 private:
  struct Port {
    Tick free_at = 0, wire_free_at = 0;
    size_t next = 0, next_channel = 0;
  };

  /// Has a packet come for output channel `o` over input channel `i`?
  bool asks(std::byte* base, size_t i, size_t o, Tick t) const {
    const Channel& from = *in_[i].in(base);
    return has_packet(from, base, t) && plan_.output_of(front(from, base)) == o;
  }
  bool has_credit(std::byte* base, size_t o, Tick t) const {
    return credit_tick(*out_[o].in(base), base) <= t;
  }
  /// The input channel of port `p` that goes to output port `q`, if there is one that can.
  std::optional<std::pair<size_t, size_t>> find(std::byte* base, size_t p, size_t q, Tick t) const {
    std::vector<size_t> channels;
    for (size_t i = 0; i < in_.size(); ++i)
      if (plan_.in_ports[i] == p) channels.push_back(i);
    const size_t first =
        in_ports_[p].next_channel < channels.size() ? in_ports_[p].next_channel : 0;
    for (size_t n = 0; n < channels.size(); ++n) {
      const size_t i = channels[(first + n) % channels.size()];
      for (size_t o = 0; o < out_.size(); ++o)
        if (plan_.out_ports[o] == q && asks(base, i, o, t) && has_credit(base, o, t))
          return std::pair{i, o};
    }
    return std::nullopt;
  }
  void cycle(std::byte* base, Tick t, Horizon& horizon) {
    const size_t n_in = in_ports_.size(), n_out = out_ports_.size();
    std::vector<std::vector<bool>> grants(n_in, std::vector<bool>(n_out));
    for (size_t q = 0; q < n_out; ++q) {
      if (out_ports_[q].free_at > t) continue;
      for (size_t n = 0; n < n_in; ++n) {
        const size_t p = (out_ports_[q].next + n) % n_in;
        if (in_ports_[p].free_at > t || !find(base, p, q, t)) continue;
        grants[p][q] = true;
        break;
      }
    }
    for (size_t p = 0; p < n_in; ++p) {
      for (size_t n = 0; n < n_out; ++n) {
        const size_t q = (in_ports_[p].next + n) % n_out;
        if (!grants[p][q]) continue;
        const auto [i, o] = *find(base, p, q, t);
        move(base, t, i, o, horizon);
        break;
      }
    }
  }
  void move(std::byte* base, Tick t, size_t i, size_t o, Horizon& horizon) {
    const uint32_t period = plan_.params.period;
    Port& in = in_ports_[plan_.in_ports[i]];
    Port& out = out_ports_[plan_.out_ports[o]];
    const Packet packet = front(*in_[i].in(base), base);
    const uint32_t flits =
        std::max(1u, (packet.bytes + plan_.params.flit_bytes - 1) / plan_.params.flit_bytes);
    Channel& to = *out_[o].in(base);
    send(to, base, std::max(t, out.wire_free_at), packet, horizon, (flits - 1) * period);
    pop(*in_[i].in(base), base, t, horizon);
    in.free_at = t + flits * period;
    in.next = plan_.out_ports[o] + 1u;
    const auto first = std::find(plan_.in_ports.begin(), plan_.in_ports.end(), plan_.in_ports[i]);
    in.next_channel = i - static_cast<size_t>(first - plan_.in_ports.begin()) + 1;
    out.wire_free_at = to.producer_side.free_at;
    out.free_at =
        std::max(in.free_at, out.wire_free_at + 1 - std::min<Tick>(out.wire_free_at, period));
    out.next = plan_.in_ports[i] + 1u;
  }

  const Plan& plan_;
  std::vector<Ref<Channel>> in_, out_;
  std::vector<Port> in_ports_, out_ports_;
};

/// Packets that have come out: times and tags by output channel.
using Seen = std::vector<std::vector<std::pair<Tick, uint32_t>>>;

/// Conditions that hold between steps.
void expect_tidy(const Plan& plan, const SwitchState& s, std::byte* base) {
  for (const SwitchCycle& cycle : std::span(s.cycles.in(base), s.cycles.count))
    ASSERT_EQ(cycle.heads[0] | cycle.heads[1], 0u);
  std::vector<uint32_t> heads(s.in_ports.count);
  std::vector<uint64_t> requests(s.outputs.count);
  for (uint32_t i = 0; i < s.inputs.count; ++i) {
    const bool registered = (s.registered[i / 64] >> (i % 64) & 1) != 0;
    const uint16_t output = s.inputs.in(base)[i].output;
    ASSERT_EQ(registered, output != kNoRoute);
    if (!registered) continue;
    heads[plan.in_ports[i]] += 1;
    requests[output] |= uint64_t{1} << plan.in_ports[i];
  }
  for (uint32_t p = 0; p < s.in_ports.count; ++p) {
    ASSERT_EQ(s.in_ports.in(base)[p].heads, heads[p]);
    ASSERT_EQ(s.in_ports.in(base)[p].grants, 0u);
  }
  for (uint32_t o = 0; o < s.outputs.count; ++o)
    ASSERT_EQ(s.outputs.in(base)[o].requests, requests[o]);
}

Seen run(const Plan& plan, bool plain, const RunOptions& options) {
  Rig rig;
  StepResult last{0, false};
  Tick stepped_until = 0;
  std::vector<Ref<Channel>> in, out;
  std::vector<SwitchLink> inputs, outputs;
  for (size_t i = 0; i < plan.in_ports.size(); ++i) {
    in.push_back(rig.channel(plan.in_specs[i]));
    inputs.push_back({in.back(), plan.in_ports[i]});
  }
  for (size_t o = 0; o < plan.out_ports.size(); ++o) {
    out.push_back(rig.channel(plan.out_specs[o]));
    outputs.push_back({out.back(), plan.out_ports[o]});
  }
  PlainSwitch reference(plan, in, out);
  SwitchState state = make_switch(rig.arena, plan.params, inputs, outputs);
  for (uint16_t o = 0; o < out.size(); ++o)
    set_route(plan.params, state, rig.arena.base(), o, o,
              static_cast<uint16_t>((o + 1u) % out.size()));
  rig.add(
      [&](std::byte* base, Window window, Horizon& horizon) {
        if (plain) return reference.step(base, window, horizon);
        // It is stepped only when it wants to be, or something has come since.
        const bool arrivals = std::any_of(in.begin(), in.end(), [&](Ref<Channel> channel) {
          const Tick head = head_arrival(*channel.in(base), base);
          return head >= stepped_until && head < window.end;
        });
        if (!arrivals && !last.poll && last.wake >= window.end) return last;
        stepped_until = window.end;
        last = step_switch(plan.params, state, base, window, horizon);
        expect_tidy(plan, state, base);
        return last;
      },
      in);
  std::vector<std::shared_ptr<MockProducer>> producers;
  for (const Ref<Channel> channel : in) producers.push_back(rig.producer(channel));
  for (const Plan::Send& s : plan.sends) producers[s.input]->items.push_back({s.at, s.packet});
  std::vector<std::shared_ptr<MockConsumer>> consumers;
  for (size_t o = 0; o < out.size(); ++o) {
    consumers.push_back(rig.consumer(out[o]));
    consumers.back()->from = plan.consumers_from[o];
  }
  rig.run(options, 1'000'000);
  EXPECT_TRUE(rig.drained());
  Seen seen;
  for (const auto& consumer : consumers) {
    seen.emplace_back();
    for (const auto& item : consumer->items) seen.back().emplace_back(item.at, item.packet.tag);
  }
  return seen;
}

void expect_same(uint32_t seed) {
  SCOPED_TRACE(seed);
  const Plan plan = random_plan(seed);
  const Tick whole = plan.params.period * 80;
  const Seen expected = run(plan, true, {.window = whole});
  for (const Tick window : {Tick{1 + seed % 7}, Tick{plan.params.period}, whole / 3, whole}) {
    SCOPED_TRACE(window);
    ASSERT_EQ(run(plan, false, {.window = window, .order_seed = seed}), expected);
  }
}

/// More than a word of inputs.
constexpr uint32_t kWideSeed = 11;

TEST(PlainSwitch, MovesTheSamePacketsInTheSameCycles) {
  ASSERT_GT(random_plan(kWideSeed).in_ports.size(), 64u);
  for (const uint32_t seed : {1u, 2u, kWideSeed}) expect_same(seed);
}

TEST(PlainSwitch, MovesTheSamePacketsOfMorePlans) {
  for (uint32_t seed = 3; seed <= 30; ++seed)
    if (seed != kWideSeed) expect_same(seed);
}

}  // namespace
}  // namespace nearwarp::testing::plain_switch_test
