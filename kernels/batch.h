// A batch: many systems that are stepped together, kind by kind of components over all systems.
//
// Where a team (kernels/team.h) belongs to one system, a batch's warps belong to nobody: what is to
// be done lies in memory in pieces, and whoever has nothing to do takes one.
//
// The systems of a batch are dealt out to cohorts. A cohort goes by rounds, and in a round each of
// its systems is stepped through one window of its own:
//   look   who is due? Components over all systems of the cohort have seats, kind by kind; those
//          that are due are written into the list of their kind.
//   step   the lists, in pieces of one component for each lane of a warp. All kinds at the same
//          time: within a window no component can feel another.
// Whoever finishes the last piece of a phase prepares the next one; whoever finishes the last of a
// round works out for each system when its next window begins, and whether it stops. So no warp
// ever waits for another one: while the longest step of one cohort's round goes on, warps step
// other cohorts. A launch ends when all systems have stopped, or its time is up.
//
// Who is due is known without a look at channels: a seat has the tick at which its component wants
// to be stepped (its wake), and the earliest arrival of what has been sent to it since it was
// looked at, which senders lower (Horizon::arrivals). What a component has found in its channels
// when it is stepped is in its wake.
//
// Members of a cluster (kernels/clusters.h) are stepped in windows of the cluster's own, which are
// rounds of their own: a domain is a cluster of a system, or all components that are in none. The
// machine's window ends when all of the system's domains have come to its end.
//
// Why there are no races that only a GPU would have:
// - Between phases of a cohort stands the counter of the pieces that are left, which every warp
//   lowers with release and acquire when its piece is done; what is prepared then is published by
//   the release of a ticket, from which pieces are taken with acquire. So everything done in one
//   phase is there in the next, whichever multiprocessors do it.
// - Within a phase: seats are looked at by one lane each. Lists grow by atomic additions. A
//   component is stepped by one lane, and what two components may touch at the same time is two
//   words of a slot, as in a team (kernels/team.h), and the arrivals of a seat, which are lowered
//   by atomic minima and looked at in another phase. A domain's `next` and `beyond` are lowered so,
//   too.
// - Cohorts share nothing but the words in which tickets and cohorts are counted.
// - What the host writes it writes between launches.
//
// The code is the same on a GPU and on the emulated device of tests.
#pragma once

#include "kernels/batch_state.h"
#include "kernels/kinds.h"
#include "kernels/lane_group.h"
#include "kernels/shared_words.h"

namespace nearwarp::kernels {

/// The outcome of a warp's look for work.
enum class Turn : uint32_t { kWorked, kIdle, kOver };

/// A warp's way through a launch. `time_is_up()` says whether the launch's time is.
class BatchWarp {
 public:
  /// Not all warps begin to look for work at the same place: those of block `block` with a task of
  /// its own, and each with a cohort of its own.
  NW_HD BatchWarp(const Batch& batch, uint32_t block, uint32_t warp)
      : b_(batch), first_task_(block % kBatchTasks), first_cohort_(warp % batch.num_cohorts) {}

  /// Take a piece of work and do it. `favourite` is the task that warps of the block look for
  /// first, so that they execute the same instructions.
  template <class G, class TimeIsUp>
  NW_HD NW_INLINE Turn turn(const G& g, uint32_t& favourite, TimeIsUp&& time_is_up) const {
    Piece piece;
    if (!find(g, favourite, piece))
      return g.leader_value([&] { return load_relaxed(b_.cohorts_left); }) == 0 ? Turn::kOver
                                                                                : Turn::kIdle;
    if (piece.index >= piece.count) return Turn::kWorked;  // others were faster
    work(g, piece);
    const uint32_t left = g.leader_value(
        [&] { return add_acquire_release(&b_.cohorts[piece.cohort].left, ~uint32_t{0}); });
    if (left == 1) go_on(g, piece.cohort, time_is_up);
    return Turn::kWorked;
  }

 private:
  struct Piece {
    uint32_t task = 0, cohort = 0, index = 0, count = 0;
  };

  // --- finding work ---

  /// Who is due is looked for first, since all others wait for it; then goes the favourite, then
  /// the others.
  template <class G>
  NW_HD NW_INLINE bool find(const G& g, uint32_t& favourite, Piece& piece) const {
    const uint32_t usual = g.leader_value([&] { return load_relaxed(&favourite); });
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (uint32_t i = 0; i < 2 + kBatchTasks; ++i) {
      const uint32_t task = i == 0   ? static_cast<uint32_t>(BatchTask::kLook)
                            : i == 1 ? usual
                                     : (first_task_ + i) % kBatchTasks;
      if (!take(g, task, piece)) continue;
      if (i > 1) g.leader([&] { store_release(&favourite, task); });
      return true;
    }
    return false;
  }

