// When each component is due, as the CPU's backend knows it from window to window.
//
// Most components sleep in most windows. When such a one is due changes only when something is sent
// to it, or when it is stepped: only then are the heads of its channels looked at. Who sends says
// so (Horizon::sent_to), in bytes that are looked at in the next window, behind the threads'
// barrier; in the window itself nobody can feel it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/family.h"

namespace nearwarp::kernels {

/// The same as pointers, by component number: what a thread works with in a window.
struct DueView {
  Tick* due = nullptr;         ///< not looked at where there is news
  uint8_t* news = nullptr;     ///< of the windows before; a component's owner clears it
  uint8_t* sent_to = nullptr;  ///< of this window
};

class DueTicks {
 public:
  explicit DueTicks(size_t components) : due_(components) {
    for (std::vector<uint8_t>& n : news_) n.assign(components, 1);
  }

  /// Somebody else may have changed components: look at all of them anew.
  void forget() { news_[window_ % 2].assign(due_.size(), 1); }

  DueView begin_window() {
    window_ += 1;
    return {due_.data(), news_[(window_ + 1) % 2].data(), news_[window_ % 2].data()};
  }

 private:
  std::vector<Tick> due_;
  std::vector<uint8_t> news_[2];
  uint32_t window_ = 0;
};

/// The first of [first, last) that is due before `end`; of those in front of it the earliest tick
/// goes into `next`. A function of its own, so that this loop's registers are not those of the
/// models.
[[gnu::noinline]] inline const uint32_t* first_due(const Component* components, const DueView& view,
                                                   const uint32_t* first, const uint32_t* last,
                                                   std::byte* base, Tick end, Tick& next) {
  Tick* const due = view.due;
  uint8_t* const news = view.news;
  Tick earliest = next;
  for (; first != last; ++first) {
    const uint32_t i = *first;
    if (news[i] != 0) {
      news[i] = 0;
      const Component& c = components[i];
      if (c.poll || c.wake < end) break;
      due[i] = due_tick(c, base);
    }
    if (due[i] < end) break;
    earliest = min_tick(earliest, due[i]);
  }
  next = earliest;
  return first;
}

/// Step those of `which` that are due through a window, in this order; the same as step_all().
template <class Family, class G>
Tick step_due(const G& g, std::span<Component> components, std::span<const uint32_t> which,
              const sm::SystemView& system, const Window& window, const DueView& view) {
  Horizon horizon;
  horizon.sent_to = view.sent_to;
  Tick next = kNever;
  const uint32_t* const last = which.data() + which.size();
  const auto due_from = [&](const uint32_t* i) {
    return first_due(components.data(), view, i, last, system.arena, window.end, next);
  };
  for (const uint32_t* i = due_from(which.data()); i != last; i = due_from(i + 1)) {
    Component& c = components[*i];
    const StepResult r = Family::step(g, c, system.arena + c.state, system, window, horizon);
    c.wake = r.wake;
    c.poll = r.poll;
    horizon.note_sent_to(*i);
    next = min_tick(next, r.wake);
  }
  return min_tick(next, horizon.next);
}

}  // namespace nearwarp::kernels
