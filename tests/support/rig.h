// A small executor with mock neighbours: components meet through channels and are stepped window by
// window, in any order and any window length, as the real executors do it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "device/core/arena.h"
#include "device/core/bits.h"
#include "device/core/channel.h"
#include "device/core/make_channel.h"
#include "device/core/step.h"
#include "tests/support/endpoints.h"

namespace nearwarp::testing {

/// How a rig is run; results must not depend on it.
struct RunOptions {
  Tick window = 1;
  uint32_t order_seed = 0;  ///< 0: components in order of creation, else shuffled per window
  bool skip = true;         ///< leave sleeping components alone, jump over dead time
  bool to_limit = false;    ///< step every window up to the limit, whether or not work is left
};

/// Sends packets in order, each at its time or as soon after as there is room.
struct MockProducer {
  struct Item {
    Tick at = 0;
    Packet packet;
    Tick sent = 0;
  };
  std::vector<Item> items;
  std::size_t next = 0;
  Ref<Channel> channel;
  Tick period = 1;
};

/// Takes every packet, at most one per period, not before `from`.
struct MockConsumer {
  struct Item {
    Tick at = 0;
    Packet packet;
  };
  std::vector<Item> items;
  Ref<Channel> channel;
  Tick period = 1;
  Tick from = 0;
};

class Rig {
 public:
  using Step = std::function<StepResult(std::byte*, Window, Horizon&)>;

  ArenaBuilder arena;

  Ref<Channel> channel(const ChannelSpec& spec) {
    const Ref<Channel> ref = make_channel(arena, spec);
    channels_.push_back(ref);
    return ref;
  }
  Channel& at(Ref<Channel> ref) { return *arena.get(ref); }

  /// Register a component; it is stepped while it is awake or one of `inputs` has an arrival.
  void add(Step step, std::vector<Ref<Channel>> inputs) {
    components_.push_back({std::move(step), std::move(inputs), 0, false});
  }
  std::shared_ptr<MockProducer> producer(Ref<Channel> channel, Tick period = 1) {
    auto p = std::make_shared<MockProducer>();
    p->channel = channel;
    p->period = period;
    add([p](std::byte* base, Window w, Horizon& h) { return step_producer(*p, base, w, h); }, {});
    return p;
  }
  std::shared_ptr<MockConsumer> consumer(Ref<Channel> channel, Tick period = 1) {
    auto c = std::make_shared<MockConsumer>();
    c->channel = channel;
    c->period = period;
    add([c](std::byte* base, Window w, Horizon& h) { return step_consumer(*c, base, w, h); },
        {channel});
    return c;
  }