  template <class G>
  NW_HD NW_INLINE bool take(const G& g, uint32_t task, Piece& piece) const {
    const uint64_t waiting = g.ballot(b_.num_cohorts, [&](uint32_t cohort) {
      const uint64_t ticket = load_relaxed(b_.ticket(task, cohort));
      return static_cast<uint32_t>(ticket) < static_cast<uint32_t>(ticket >> 32);
    });
    if (waiting == 0) return false;
    const uint64_t after = waiting & ~low_bits(first_cohort_);
    piece.task = task;
    piece.cohort = count_trailing_zeros(after != 0 ? after : waiting);
    const uint64_t ticket = g.leader_value(
        [&] { return add_acquire_release(b_.ticket(task, piece.cohort), uint64_t{1}); });
    piece.index = static_cast<uint32_t>(ticket);
    piece.count = static_cast<uint32_t>(ticket >> 32);
    return true;
  }

  // --- work ---

  template <class G>
  NW_HD NW_INLINE void work(const G& g, const Piece& piece) const {
    if (piece.task < ProductFamily::kCount) {
      step_some(g, piece);
      return;
    }
    const Cohort& cohort = b_.cohorts[piece.cohort];
    const uint32_t first = cohort.seat_of_kind[0] + piece.index * kSeatsOfPiece;
    const uint32_t end = least(first + kSeatsOfPiece, cohort.seat_of_kind[ProductFamily::kCount]);
    if (static_cast<BatchTask>(piece.task) == BatchTask::kLook) {
      look_at_all(g, b_.cohorts[piece.cohort], first, (end - first) / kRunOfSeats);
      return;
    }
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (uint32_t run = first; run < end; run += kRunOfSeats) {
      if (static_cast<BatchTask>(piece.task) == BatchTask::kSeat) {
        g.each_alone(low_bits(kRunOfSeats), [&](uint32_t i) { seat(run + i); });
      } else {
        g.each_alone(low_bits(kRunOfSeats), [&](uint32_t i) { leave(run + i); });
      }
    }
  }

  NW_HD NW_INLINE Component& component(uint32_t seat) const {
    const TeamSystem& s = b_.systems[b_.system[seat]];
    return s.run.table.in(s.run.view.arena)[b_.component[seat]];
  }

  /// When is its component due, and who sends to it?
  NW_HD NW_CALLED void seat(uint32_t seat) const {
    if (b_.domain[seat] == kNoDomain) return;
    std::byte* base = b_.systems[b_.system[seat]].run.view.arena;
    const Component& c = component(seat);
    b_.wake[seat] = c.poll ? 0 : due_tick(c, base);
    b_.arrivals[seat] = kNever;
    for (uint32_t i = 0; i < c.inputs.count; ++i)
      c.inputs.in(base)[i].in(base)->producer_side.waking = seat;
  }

