// The tick at which each component is due, which the CPU backend keeps from window to window.
//
// Most components sleep in most windows. A sleeping component's due tick changes only when
// something is sent to it or when it is stepped, so the heads of its channels are read only then.
// A sender sets the consumer's byte (CpuNotes::sent_to), which is read in the next window, after
// the threads' barrier; nothing sent in a window can have an effect within it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device/core/bits.h"
#include "kernels/family.h"

namespace nearwarp::kernels {

/// Every component has a place in these tables. Components that are stepped together are side by
/// side, in blocks of kDueBlock, since usually nothing in a block has anything to do.
inline constexpr uint32_t kDueBlockShift = 3;
inline constexpr uint32_t kDueBlock = 1u << kDueBlockShift;

/// A byte of DueView::was_sent_to or DueView::sent_to is 0, or this where something was sent to the
/// component (Horizon::note_sent_to() writes it).
inline constexpr uint8_t kSentTo = 1;

/// The tables that a thread works with in a window, indexed by place.
struct DueView {
  const uint32_t* component = nullptr;  ///< number of the component
  Tick* due = nullptr;                  ///< out of date where `was_sent_to` is set
  /// Indexed by block: the earliest `due` in it, valid if was_sent_to is 0 in all of its places.
  /// Null if the lists of places are in no order.
  Tick* block_due = nullptr;
  /// kSentTo: sent to before this window; the component's owner clears it.
  uint8_t* was_sent_to = nullptr;
  uint8_t* sent_to = nullptr;  ///< kSentTo: sent to in this window
  // Members of clusters also have what CpuNotes has under these names.
  uint8_t* waiting = nullptr;
  InputBits* unseen = nullptr;
  uint32_t* found = nullptr;  ///< find_due()'s result, stored from its first place on
};

class DueTicks {
 public:
  /// Give places to components that are stepped together; returns the places.
  std::vector<uint32_t> add(std::span<const uint32_t> components) {
    std::vector<uint32_t> places;
    for (const uint32_t c : components) {
      places.push_back(static_cast<uint32_t>(component_.size()));
      component_.push_back(c);
    }
    while (component_.size() % kDueBlock != 0) component_.push_back(kNothing);
    due_.resize(component_.size(), kNever);
    block_due_.resize(component_.size() / kDueBlock);
    found_.resize(component_.size());
    waiting_.resize(component_.size());
    unseen_.resize(component_.size());
    forget();
    return places;
  }

  /// Call f(place, component's number) for every component.
  template <class F>
  void each(F&& f) const {
    for (uint32_t at = 0; at < component_.size(); ++at)
      if (component_[at] != kNothing) f(at, component_[at]);
  }

  /// Write into every channel the places of its consumer and producer, which its ends have to wake.
  void tell_channels(std::span<const Component> components, std::byte* base) const {
    std::vector<uint32_t> place_of(components.size());
    each([&](uint32_t place, uint32_t component) { place_of[component] = place; });
    each([&](uint32_t place, uint32_t component) {
      const Component& c = components[component];
      for (uint32_t k = 0; k < c.inputs.count; ++k) {
        Channel& channel = *c.inputs.in(base)[k].in(base);
        channel.producer_side.waking = CpuNotes::consumer_at(place, k);
        channel.consumer_side.waking = place_of[channel.producer];
      }
    });
  }

  /// Recompute every due tick in the next window, because components may have been changed from
  /// outside.
  void forget() {
    for (std::vector<uint8_t>& bytes : sent_to_) bytes.assign(component_.size(), 0);
    each([&](uint32_t at, uint32_t) { sent_to_[window_ % 2][at] = 1; });
  }

  /// `in_order`: places are visited in the order in which add() returned them.
  DueView begin_window(bool in_order) {
    window_ += 1;
    return {component_.data(),
            due_.data(),
            in_order ? block_due_.data() : nullptr,
            sent_to_[(window_ + 1) % 2].data(),
            sent_to_[window_ % 2].data(),
            waiting_.data(),
            unseen_.data(),
            found_.data()};
  }

