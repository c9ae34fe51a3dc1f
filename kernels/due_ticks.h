// When each component is due, as the CPU's backend knows it from window to window.
//
// Most components sleep in most windows. When such a one is due changes only when something is sent
// to it, or when it is stepped: only then are the heads of its channels looked at. Who sends says
// so (CpuNotes::sent_to), in bytes that are looked at in the next window, behind the threads'
// barrier; in the window itself nobody can feel it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/family.h"

namespace nearwarp::kernels {

/// Components have places here: those that are stepped together, one after the other, stand side by
/// side, in blocks of so many, and mostly none of a block has anything to do.
inline constexpr uint32_t kDueBlock = 8;

/// By place: what a thread works with in a window.
struct DueView {
  const uint32_t* component = nullptr;  ///< number of the component
  Tick* due = nullptr;                  ///< not looked at where there is news
  /// By block: the first of its `due`, if there is no news of any. Null: lists of places are in no
  /// order.
  Tick* of_block = nullptr;
  uint8_t* news = nullptr;     ///< of the windows before; a component's owner clears it
  uint8_t* sent_to = nullptr;  ///< of this window
};

class DueTicks {
 public:
  /// Give places to components that are stepped together; returns these.
  std::vector<uint32_t> add(std::span<const uint32_t> components) {
    std::vector<uint32_t> places;
    for (const uint32_t c : components) {
      places.push_back(static_cast<uint32_t>(component_.size()));
      component_.push_back(c);
    }
    while (component_.size() % kDueBlock != 0) component_.push_back(kNothing);
    due_.resize(component_.size(), kNever);
    of_block_.resize(component_.size() / kDueBlock);
    forget();
    return places;
  }

  /// f(place, component's number) for all.
  template <class F>
  void each(F&& f) const {
    for (uint32_t at = 0; at < component_.size(); ++at)
      if (component_[at] != kNothing) f(at, component_[at]);
  }

  /// Whoever sends over a channel finds there whom to wake.
  void tell_channels(std::span<const Component> components, std::byte* base) const {
    each([&](uint32_t place, uint32_t component) {
      const Component& c = components[component];
      for (uint32_t k = 0; k < c.inputs.count; ++k)
        c.inputs.in(base)[k].in(base)->producer_side.waking = place;
    });
  }

  /// Somebody else may have changed components: look at all of them anew.
  void forget() {
    for (std::vector<uint8_t>& news : news_) news.assign(component_.size(), 0);
    each([&](uint32_t at, uint32_t) { news_[window_ % 2][at] = 1; });
  }

  /// `in_order`: places are gone through as add() has returned them.
  DueView begin_window(bool in_order) {
    window_ += 1;
    return {component_.data(), due_.data(), in_order ? of_block_.data() : nullptr,
            news_[(window_ + 1) % 2].data(), news_[window_ % 2].data()};
  }