  /// The runs of a piece. To most of those that are asleep nothing has come: one look at the
  /// arrivals of all of them together says so.
  template <class G>
  NW_HD NW_INLINE void look_at_all(const G& g, Cohort& cohort, uint32_t first,
                                   uint32_t runs) const {
    const uint32_t* const flags = b_.asleep + first / kRunOfSeats;
    const auto asleep =
        static_cast<uint32_t>(g.ballot(runs, [&](uint32_t k) { return flags[k] != 0; }));
    uint64_t wanted = low_bits(runs);
    if (asleep != 0 && !something_comes(g, first, asleep)) wanted &= ~uint64_t{asleep};
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (; wanted != 0; wanted &= wanted - 1) {
      const uint32_t k = count_trailing_zeros(wanted);
      const bool sleeps = (asleep >> k & 1) != 0;
      const uint32_t run = first + k * kRunOfSeats;
      if (sleeps && !something_comes(g, run, 1)) continue;
      look(g, cohort, run, sleeps);
    }
  }
  /// Has something been sent to a seat of those runs from `first` on that are in `which`, as bits?
  template <class G>
  NW_HD NW_INLINE bool something_comes(const G& g, uint32_t first, uint32_t which) const {
    return g.ballot(kRunOfSeats, [&](uint32_t i) {
      Tick earliest = kNever;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (uint32_t k = 0; k < kRunsOfPiece; ++k)
        if ((which >> k & 1) != 0)
          earliest = min_tick(earliest, b_.arrivals[first + k * kRunOfSeats + i]);
      return earliest < kNever;
    }) != 0;
  }
  /// Adds the due components of a run to the list of their kind. `slept`: all of them
  /// did, until now.
  template <class G>
  NW_HD NW_INLINE void look(const G& g, Cohort& cohort, uint32_t run, bool slept) const {
    bool wants = false;  // of those that this lane looks at
    const uint64_t due =
        g.filter(low_bits(kRunOfSeats), [&](uint32_t i) { return is_due(run + i, wants); });
    const bool sleep = g.ballot(kLanesOfGroup, [&](uint32_t) { return wants; }) == 0;
    if (sleep != slept) g.leader([&] { b_.asleep[run / kRunOfSeats] = sleep ? 1 : 0; });
    if (due == 0) return;
    const uint32_t kind = b_.kind_of_run[run / kRunOfSeats];
    const uint32_t at = cohort.seat_of_kind[kind] + g.leader_value([&] {
      return add_relaxed(&cohort.due[kind], population_count(due));
    });
    g.each(kRunOfSeats, [&](uint32_t i) {
      if ((due >> i & 1) != 0) b_.list[at + population_count(due & low_bits(i))] = run + i;
    });
  }
  NW_HD NW_INLINE bool is_due(uint32_t seat, bool& wants) const {
    const uint32_t domain = b_.domain[seat];
    if (domain == kNoDomain) return false;
    const Tick due = min_tick(b_.wake[seat], b_.arrivals[seat]);
    if (due >= kNever) return false;
    wants = true;
    const Tick end = b_.ends[domain];
    if (end == 0) return false;
    if (due < end) {
      b_.arrivals[seat] = kNever;
      return true;
    }
    lower(&b_.domains[domain].next, due);
    return false;
  }
  /// Most have been lowered by others already.
  NW_HD NW_INLINE static void lower(Tick* tick, Tick t) {
    if (t < load_relaxed(tick)) lower_shared_tick(tick, t);
  }

  template <class G>
  NW_HD NW_INLINE void step_some(const G& g, const Piece& piece) const {
    const Cohort& cohort = b_.cohorts[piece.cohort];
    const uint32_t first = piece.index * kLanesOfGroup;
    const uint32_t n = least(cohort.due[piece.task] - first, kLanesOfGroup);
    const uint32_t* list = b_.list + cohort.seat_of_kind[piece.task] + first;
    g.each_alone(low_bits(n), [&](uint32_t i) { step(list[i]); });
  }
  NW_HD NW_INLINE void step(uint32_t seat) const {
    const TeamSystem& s = b_.systems[b_.system[seat]];
    Domain& domain = b_.domains[b_.domain[seat]];
    Component& c = component(seat);
    Horizon horizon;
    horizon.window_end = domain.machine_end;
    horizon.arrivals = b_.arrivals;
    const StepResult r = step_in_lane<ProductFamily>(c, s.run.view.arena + c.state, s.run.view,
                                                     domain.window, horizon);
    c.wake = r.wake;
    c.poll = r.poll;
    b_.wake[seat] = r.poll ? 0 : r.wake;
    lower(&domain.next, min_tick(r.wake, horizon.next));
    if (horizon.beyond < kNever) lower(&domain.beyond, horizon.beyond);
  }

  NW_HD NW_CALLED void leave(uint32_t seat) const {
    if (b_.domain[seat] == kNoDomain) return;
    const TeamSystem& s = b_.systems[b_.system[seat]];
    const uint64_t committed = ProductFamily::committed(component(seat), s.run.view.arena);
    if (committed != 0) add_relaxed(s.committed, committed);
  }

  // --- from phase to phase ---

  /// All pieces of a cohort's phase are done: prepare the next phase that has any.
  template <class G, class TimeIsUp>
  NW_HD NW_INLINE void go_on(const G& g, uint32_t number, TimeIsUp&& time_is_up) const {
    Cohort& cohort = b_.cohorts[number];
    const BatchTask phase = cohort.phase;
    const bool stepping = cohort.stepping;
    g.sync();  // all have read it
    if (phase == BatchTask::kLeave) {
      g.leader([&] { add_acquire_release(b_.cohorts_left, ~uint32_t{0}); });
      return;
    }
    if (phase == BatchTask::kLook && !stepping && publish_lists(g, number)) return;
    const bool over = g.leader_value([&] { return time_is_up() ? 1u : 0u; }) != 0;
    const bool any = next_windows(g, cohort, phase == BatchTask::kSeat, over);
    publish(g, number, any ? BatchTask::kLook : BatchTask::kLeave);
  }