  /// Run until nothing is left to do or `limit` is reached; returns the time.
  Tick run(const RunOptions& options, Tick limit) {
    std::byte* base = arena.base();
    std::mt19937 random(options.order_seed);
    std::vector<std::size_t> order(components_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    while (now_ < limit) {
      const Window window{now_, std::min(now_ + options.window, limit)};
      if (options.order_seed != 0) std::shuffle(order.begin(), order.end(), random);
      bool any_poll = false;
      Horizon horizon;
      for (const std::size_t i : order) {
        Component& c = components_[i];
        bool due = !options.skip || c.wake < window.end || c.poll;
        for (std::size_t k = 0; !due && k < c.inputs.size(); ++k) {
          due = head_arrival(*c.inputs[k].in(base), base) < window.end;
        }
        if (due) {
          const StepResult r = c.step(base, window, horizon);
          c.wake = r.wake;
          c.poll = r.poll;
          steps += 1;
        }
        any_poll |= c.poll;
      }
      if (options.to_limit) {
        now_ = window.end;
        continue;
      }
      Tick next = horizon.next;
      for (const Component& c : components_) next = std::min(next, c.wake);
      if (any_poll || next <= window.end) {  // a component may have to act in the next window
        now_ = window.end;
        continue;
      }
      for (const Ref<Channel> ref : channels_) {
        next = std::min(next, head_arrival(*ref.in(base), base));
      }
      if (next >= kNever) return now_ = window.end;
      now_ = options.skip ? std::max(window.end, next) : window.end;
    }
    return now_;
  }
  Tick now() const { return now_; }
  /// Goes back to tick 0 and wakes all components. The caller has to reset the arena's contents.
  void reset() {
    now_ = 0;
    for (Component& c : components_) {
      c.wake = 0;
      c.poll = false;
    }
  }
  /// Forget the `n` components added last.
  void pop_components(std::size_t n) { components_.resize(components_.size() - n); }

  /// A hash of the arena's contents (FNV-1a).
  uint64_t hash() const {
    uint64_t h = 1469598103934665603ull;
    const std::byte* p = arena.base();
    for (std::size_t i = 0; i < arena.size_bytes(); ++i) {
      h = (h ^ static_cast<uint64_t>(p[i])) * 1099511628211ull;
    }
    return h;
  }
  /// Whether every channel is empty and every credit returned.
  bool drained() {
    std::byte* base = arena.base();
    for (const Ref<Channel> ref : channels_) {
      const Channel& c = *ref.in(base);
      if (c.producer_side.packets != c.consumer_side.packets) return false;
      if (c.producer_side.bytes != c.consumer_side.bytes) return false;
      for (uint32_t i = 0; i < c.slots.count; ++i) {
        if (c.slots.in(base)[i].arrive != kNever || c.slots.in(base)[i].credit >= kNever) {
          return false;
        }
      }
    }
    return true;
  }

  uint64_t steps = 0;  ///< component steps so far

 private:
  struct Component {
    Step step;
    std::vector<Ref<Channel>> inputs;
    Tick wake;
    bool poll;
  };

  static StepResult step_producer(MockProducer& p, std::byte* base, Window w, Horizon& h) {
    Channel& c = *p.channel.in(base);
    StepResult r;
    Tick t = cycle_at_or_after(w.begin, static_cast<uint32_t>(p.period)) * p.period;
    while (p.next < p.items.size()) {
      MockProducer::Item& item = p.items[p.next];
      const Tick credit = send_tick(c, base);
      if (credit >= kNever) {
        r.poll = true;
        return r;
      }
      t = std::max(t, std::max(item.at, credit));
      t = cycle_at_or_after(t, static_cast<uint32_t>(p.period)) * p.period;
      if (t >= w.end) {
        r.wake = t;
        return r;
      }
      send(c, base, t, item.packet, h);
      item.sent = t;
      p.next += 1;
      t += p.period;
    }
    return r;
  }
  static StepResult step_consumer(MockConsumer& m, std::byte* base, Window w, Horizon& h) {
    Channel& c = *m.channel.in(base);
    StepResult r;
    Tick t = w.begin;
    while (true) {
      const Tick last = m.items.empty() ? 0 : m.items.back().at + m.period;
      t = std::max({t, head_arrival(c, base), m.from, last});
      if (t >= kNever) return r;
      t = cycle_at_or_after(t, static_cast<uint32_t>(m.period)) * m.period;
      if (t >= w.end) {
        r.wake = t;
        return r;
      }
      m.items.push_back({t, front(c, base)});
      pop(c, base, t, h);
    }
  }

  std::vector<Component> components_;
  std::vector<Ref<Channel>> channels_;
  Tick now_ = 0;
};

inline Packet make_packet(PacketKind kind, uint16_t src, uint16_t dst, uint16_t bytes,
                          uint32_t tag = 0, uint32_t line = 0, uint32_t sectors = 0) {
  Packet p;
  p.kind = kind;
  p.src = endpoint_of(src);
  p.dst = endpoint_of(dst);
  p.bytes = bytes;
  p.tag = tag;
  p.line = line;
  p.sectors = sectors;
  return p;
}

}  // namespace nearwarp::testing