 private:
  static constexpr uint32_t kNothing = ~uint32_t{0};  ///< fills up a block
  std::vector<uint32_t> component_;
  std::vector<Tick> due_, of_block_;
  std::vector<uint8_t> news_[2];
  uint32_t window_ = 0;
};

/// Is the component at a place due before `end`? If not, DueView::due is right.
inline bool is_due(const Component* components, const DueView& view, uint32_t place,
                   std::byte* base, Tick end) {
  if (view.news[place] != 0) {
    view.news[place] = 0;
    const Component& c = components[view.component[place]];
    if (c.poll || c.wake < end) return true;
    view.due[place] = due_tick(c, base);
  }
  return view.due[place] < end;
}

/// Neighbours in a list of places: a block, if the list is in order.
struct DueRun {
  const uint32_t* first = nullptr;
  uint32_t count = 0;
  uint32_t due = 0;  ///< those whose component is due, as bits
};

/// The first run of the places [first, last), which begin with a block if they are in order, in
/// which a component is due before `end`; it begins at `last` if there is none. The earliest tick
/// of the components up to its end that are not due goes into `next`. A function of its own, so
/// that this loop's registers are not those of the models.
[[gnu::noinline]] inline DueRun find_due(const Component* components, const DueView& view,
                                         const uint32_t* first, const uint32_t* last,
                                         std::byte* base, Tick end, Tick& next) {
  Tick earliest = next;
  DueRun run{first};
  while (run.first != last) {
    run.count = kDueBlock;
    if (last - run.first < run.count) run.count = static_cast<uint32_t>(last - run.first);
    Tick* of_block = nullptr;
    if (view.of_block != nullptr) {
      of_block = view.of_block + *run.first / kDueBlock;
      uint64_t news;
      std::memcpy(&news, view.news + *run.first, kDueBlock);
      if (news == 0 && *of_block >= end) {
        earliest = min_tick(earliest, *of_block);
        run.first += run.count;
        continue;
      }
    }
    Tick here = kNever;
    for (uint32_t k = 0; k < run.count; ++k) {
      const uint32_t place = run.first[k];
      if (is_due(components, view, place, base, end)) {
        run.due |= 1u << k;
      } else {
        here = min_tick(here, view.due[place]);
      }
    }
    if (of_block != nullptr) *of_block = run.due != 0 ? 0 : here;  // 0: all are looked at again
    earliest = min_tick(earliest, here);
    if (run.due != 0) break;
    run.first += run.count;
  }
  next = earliest;
  return run;
}

/// Step the components at those of `places` that are due through a window, in this order. Returns
/// the earliest tick at which one of them has something to do, or can feel what has been sent and
/// released.
template <class Family, class G>
Tick step_due(const G& g, std::span<Component> components, std::span<const uint32_t> places,
              const sm::SystemView& system, const Window& window, const DueView& view) {
  CpuNotes notes{view.sent_to};
  Horizon horizon;
  horizon.cpu = &notes;
  Tick next = kNever;
  const uint32_t* const last = places.data() + places.size();
  for (DueRun run{places.data()};; run.first += run.count) {
    run = find_due(components.data(), view, run.first, last, system.arena, window.end, next);
    if (run.first == last) break;
    for (uint32_t due = run.due; due != 0; due &= due - 1) {
      const uint32_t at = run.first[count_trailing_zeros(due)];
      next = min_tick(
          next, step_component<Family>(g, components[view.component[at]], system, window, horizon));
      horizon.note_sent_to(at);
    }
  }
  return min_tick(next, horizon.next);
}

/// Step a cluster through the machine's window, in windows of its own.
template <class Family, class G>
Tick step_cluster(const G& g, std::span<Component> components, std::span<const uint32_t> members,
                  const sm::SystemView& system, const Window& window, const DueView& view) {
  Tick next = kNever;
  const uint32_t* const last = members.data() + members.size();
  const DueRun awake =
      find_due(components.data(), view, members.data(), last, system.arena, window.end, next);
  if (awake.first == last) return next;
  // Who waits for a credit looks for it in each window, since it may come within the machine's.
  const auto look_at = [&](uint32_t place) {
    const Component& c = components[view.component[place]];
    view.due[place] = c.poll ? 0 : due_tick(c, system.arena);
  };
  for (uint32_t due = awake.due; due != 0; due &= due - 1) {
    const uint32_t at = awake.first[count_trailing_zeros(due)];
    look_at(at);
    next = min_tick(next, view.due[at]);
  }
  for (const uint32_t* at = awake.first + awake.count; at != last; ++at) {
    if (view.news[*at] != 0) {
      look_at(*at);
      view.news[*at] = 0;
      if (view.of_block != nullptr) view.of_block[*at / kDueBlock] = 0;
    }
    next = min_tick(next, view.due[*at]);
  }
  next = max_tick(next, window.begin);
  const Tick length = components[view.component[*awake.first]].cluster_window;
  CpuNotes notes{view.sent_to};
  Horizon horizon;
  horizon.cpu = &notes;
  horizon.window_end = window.end;
  while (next < window.end) {
    const Window own{next, min_tick(next + length, window.end)};
    horizon.next = next = kNever;
    for (const uint32_t at : members) {
      // By other members, or it has been stepped itself, in the windows before.
      if (__atomic_load_n(view.sent_to + at, __ATOMIC_RELAXED) != 0) look_at(at);
      if (view.due[at] >= own.end) {
        next = min_tick(next, view.due[at]);
        continue;
      }
      next = min_tick(
          next, step_component<Family>(g, components[view.component[at]], system, own, horizon));
      horizon.note_sent_to(at);
    }
    next = min_tick(next, horizon.next);
  }
  return min_tick(next, horizon.beyond);
}

}  // namespace nearwarp::kernels
