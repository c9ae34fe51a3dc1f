// When each component is due, as the CPU's backend knows it from window to window.
//
// Most components sleep in most windows. The tick in which a component is due changes only when it
// is stepped or something is sent to it, so the heads of its channels are looked at only then. A
// sender notes its consumer in a byte (CpuNotes::sent_to), which is read in the next window, after
// the barrier of the threads; within a window no component can feel what another sends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device/core/bits.h"
#include "kernels/family.h"

namespace nearwarp::kernels {

/// Every component has a place, its index in the arrays below. Components that are stepped together
/// have successive places, which are divided into blocks of this size: mostly no component of a
/// block has anything to do, and the block is skipped as a whole.
inline constexpr uint32_t kDueBlockShift = 3;
inline constexpr uint32_t kDueBlock = 1u << kDueBlockShift;

/// A byte of DueView::news or `sent_to` that is set, as Horizon::note_sent_to() sets it; else it is
/// 0.
inline constexpr uint8_t kNews = 1;

/// The arrays that a thread works with in a window, by place unless they say otherwise.
struct DueView {
  const uint32_t* component = nullptr;  ///< number of the component
  Tick* due = nullptr;                  ///< not valid where there is news
  /// By block: the earliest `due` of its places, valid if none of them has news. Null: the lists of
  /// places are not in the order of add().
  Tick* of_block = nullptr;
  uint8_t* news = nullptr;     ///< noted in earlier windows; the thread that steps it clears it
  uint8_t* sent_to = nullptr;  ///< noted in this window
  // For members of clusters, as in CpuNotes:
  uint8_t* waiting = nullptr;
  InputBits* unseen = nullptr;
  uint32_t* found = nullptr;  ///< find_due() lists places here, from its first place's index on
};

class DueTicks {
 public:
  /// Give components that are stepped together their places, and return these.
  std::vector<uint32_t> add(std::span<const uint32_t> components) {
    std::vector<uint32_t> places;
    for (const uint32_t c : components) {
      places.push_back(static_cast<uint32_t>(component_.size()));
      component_.push_back(c);
    }
    while (component_.size() % kDueBlock != 0) component_.push_back(kNothing);
    due_.resize(component_.size(), kNever);
    of_block_.resize(component_.size() / kDueBlock);
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

  /// Write into every channel whom to wake: its consumer by a packet, its producer by a credit.
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

  /// Have every component looked at anew, since something else may have changed them.
  void forget() {
    for (std::vector<uint8_t>& news : news_) news.assign(component_.size(), 0);
    each([&](uint32_t at, uint32_t) { news_[window_ % 2][at] = 1; });
  }

  /// `in_order`: the threads go through places in the order in which add() returned them.
  DueView begin_window(bool in_order) {
    window_ += 1;
    return {component_.data(),
            due_.data(),
            in_order ? of_block_.data() : nullptr,
            news_[(window_ + 1) % 2].data(),
            news_[window_ % 2].data(),
            waiting_.data(),
            unseen_.data(),
            found_.data()};
  }

 private:
  static constexpr uint32_t kNothing = ~uint32_t{0};  ///< fills up a block
  std::vector<uint32_t> component_, found_;
  std::vector<Tick> due_, of_block_;
  std::vector<uint8_t> news_[2], waiting_;
  std::vector<InputBits> unseen_;
  uint32_t window_ = 0;
};

/// The value of DueView::unseen when nothing is known of any input.
inline constexpr InputBits kAllUnseen{{~uint64_t{0}, ~uint64_t{0}}};

/// The tick in which a component is due, from the heads of its channels; 0 if it waits for a
/// credit.
inline Tick due_now(const Component& c, std::byte* base) { return c.poll ? 0 : due_tick(c, base); }
/// The tick of due_now(), unless that is before `end`: then any tick before `end`.
inline Tick due_beyond(const Component& c, std::byte* base, Tick end) {
  return c.poll || c.wake < end ? 0 : due_tick(c, base);
}
template <bool kExact>
Tick look_at_due(const Component& c, std::byte* base, Tick end) {
  return kExact ? due_now(c, base) : due_beyond(c, base, end);
}

/// Write those of a block's ticks `due` that are before `end`, as bits, into `bits`. Returns the
/// earliest of the others.
NW_INLINE Tick split_block(const Tick* due, Tick end, uint32_t& bits) {
  using Four [[gnu::vector_size(32)]] = int64_t;  // vector comparisons of processors are signed
  static_assert(kDueBlock == 8);
  const auto before = static_cast<int64_t>(end), never = static_cast<int64_t>(kNever);
  Four low, high;
  std::memcpy(&low, due, sizeof low);
  std::memcpy(&high, due + 4, sizeof high);
  const Four low_due = low < before, high_due = high < before;
  const Four found = (low_due & Four{1, 2, 4, 8}) | (high_due & Four{16, 32, 64, 128});
  // kNever is one bit, which makes a due tick later than all others; its low bits do not matter.
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

// The two functions below return those of `places`, all of one add(), whose component is due before
// `end`, in their order. They bring DueView::due up to date, by due_now() if `kExact` and by
// due_beyond() if not, and lower `next` to the earliest tick of the other components. They are not
// inlined, so that their loops do not compete with the models for registers.

/// Places in any order.
template <bool kExact>
[[gnu::noinline]] std::span<const uint32_t> find_due_shuffled(const Component* components,
                                                              const DueView& view,
                                                              std::span<const uint32_t> places,
                                                              std::byte* base, Tick end,
                                                              Tick& next) {
  uint32_t* const list = view.found + *std::ranges::min_element(places);
  uint32_t n = 0;
  for (const uint32_t at : places) {
    if (view.news[at] != 0) {
      view.due[at] = look_at_due<kExact>(components[view.component[at]], base, end);
      if (kExact) view.unseen[at] = kAllUnseen;
    }
    view.news[at] = 0;
    if (view.due[at] < end) {
      list[n++] = at;
    } else {
      next = min_tick(next, view.due[at]);
    }
  }
  return {list, n};
}

/// Places in the order of add(), block by block. (Places that fill up the last block never have
/// news, and are due at kNever.)
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
    Tick& of_block = view.of_block[first / kDueBlock];
    uint64_t news;  // one bit at most in each byte
    std::memcpy(&news, view.news + first, kDueBlock);
    if (news == 0 && of_block >= end) {
      earliest = min_tick(earliest, of_block);
      continue;
    }
    for (uint64_t bits = news; bits != 0; bits &= bits - 1) {
      const uint32_t i = count_trailing_zeros(bits) / 8;
      due[i] = look_at_due<kExact>(components[view.component[first + i]], base, end);
      if (kExact) view.unseen[first + i] = kAllUnseen;
    }
    std::memset(view.news + first, 0, kDueBlock);
    uint32_t found;
    const Tick others = split_block(due, end, found);
    of_block = found != 0 ? 0 : others;  // 0: the block is looked at again in the next window
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
  return view.of_block != nullptr
             ? find_due_in_order<kExact>(components, view, places, base, end, next)
             : find_due_shuffled<kExact>(components, view, places, base, end, next);
}

/// Step the components at those of `places` that are due through a window, in this order. Returns
/// the earliest tick at which one of them has something to do, or can feel what has been sent and
/// released.
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

/// Step the members of a cluster that are due in `own`, a window of the cluster. Returns the
/// earliest tick at which another member is due, or one that has been stepped wakes.
template <class Family>
Tick step_members(std::span<Component> components, std::span<const uint32_t> members,
                  const sm::SystemView& system, const Window& own, const DueView& view,
                  Horizon& horizon) {
  Tick next = kNever;
  const auto step = [&](uint32_t at) {
    Component& c = components[view.component[at]];
    horizon.cpu->unseen_now = view.unseen + at;
    next = min_tick(next, step_component<Family>(c, system, own, horizon));
    // A switch has the arrivals at its inputs in its own wake-up.
    view.due[at] = c.kind == ComponentKind::kSwitch ? c.wake : due_tick(c, system.arena);
    view.waiting[at] = c.poll ? 1 : 0;
    // A credit from outside the cluster can be used in the machine's next window at the earliest.
    if (c.poll) __atomic_store_n(view.sent_to + at, kNews, __ATOMIC_RELAXED);
  };
  if (view.of_block == nullptr) {
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
    Tick& of_block = view.of_block[first / kDueBlock];
    if (of_block >= own.end) {
      next = min_tick(next, of_block);
      continue;
    }
    uint32_t found;
    next = min_tick(next, split_block(view.due + first, own.end, found));
    for (; found != 0; found &= found - 1) step(first + count_trailing_zeros(found));
    of_block = earliest_of_block(view.due + first);
  }
  return next;
}

/// Step a cluster through the machine's window, in windows of its own.
///
/// A packet from one member to another, or a credit for a member that waits for it, is noted in the
/// receiver's `due` at once (CpuNotes), so a window of the cluster costs only as much as the
/// members that have something to do in it. Packets from outside arrive after the machine's window.
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
  notes.of_block = view.of_block;
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
