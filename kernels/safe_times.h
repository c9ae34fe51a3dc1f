// Safe times of SMs: how the CPU's backend steps machines whose control channels, between the front
// end and its SMs, are shorter than all others.
//
// Windows as short as these would cost more than what is simulated, and hardly anything is ever
// sent there: that a thread block has ended, and the next one. So windows are as long as the other
// channels allow, and each SM is stepped up to its safe time (as in conservative parallel
// simulation of discrete events): before it, no message of the front end can come.
//   - The answer to a message of its own: it stops where that can come (CpuNotes::safe_until).
//   - What others cause: with blocks of the only launch in flight and no room for more, nothing;
//     else it goes no further than the front end and the slowest SM let it.
// Then the front end is stepped up to where the next message, or an answer, can come to it, those
// SMs that stopped go on, and so in turns until all are at the window's end. Nothing is ever
// stepped that has to be taken back, and results are those of short windows, bit for bit.
//
// Mechanisms send on these channels what they like, so machines with any are not stepped so.
#pragma once

#include <vector>

#include "device/frontend/lookahead.h"
#include "kernels/due_ticks.h"

namespace nearwarp::kernels {

/// The front end and its SMs, by its numbers, as positions in the table of components; and the
/// shortest latency of the channels between them, or credit, in ticks. `reach` 0: nobody has
/// a safe time.
struct SafeTimePlan {
  Tick reach = 0;
  uint32_t front_end = 0;
  std::span<const uint16_t> sms;
};

class SafeTimes {
 public:
  /// An SM that has been stepped up to `at`, and has something to do, as far as is known, at `due`.
  struct Late {
    uint32_t place;
    Tick at, due;
  };

  SafeTimes(const SafeTimePlan& plan, size_t components)
      : plan_(plan), number_(components, kNoNumber) {
    for (uint32_t i = 0; i < plan.sms.size(); ++i) number_[plan.sms[i]] = i;
    places_.resize(plan.sms.size());
  }

  bool used() const { return plan_.reach != 0; }
  /// Is it one of those that this is about?
  bool holds(uint32_t component) const { return number_[component] != kNoNumber; }
  bool is_front_end(uint32_t component) const { return used() && component == plan_.front_end; }
  /// Where it stands in DueTicks.
  void set_place(uint32_t component, uint32_t place) {
    if (holds(component)) places_[number_[component]] = place;
  }

  /// The window as long as is worth while: `window`, or as short as no SM needs a safe time in it.
  Window begin_window(std::span<const Component> components, std::byte* base, Window window) {
    const frontend::Lookahead ahead = look(components, base);
    if (!ahead.is_calm()) window.end = min_tick(window.end, window.begin + plan_.reach);
    window_ = window;
    front_end_at_ = slowest_ = window.begin;
    find_front_end_due(components, base);
    return window;
  }

  /// Step the SMs at those of `places` that are due up to their safe times, and note in `late` who
  /// is not at the window's end. Returns when the others, and who gets what they send, can do
  /// something next. Several threads may, with SMs of their own.
  template <class Family>
  Tick step_sms(std::span<Component> components, std::span<const uint32_t> places,
                const sm::SystemView& system, const DueView& view, std::vector<Late>& late) const {
    const frontend::Lookahead ahead = look(components, system.arena);
    CpuNotes notes{view.sent_to};
    Horizon horizon = make_horizon(notes);
    Tick next = kNever;
    for (const uint32_t at : places) {
      const Component& c = components[view.component[at]];
      if (view.was_sent_to[at] != 0) {
        view.was_sent_to[at] = 0;
        view.due[at] = due_now(c, system.arena);
      }
      if (view.due[at] >= window_.end) {
        next = min_tick(next, view.due[at]);
        continue;
      }
      Late one{at, window_.begin, max_tick(view.due[at], window_.begin)};
      step_sm<Family>(components, one, ahead, system, view, horizon);
      if (one.at < window_.end) {
        late.push_back(one);
      } else {
        next = min_tick(next, c.wake);
      }
    }
    return min_tick(next, horizon.beyond);
  }

  /// Bring the front end and the `late` ones to the window's end. One thread, after all others.
  template <class Family>
  Tick catch_up(std::span<Component> components, const sm::SystemView& system, const DueView& view,
                std::vector<Late>& late) {
    const frontend::Lookahead ahead = look(components, system.arena);
    CpuNotes notes{view.sent_to};
    Horizon horizon = make_horizon(notes);
    Component& front_end = components[plan_.front_end];
    Tick next = kNever;
    while (true) {
      find_front_end_due(components, system.arena);
      next = min_tick(next, find_slowest(components, system.arena, view, late));
      const Tick before = min_tick(window_.end, slowest_ + plan_.reach);
      if (front_end_due_ >= window_.end && slowest_ >= window_.end) break;
      if (front_end_due_ < before) {
        front_end_at_ =
            step_one<Family>(front_end, Window{front_end_due_, before}, system, horizon);
        add_called(ahead, late);
        continue;
      }
      front_end_at_ = max_tick(front_end_at_, before);
      for (Late& one : late) step_sm<Family>(components, one, ahead, system, view, horizon);
    }
    return min_tick(min_tick(next, front_end_due_), horizon.beyond);
  }