  /// False if nobody is due.
  template <class G>
  NW_HD NW_INLINE bool publish_lists(const G& g, uint32_t number) const {
    Cohort& cohort = b_.cohorts[number];
    uint32_t pieces = 0;
    for (uint32_t kind = 0; kind < ProductFamily::kCount; ++kind)
      pieces += pieces_of(cohort.due[kind], kLanesOfGroup);
    g.leader([&] {
      cohort.stepping = true;
      cohort.left = pieces;
    });
    g.each(ProductFamily::kCount, [&](uint32_t kind) {
      const uint64_t count = pieces_of(cohort.due[kind], kLanesOfGroup);
      if (count != 0) store_release(b_.ticket(kind, number), count << 32);
    });
    return pieces != 0;
  }

  /// Pieces of seats, for a task on all of them.
  template <class G>
  NW_HD NW_INLINE void publish(const G& g, uint32_t number, BatchTask task) const {
    Cohort& cohort = b_.cohorts[number];
    g.each(ProductFamily::kCount, [&](uint32_t kind) { cohort.due[kind] = 0; });
    g.leader([&] {
      const uint32_t seats = cohort.seat_of_kind[ProductFamily::kCount] - cohort.seat_of_kind[0];
      const uint32_t pieces = pieces_of(seats, kSeatsOfPiece);
      cohort.phase = task;
      cohort.stepping = false;
      cohort.left = pieces;
      store_release(b_.ticket(static_cast<uint32_t>(task), number), uint64_t{pieces} << 32);
    });
  }

  /// A round is over, or the first one is to begin: give all systems of the cohort windows. Returns
  /// whether there are any.
  template <class G>
  NW_HD NW_INLINE bool next_windows(const G& g, const Cohort& cohort, bool first,
                                    bool time_is_up) const {
    bool any = false;
    for (uint32_t at = 0; at < cohort.systems; at += kLanesOfGroup) {
      const uint32_t n = least(cohort.systems - at, kLanesOfGroup);
      any |= g.filter(low_bits(n), [&](uint32_t i) {
        return next_window_of(cohort.first_system + at + i, first, time_is_up);
      }) != 0;
    }
    g.sync();
    return any;
  }

  /// False if the system stops.
  NW_HD NW_CALLED bool next_window_of(uint32_t system, bool first, bool time_is_up) const {
    TeamSystem& s = b_.systems[system];
    const BatchSystem& more = b_.more[system];
    RunControl& control = s.run.control;
    Domain* const domains = b_.domains + more.first_domain;
    Tick* const ends = b_.ends + more.first_domain;
    if (first) {
      begin_windows(control);
      if (control.stop != Stop::kNone) return false;
    } else {
      if (control.stop != Stop::kNone) return false;
      const Window window = next_window(control);
      if (next_windows_of_clusters(domains, ends, more.domains, window.end)) return true;
      Tick next = kNever;
      for (uint32_t i = 0; i < more.domains; ++i)
        next = min_tick(next, min_tick(domains[i].next, domains[i].beyond));
      const bool over = time_is_up || control.windows + 1 >= more.last_window;
      end_window(control, window, next, host_wanted(s.run.front_end_state()), over);
      if (control.stop != Stop::kNone) return false;
    }
    const Window window = next_window(control);
    for (uint32_t i = 0; i < more.domains; ++i) {
      Domain& d = domains[i];
      d.window = window;
      d.next = d.beyond = kNever;
      d.machine_end = kNever;
      if (d.length != 0) {
        // Whoever waits for a credit looks for it at the begin of the machine's window.
        d.machine_end = window.end;
        d.window.end = min_tick(window.end, window.begin + d.length);
      }
      ends[i] = d.window.end;
    }
    return true;
  }

  /// Within the machine's window, which ends at `end`. Returns whether there are any.
  NW_HD NW_INLINE static bool next_windows_of_clusters(Domain* domains, Tick* ends, uint32_t n,
                                                       Tick end) {
    bool any = false;
    for (uint32_t i = 0; i < n; ++i) {
      Domain& d = domains[i];
      const bool goes_on = d.length != 0 && ends[i] != 0 && d.next < end;
      ends[i] = 0;
      if (!goes_on) continue;
      any = true;
      d.window = {d.next, min_tick(d.next + d.length, end)};
      d.next = kNever;
      ends[i] = d.window.end;
    }
    return any;
  }

  NW_HD NW_INLINE static uint32_t pieces_of(uint32_t n, uint32_t each) {
    return (n + each - 1) / each;
  }
  static NW_HD NW_INLINE uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

  const Batch& b_;
  uint32_t first_task_, first_cohort_;
};

}  // namespace nearwarp::kernels