 private:
  static constexpr uint32_t kNothing = ~uint32_t{0};  ///< fills up a block
  std::vector<uint32_t> component_, found_;
  std::vector<Tick> due_, block_due_;
  std::vector<uint8_t> sent_to_[2], waiting_;
  std::vector<InputBits> unseen_;
  uint32_t window_ = 0;
};

/// All inputs may have packets that the component does not know of.
inline constexpr InputBits kAllUnseen{{~uint64_t{0}, ~uint64_t{0}}};

/// The tick at which a component that something was sent to is due; 0 if it waits for a credit.
inline Tick due_now(const Component& c, std::byte* base) { return c.poll ? 0 : due_tick(c, base); }
/// due_now()'s tick if it is at or after `end`; otherwise any tick before `end`, which is cheaper.
inline Tick due_beyond(const Component& c, std::byte* base, Tick end) {
  return c.poll || c.wake < end ? 0 : due_tick(c, base);
}
template <bool kExact>
Tick look_at_due(const Component& c, std::byte* base, Tick end) {
  return kExact ? due_now(c, base) : due_beyond(c, base, end);
}

/// Set bit i of `bits` for every tick `due[i]` of a block that is before `end`. Returns the
/// earliest of the others.
NW_INLINE Tick split_block(const Tick* due, Tick end, uint32_t& bits) {
  using Four [[gnu::vector_size(32)]] = int64_t;  // signed, since vector compares are
  static_assert(kDueBlock == 8);
  const auto before = static_cast<int64_t>(end), never = static_cast<int64_t>(kNever);
  Four low, high;
  std::memcpy(&low, due, sizeof low);
  std::memcpy(&high, due + 4, sizeof high);
  const Four low_due = low < before, high_due = high < before;
  const Four found = (low_due & Four{1, 2, 4, 8}) | (high_due & Four{16, 32, 64, 128});
  // Setting kNever's only bit takes due ticks out of the minimum: no tick beyond kNever matters.
  low |= low_due & never;
  high |= high_due & never;
  const Four others = low < high ? low : high;
  bits = static_cast<uint32_t>(found[0] | found[1] | found[2] | found[3]);
  const Tick first = min_tick(static_cast<Tick>(others[0]), static_cast<Tick>(others[1]));
  return min_tick(first, min_tick(static_cast<Tick>(others[2]), static_cast<Tick>(others[3])));
}

/// The earliest of a block's ticks.
NW_INLINE Tick earliest_of_block(const Tick* due) {
  Tick first = due[0];
  for (uint32_t i = 1; i < kDueBlock; ++i) first = min_tick(first, due[i]);
  return first;
}

// The find_due() functions list the places, all from one add(), whose component is due before
// `end`, in the order of `places`. They bring DueView::due up to date, with due_now() if `kExact`,
// else with due_beyond(), and lower `next` to the earliest tick of the others. They are not
// inlined, so that their loops do not compete with the models for registers.

/// find_due() for places in any order.
template <bool kExact>
[[gnu::noinline]] std::span<const uint32_t> find_due_shuffled(const Component* components,
                                                              const DueView& view,
                                                              std::span<const uint32_t> places,
                                                              std::byte* base, Tick end,
                                                              Tick& next) {
  uint32_t* const list = view.found + *std::ranges::min_element(places);
  uint32_t n = 0;
  for (const uint32_t at : places) {
    if (view.was_sent_to[at] != 0) {
      view.due[at] = look_at_due<kExact>(components[view.component[at]], base, end);
      if (kExact) view.unseen[at] = kAllUnseen;
    }
    view.was_sent_to[at] = 0;
    if (view.due[at] < end) {
      list[n++] = at;
    } else {
      next = min_tick(next, view.due[at]);
    }
  }
  return {list, n};
}

/// find_due() for places in the order in which add() returned them, block by block. (The places
/// that pad the last block are never sent to, and are due at kNever.)
template <bool kExact>
[[gnu::noinline]] std::span<const uint32_t> find_due_in_order(const Component* components,
                                                              const DueView& view,
                                                              std::span<const uint32_t> places,
                                                              std::byte* base, Tick end,
                                                              Tick& next) {
  uint32_t first = places.front();
  const uint32_t last = places.back();
  uint32_t* const list = view.found + first;
  uint32_t n = 0;
  Tick earliest = next;
  for (; first <= last; first += kDueBlock) {
    Tick* const due = view.due + first;
    Tick& block_due = view.block_due[first / kDueBlock];
    uint64_t sent;  // one bit at most in each byte
    std::memcpy(&sent, view.was_sent_to + first, kDueBlock);
    if (sent == 0 && block_due >= end) {
      earliest = min_tick(earliest, block_due);
      continue;
    }
    for (uint64_t bits = sent; bits != 0; bits &= bits - 1) {
      const uint32_t i = count_trailing_zeros(bits) / 8;
      due[i] = look_at_due<kExact>(components[view.component[first + i]], base, end);
      if (kExact) view.unseen[first + i] = kAllUnseen;
    }
    std::memset(view.was_sent_to + first, 0, kDueBlock);
    uint32_t found;
    const Tick others = split_block(due, end, found);
    block_due = found != 0 ? 0 : others;  // 0: all are looked at again
    earliest = min_tick(earliest, others);
    for (; found != 0; found &= found - 1) list[n++] = first + count_trailing_zeros(found);
  }
  next = earliest;
  return {list, n};
}

template <bool kExact>
std::span<const uint32_t> find_due(const Component* components, const DueView& view,
                                   std::span<const uint32_t> places, std::byte* base, Tick end,
                                   Tick& next) {
  if (places.empty()) return {};
  return view.block_due != nullptr
             ? find_due_in_order<kExact>(components, view, places, base, end, next)
             : find_due_shuffled<kExact>(components, view, places, base, end, next);
}

/// Step through a window those components of `places` that are due, in this order. Returns the
/// earliest tick at which any component of `places` has something to do, or at which anything sent
/// or released in the window takes effect.
template <class Family>
Tick step_due(std::span<Component> components, std::span<const uint32_t> places,
              const sm::SystemView& system, const Window& window, const DueView& view) {
  CpuNotes notes{view.sent_to};
  Horizon horizon;
  horizon.cpu = &notes;
  Tick next = kNever;
  for (const uint32_t at :
       find_due<false>(components.data(), view, places, system.arena, window.end, next)) {
    next = min_tick(
        next, step_component<Family>(components[view.component[at]], system, window, horizon));
    horizon.note_sent_to(at, 0);
  }
  return min_tick(next, horizon.next);
}

/// Step the members of a cluster that are due in one of the cluster's own windows. Returns the
/// earliest tick at which the others are due, or those that were stepped wake.
template <class Family>
Tick step_members(std::span<Component> components, std::span<const uint32_t> members,
                  const sm::SystemView& system, const Window& own, const DueView& view,
                  Horizon& horizon) {
  Tick next = kNever;
  const auto step = [&](uint32_t at) {
    Component& c = components[view.component[at]];
    horizon.cpu->unseen_now = view.unseen + at;
    next = min_tick(next, step_component<Family>(c, system, own, horizon));
    // A switch's own wake-up tick includes the arrivals at its inputs.
    view.due[at] = c.kind == ComponentKind::kSwitch ? c.wake : due_tick(c, system.arena);
    view.waiting[at] = c.poll ? 1 : 0;
    // A credit from outside the cluster takes effect in the machine's next window at the earliest,
    // so the component is looked at then.
    if (c.poll) __atomic_store_n(view.sent_to + at, kSentTo, __ATOMIC_RELAXED);
  };
  if (view.block_due == nullptr) {
    for (const uint32_t at : members) {
      if (view.due[at] < own.end) {
        step(at);
      } else {
        next = min_tick(next, view.due[at]);
      }
    }
    return next;
  }
  for (uint32_t first = members.front(); first <= members.back(); first += kDueBlock) {
    Tick& block_due = view.block_due[first / kDueBlock];
    if (block_due >= own.end) {
      next = min_tick(next, block_due);
      continue;
    }
    uint32_t found;
    next = min_tick(next, split_block(view.due + first, own.end, found));
    for (; found != 0; found &= found - 1) step(first + count_trailing_zeros(found));
    block_due = earliest_of_block(view.due + first);
  }
  return next;
}

/// Step a cluster through the machine's window, in shorter windows of its own.
///
/// A packet from one member to another, or a credit for a member that waits for it, lowers the
/// receiver's `due` at once (CpuNotes), so a window of the cluster costs only the members that have
/// something to do in it. Packets and credits from outside take effect after the machine's window.
template <class Family>
Tick step_cluster(std::span<Component> components, std::span<const uint32_t> members,
                  const sm::SystemView& system, const Window& window, const DueView& view) {
  Tick next = kNever;
  const auto awake =
      find_due<true>(components.data(), view, members, system.arena, window.end, next);
  if (awake.empty()) return next;
  for (const uint32_t at : awake) next = min_tick(next, view.due[at]);
  next = max_tick(next, window.begin);
  const Tick length = components[view.component[members.front()]].cluster_window;
  CpuNotes notes{view.sent_to};
  notes.first = *std::ranges::min_element(members);
  notes.count = static_cast<uint32_t>(members.size());
  notes.due = view.due;
  notes.block_due = view.block_due;
  notes.block_shift = kDueBlockShift;
  notes.waiting = view.waiting;
  notes.unseen = view.unseen;
  Horizon horizon;
  horizon.cpu = horizon.cluster = &notes;
  horizon.window_end = window.end;
  while (next < window.end) {
    const Window own{next, min_tick(next + length, window.end)};
    horizon.next = kNever;
    next = step_members<Family>(components, members, system, own, view, horizon);
    next = min_tick(next, horizon.next);
  }
  return min_tick(next, horizon.beyond);
}

}  // namespace nearwarp::kernels