 private:
  static constexpr uint32_t kNoNumber = ~uint32_t{0};

  frontend::Lookahead look(std::span<const Component> components, std::byte* base) const {
    const Component& c = components[plan_.front_end];
    return {at_offset<const frontend::FrontEndParams>(base, c.params),
            at_offset<const frontend::FrontEndState>(base, c.state), base};
  }

  /// Arrivals and credits within the window are felt within it: only those beyond count.
  Horizon make_horizon(CpuNotes& notes) const {
    Horizon horizon;
    horizon.window_end = window_.end;
    horizon.cpu = &notes;
    return horizon;
  }

  /// Finds when the front end has to work next, by what is under way to it or what it knows itself.
  /// Who waits for a credit may get it at once.
  void find_front_end_due(std::span<const Component> components, std::byte* base) {
    const Component& c = components[plan_.front_end];
    front_end_due_ = max_tick(front_end_at_, due_now(c, base));
  }

  /// Where the late ones have something to do, and which is the slowest; those that have nothing to
  /// do in the window are late no more: when they have is returned.
  Tick find_slowest(std::span<const Component> components, std::byte* base, const DueView& view,
                    std::vector<Late>& late) {
    Tick next = kNever;
    slowest_ = window_.end;
    std::erase_if(late, [&](Late& one) {
      const Component& c = components[view.component[one.place]];
      const bool looks = c.poll && one.at < window_.end;  // for a credit
      one.due = looks ? one.at : max_tick(one.at, due_tick(c, base));
      slowest_ = min_tick(slowest_, one.due);
      if (one.due < window_.end) return false;
      next = min_tick(next, one.due);
      return true;
    });
    return next;
  }

  /// SMs that the front end has just sent something, and that are not late yet: they had nothing to
  /// do before. (Or a message waits at the window's end for the SM's next cycle: no cycle lies in
  /// between then.)
  void add_called(const frontend::Lookahead& ahead, std::vector<Late>& late) const {
    for (uint32_t k = 0; k < plan_.sms.size(); ++k) {
      const Tick arrives = ahead.message_to(k);
      if (arrives >= window_.end) continue;
      bool known = false;
      for (const Late& one : late) known |= one.place == places_[k];
      if (!known) late.push_back({places_[k], arrives, arrives});
    }
  }

  /// The SM's safe time, or the window's end.
  Tick safe_time(const frontend::Lookahead& ahead, uint32_t component) const {
    const uint32_t k = number_[component];
    // An answer to what is under way from it.
    Tick called = max_tick(front_end_at_, ahead.message_of(k));
    // A message that the front end sends by itself, or because of others.
    const Tick others = ahead.heeds_only_itself(k)
                            ? max_tick(front_end_at_, ahead.next_launch())
                            : min_tick(front_end_due_, slowest_ + plan_.reach);
    called = min_tick(called, others);
    return called >= window_.end ? window_.end : min_tick(window_.end, called + plan_.reach);
  }

  /// Step an SM from `one.due` up to its safe time; it is there then.
  template <class Family>
  void step_sm(std::span<Component> components, Late& one, const frontend::Lookahead& ahead,
               const sm::SystemView& system, const DueView& view, Horizon& horizon) const {
    const uint32_t component = view.component[one.place];
    const Tick end = safe_time(ahead, component);
    if (one.due >= end) return;
    one.at = step_one<Family>(components[component], Window{one.due, end}, system, horizon);
    horizon.note_sent_to(one.place, one.at);
  }

  /// Step a component until an answer to what it has sent can come, or to the window's end; up to
  /// where is returned.
  template <class Family>
  static Tick step_one(Component& c, const Window& window, const sm::SystemView& system,
                       Horizon& horizon) {
    horizon.cpu->safe_until = window.end;
    step_component<Family>(c, system, window, horizon);
    return horizon.cpu->safe_until;
  }

  SafeTimePlan plan_;
  std::vector<uint32_t> number_;  ///< at the front end, by component
  std::vector<uint32_t> places_;  ///< by that number
  // In the window under way:
  Window window_;
  Tick front_end_at_ = 0;   ///< up to where it has been stepped
  Tick front_end_due_ = 0;  ///< it can do nothing before, if no message is sent to it meanwhile
  Tick slowest_ = 0;        ///< no SM stands before
};

}  // namespace nearwarp::kernels
