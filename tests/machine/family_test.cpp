// Can a test have a family of components of its own, and does the product's hold together?
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "device/core/bits.h"
#include "device/core/make_channel.h"
#include "kernels/due_ticks.h"
#include "kernels/make_component.h"

namespace nearwarp::kernels {
namespace {

struct CounterParams {
  uint32_t period = 1;
};
/// Sends a packet per period until `left` have gone.
struct SourceState {
  Ref<Channel> out;
  uint32_t left = 0;
};
/// Counts what comes.
struct SinkState {
  Ref<Channel> in;
  uint64_t packets = 0;
  Fault fault;
};

struct SourceKind : KindOf<CounterParams, SourceState> {
  static constexpr const char* kName = "source";
  static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                         const Window& window, Horizon& horizon) {
    Channel& out = *s.out.in(system.arena);
    StepResult result;
    for (Tick t = cycle_at_or_after(window.begin, p.period) * p.period; t < window.end;
         t += p.period) {
      if (s.left == 0 || !can_send(out, system.arena, t)) continue;
      send(out, system.arena, t, Packet{}, horizon);
      s.left -= 1;
    }
    if (s.left != 0) result.wake = window.end;
    return result;
  }
};

struct SinkKind : FallibleKindOf<CounterParams, SinkState> {
  static constexpr const char* kName = "sink";
  static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                         const Window& window, Horizon& horizon) {
    Channel& in = *s.in.in(system.arena);
    for (Tick t = window.begin; t < window.end; t += p.period) {
      if (!has_packet(in, system.arena, t)) continue;
      pop(in, system.arena, t, horizon);
      s.packets += 1;
    }
    return {};
  }
  static uint64_t committed(const State& s) { return s.packets; }
};

using Toys = Family<SourceKind, SinkKind>;

TEST(Family, OfATestIsSteppedByTheSameLoop) {
  ArenaBuilder arena;
  const Ref<Channel> channel =
      make_channel(arena, {.slots = 2, .latency = 10, .credit_latency = 10});
  const Ref<Ref<Channel>> inputs = place(arena, channel);
  const Ref<CounterParams> params = place(arena, CounterParams{});
  const Ref<SourceState> source = place(arena, SourceState{channel, 25});
  const Ref<SinkState> sink = place(arena, SinkState{channel, 0, {}});
  std::vector<Component> components{make_component<Toys>(params, source, {}),
                                    make_component<Toys>(params, sink, inputs)};
  std::vector<uint32_t> all(components.size());
  std::iota(all.begin(), all.end(), 0u);
  sm::SystemView view;
  view.arena = arena.base();
  DueTicks due;
  const std::vector<uint32_t> places = due.add(all);
  due.tell_channels(components, arena.base());
  for (Tick next = 0; next < kNever;)
    next = step_due<Toys>(components, places, view, {next, next + 10}, due.begin_window(true));
  EXPECT_EQ(arena.get(sink)->packets, 25u);
  EXPECT_EQ(Toys::committed(components[0], arena.base()), 0u);
  EXPECT_EQ(Toys::committed(components[1], arena.base()), 25u);
  EXPECT_EQ(Toys::fault(components[0], arena.base()), nullptr);
  EXPECT_EQ(Toys::fault(components[1], arena.base()), &arena.get(sink)->fault);
  EXPECT_STREQ(Toys::name(components[1].kind), "sink");
  EXPECT_EQ(Toys::state_bytes(components[0].kind), sizeof(SourceState));
  EXPECT_EQ(Toys::state_bytes(components[1].kind), sizeof(SinkState));
}

TEST(Family, IsWokenByWhatIsSentToIt) {
  ArenaBuilder arena;
  const Ref<Channel> channel =
      make_channel(arena, {.slots = 2, .latency = 10, .credit_latency = 10, .consumer = 1});
  const Ref<Ref<Channel>> inputs = place(arena, channel);
  const Ref<CounterParams> params = place(arena, CounterParams{});
  const Ref<SourceState> source = place(arena, SourceState{channel, 25});
  const Ref<SinkState> sink = place(arena, SinkState{channel, 0, {}});
  std::vector<Component> components{make_component<Toys>(params, source, {}),
                                    make_component<Toys>(params, sink, inputs)};
  std::vector<uint32_t> all(components.size());
  std::iota(all.begin(), all.end(), 0u);
  sm::SystemView view;
  view.arena = arena.base();
  DueTicks due;
  const std::vector<uint32_t> places = due.add(all);
  due.tell_channels(components, arena.base());
  Tick next = 0;
  const auto step = [&] {
    next = step_due<Toys>(components, places, view, {next, next + 10}, due.begin_window(true));
  };
  while (next < kNever) step();
  EXPECT_EQ(arena.get(sink)->packets, 25u);
  // Another packet is sent by other means: the sink learns of it once all components are checked
  // anew.
  Horizon horizon;
  const Tick now = 1000;
  send(*arena.get(channel), arena.base(), now, Packet{}, horizon);
  next = horizon.next;
  step();
  EXPECT_EQ(arena.get(sink)->packets, 25u);
  due.forget();
  next = horizon.next;
  step();
  EXPECT_EQ(arena.get(sink)->packets, 26u);
}

TEST(Family, EveryKindOfTheProductHasATraitsOfItsOwn) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < ProductFamily::kCount; ++i) {
    const auto kind = static_cast<ComponentKind>(i);
    const std::string name = ProductFamily::name(kind);
    for (const std::string& other : names) EXPECT_NE(name, other);
    names.push_back(name);
    Component c;
    c.kind = kind;
    EXPECT_GT(ProductFamily::weight(c), 0u) << name;
  }
}

}  // namespace
}  // namespace nearwarp::kernels
