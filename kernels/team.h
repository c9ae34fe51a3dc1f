// A team: the warps of one or more thread blocks that step one simulated system together.
//
// Every component belongs to one warp of the team (see deal.h). A window goes like this: each warp
// steps those of its components that have something to do, the team exchanges the earliest next
// event and what it found out (a barrier), and every warp draws the same conclusion from that: go
// on, or stop. The code here is the same on a GPU and in the emulated grid of tests. What differs
// is the exchange, that lanes work at the same time, and that teams may share a block: then all of
// its warps wait for each other between a window's phases, those of teams that are over too.
//
// Why there are no races that only a GPU would have:
// - Within a window a component touches its own state, which belongs to one warp for the whole
//   launch, and the slots of its channels. What two warps may touch at the same time is a slot's
//   `arrive` and `credit`, each a 64-bit word that is read and written in one piece; a value
//   written in this window lies beyond the window's end, so whether a reader sees it or the one
//   before makes no difference (device/core/channel.h). That holds for a copy in the first cache of
//   a multiprocessor, too, which the barrier at the window's end does away with. The packet beside
//   it is written before, and read only in a later window, behind the barrier.
// - Within a warp, a component is stepped by one lane, and lanes that step components at the same
//   time are to each other as warps are. What lanes do together follows the rules of
//   kernels/lane_group.h: every primitive that writes ends with a synchronisation of the warp.
// - Across windows, the exchange is a barrier with release and acquire for all of the team's
//   memory, so private state that went through caches of different multiprocessors cannot be
//   stale.
// - A State that is kept in shared memory is touched by its own warp only; it is copied back before
//   the launch ends, and nobody looks at it in the arena until then.
// - All members of a cluster belong to one warp. Within the cluster's windows the same holds as
//   within the machine's, and between them the warp's lanes wait for each other.
// - Component::wake and ::poll are written by the lane that has stepped the component, and read by
//   its warp only, after a synchronisation.
// - Teams that share a block have areas of their own in its shared memory, for States, for what
//   their warps hold over a window and for what they exchange.
// - RunControl is computed by every warp from the same exchanged values and its own copy; one
//   thread writes it back when the team leaves the system, and the next team that takes the system
//   is in a later launch.
// - What the host writes (placed data, ready traces) it writes between launches.
#pragma once

#include "kernels/kinds.h"
#include "kernels/lane_group.h"
#include "kernels/team_state.h"

namespace nearwarp::kernels {

/// In which phase of a window components of a kind are stepped, and the other way round: the front
/// end, which is the last kind, in the first one.
NW_HD NW_INLINE ComponentKind kind_of_phase(uint32_t phase) {
  return static_cast<ComponentKind>(phase == 0 ? ProductFamily::kCount - 1 : phase - 1);
}
NW_HD NW_INLINE uint32_t phase_of(ComponentKind kind) {
  return kind == ComponentKind::kFrontEnd ? 0 : static_cast<uint32_t>(kind) + 1;
}

/// Findings of a warp in a window, or of a team, combined.
struct Findings {
  static constexpr uint32_t kHostWanted = 1, kTimeIsUp = 2;
  uint32_t key = kNoKey;  ///< the next event, as ticks_ahead() of the window's begin
  uint32_t flags = 0;

  NW_HD NW_INLINE void add(const Findings& f) {
    key = f.key < key ? f.key : key;
    flags |= f.flags;
  }
};

/// Components with more inputs than this are looked at by all lanes together.
inline constexpr uint32_t kFewInputs = 6;

/// A warp's view of its team's work on one system. All warps of a team hold equal ones.
class TeamRun {
 public:
  TeamRun() = default;
  /// `shared`: the area of this warp's block.
  /// Every word is written once, since lanes that make it together need not be in step.
  NW_HD TeamRun(TeamSystem& system, const Slice& slice, std::byte* shared)
      : system_(&system),
        control_(begun(system.run.control)),
        shared_(shared),
        last_window_(slice.windows < ~control_.windows ? control_.windows + slice.windows
                                                       : ~uint64_t{0}) {}

  NW_HD Stop stop() const { return control_.stop; }
  NW_HD uint64_t windows() const { return control_.windows; }

  /// Before the first window: `warp` takes its States into shared memory.
  template <class G>
  NW_HD void enter(const G& g, uint32_t warp) const {
    each_shared(warp, [&](std::byte* in_arena, std::byte* in_shared, uint32_t bytes) {
      copy(g, in_shared, in_arena, bytes);
    });
    g.sync();  // all lanes that share this object have made it
  }

  /// How far a warp has come in a window, and what its lanes have found; every lane has its own.
  struct Walk {
    uint32_t at = 0, end = 0;  ///< what is to be stepped in phases, as positions of the deal
    Findings found;
    Horizon horizon;
  };
  /// A window goes by kinds of components, in the order of the deal: warps that wait for each other
  /// between phases execute the same instructions at the same time, so that these are at hand.
  static constexpr uint32_t kPhases = ProductFamily::kCount;

  /// Step what belongs to `warp` through the next window. What is returned counts in the leader.
  template <class G>
  NW_HD NW_INLINE Findings step(const G& g, uint32_t warp) {
    Walk walk = begin(g, warp);
    for (uint32_t phase = 0; phase < kPhases; ++phase) step_phase(g, phase, walk);
    return finish(g, warp, walk);
  }

  // The parts of step(), in their order.

  template <class G>
  NW_HD NW_INLINE Walk begin(const G& g, uint32_t warp) {
    g.sync();  // all lanes that share this object have read it
    window_ = next_window(control_);
    g.sync();
    const DealView& deal = system_->deal;
    Walk walk;
    walk.at = deal.begin[warp];
    walk.end = walk.at;
    if (walk.at < deal.begin[warp + 1] && component(walk.at).cluster_window == 0)
      walk.end = deal.group_end[walk.at];
    return walk;
  }
  template <class G>
  NW_HD NW_INLINE void step_phase(const G& g, uint32_t phase, Walk& walk) {
    const ComponentKind kind = kind_of_phase(phase);
    while (walk.at < walk.end && component(walk.at).kind == kind) {
      const uint32_t most = min_u32(walk.end - walk.at, 64);
      const uint64_t same =
          g.ballot(most, [&](uint32_t i) { return component(walk.at + i).kind == kind; });
      const uint32_t n = same == ~uint64_t{0} ? 64 : count_trailing_zeros(~same);
      step_some(g, walk.at, n, walk.horizon, walk.found);
      walk.at += n;
    }
  }
  template <class G>
  NW_HD NW_INLINE Findings finish(const G& g, uint32_t warp, const Walk& walk) {
    NW_ASSERT(walk.at == walk.end);
    Findings found;
    found.key =
        g.least_of_lanes(min_u32(walk.found.key, ticks_ahead(walk.horizon.next, window_.begin)));
    const DealView& deal = system_->deal;
    for (uint32_t at = walk.end; at < deal.begin[warp + 1]; at = deal.group_end[at])
      found.add({step_cluster(g, at), 0});
    if (warp == 0) {
      g.sync();
      if (host_wanted(front_end())) found.flags |= Findings::kHostWanted;
    }
    return found;
  }

  /// The team has met: draw the conclusion. All lanes draw the same, and where they share this
  /// object, none writes before all have read, or reads before all have written: lanes of a warp
  /// need not be in step.
  template <class G>
  NW_HD Stop meet(const G& g, const Findings& all) {
    RunControl control = control_;
    const Window window = window_;
    const bool over = (all.flags & Findings::kTimeIsUp) != 0 || control.windows + 1 >= last_window_;
    g.sync();
    end_window(control, window, tick_of_key(all.key, window.begin),
               (all.flags & Findings::kHostWanted) != 0, over);
    control_ = control;
    g.sync();
    return control.stop;
  }

  /// Leave the system after a stop: `warp` writes down what the host wants to know.
  template <class G>
  NW_HD void leave(const G& g, uint32_t warp) {
    TeamSystem& s = *system_;
    std::byte* base = s.run.view.arena;
    each_shared(warp, [&](std::byte* in_arena, std::byte* in_shared, uint32_t bytes) {
      copy(g, in_arena, in_shared, bytes);
    });
    g.leader([&] {
      uint64_t sum = 0;
      for (uint32_t i = s.deal.begin[warp]; i < s.deal.begin[warp + 1]; ++i)
        sum += ProductFamily::committed(s.run.table.in(base)[s.deal.order[i]], base);
      s.committed[warp] = sum;
      if (warp == 0) s.run.control = control_;
    });
  }

 private:
  static NW_HD RunControl begun(RunControl control) {
    begin_windows(control);
    return control;
  }

  /// f(in the arena, in shared memory, bytes) for each State that `warp` keeps in shared memory.
  template <class F>
  NW_HD void each_shared(uint32_t warp, F&& f) const {
    const TeamSystem& s = *system_;
    if (s.deal.shared_at == nullptr) return;
    for (uint32_t i = s.deal.begin[warp]; i < s.deal.begin[warp + 1]; ++i) {
      if (s.deal.shared_at[i] == kNotShared) continue;
      const Component& c = s.run.table.in(s.run.view.arena)[s.deal.order[i]];
      f(s.run.view.arena + c.state, shared_ + s.deal.shared_at[i],
        ProductFamily::state_bytes(c.kind));
    }
  }

  /// By words of 8 bytes; States are aligned to them and a multiple of them long.
  template <class G>
  NW_HD static void copy(const G& g, std::byte* to, const std::byte* from, uint32_t bytes) {
    auto* out = reinterpret_cast<uint64_t*>(to);
    const auto* in = reinterpret_cast<const uint64_t*>(from);
    g.each(bytes / 8, [&](uint32_t i) { out[i] = in[i]; });
  }

  /// Where the State of the component at position `i` of the deal lies now.
  NW_HD std::byte* state_at(uint32_t i, const Component& c) const {
    const DealView& deal = system_->deal;
    return deal.shared_at == nullptr || deal.shared_at[i] == kNotShared
               ? system_->run.view.arena + c.state
               : shared_ + deal.shared_at[i];
  }

  /// For warp 0.
  NW_HD const frontend::FrontEndState& front_end() const {
    const uint32_t first = system_->deal.begin[0];
    const Component& c = system_->run.table.in(system_->run.view.arena)[system_->deal.order[first]];
    if (c.kind != ComponentKind::kFrontEnd) return system_->run.front_end_state();
    return as<const frontend::FrontEndState>(state_at(first, c));
  }

  /// The earliest arrival at a component's inputs, looked at by all lanes.
  template <class G>
  NW_HD uint32_t arrival_key(const G& g, const Component& c) const {
    std::byte* base = system_->run.view.arena;
    const Ref<Channel>* inputs = c.inputs.in(base);
    return g.minimum(c.inputs.count, [&](uint32_t i) {
      return ticks_ahead(head_arrival(*inputs[i].in(base), base), window_.begin);
    });
  }

  /// When component `c` has something to do, as a key; inputs beyond a few are left out.
  NW_HD uint32_t due_key(const Component& c) const {
    if (c.poll) return 0;
    std::byte* base = system_->run.view.arena;
    const Tick due = c.inputs.count <= kFewInputs ? due_tick(c, base) : c.wake;
    return ticks_ahead(due, window_.begin);
  }

  NW_HD void leave_footprint(uint32_t component) const {
    volatile Footprint& f = *system_->footprint;
    f.system = system_->number;
    f.component = component;
    f.tick = window_.begin;
  }

  /// Step the cluster that begins at position `first` of the deal through the machine's window, in
  /// windows of its own. Returns when something can happen in it or by it, as a key; that counts in
  /// the leader.
  template <class G>
  NW_HD NW_INLINE uint32_t step_cluster(const G& g, uint32_t first) {
    uint32_t next = next_event(g, first);
    g.leader([&] { beyond_ = kNoKey; });
    while (true) {
      // Values that can be worked out again are, rather than kept over the models.
      const Window whole = next_window(control_);
      const uint32_t length = static_cast<uint32_t>(whole.end - whole.begin);
      const Tick begin = whole.begin + next, end = begin + component(first).cluster_window;
      g.sync();  // all lanes that share this object have read it
      window_ = next >= length ? whole : Window{begin, min_tick(end, whole.end)};
      if (next >= length) return min_u32(next, g.leader_value([&] { return beyond_; }));
      Findings found;  // by this lane, as the horizon
      Horizon horizon;
      horizon.window_end = whole.end;
      for (uint32_t at = first; at < system_->deal.group_end[first]; at += 64)
        step_some(g, at, min_u32(system_->deal.group_end[first] - at, 64), horizon, found);
      found.add({ticks_ahead(horizon.next, window_.begin), 0});
      const uint32_t key = g.least_of_lanes(found.key);
      // Ticks count from the begin of the machine's window. Too early is harmless.
      const Tick whole_begin = next_window(control_).begin;
      const uint32_t beyond = g.least_of_lanes(ticks_ahead(horizon.beyond, whole_begin));
      g.leader([&] { beyond_ = min_u32(beyond_, beyond); });
      const auto passed = static_cast<uint32_t>(window_.begin - whole_begin);
      next = key == kNoKey ? kNoKey : min_u32(key, kNoKey - 1 - passed) + passed;
    }
  }

  /// When a cluster's first event is, as a key. Who waits for a credit looks for it at the begin of
  /// the machine's window, since it may come within that.
  template <class G>
  NW_HD uint32_t next_event(const G& g, uint32_t first) const {
    const uint32_t end = system_->deal.group_end[first];
    uint32_t key = kNoKey;
    for (uint32_t at = first; at < end; at += 64) {
      const uint32_t n = min_u32(end - at, 64);
      key = min_u32(key, g.minimum(n, [&](uint32_t i) { return due_key(component(at + i)); }));
      const uint64_t wide =
          g.ballot(n, [&](uint32_t i) { return component(at + i).inputs.count > kFewInputs; });
      for (uint64_t bits = wide; bits != 0; bits &= bits - 1)
        key = min_u32(key, arrival_key(g, component(at + count_trailing_zeros(bits))));
    }
    return key;
  }

  /// Step the `n` <= 64 components from position `first` of the deal on, as far as they are due,
  /// and add to what this lane has found. Each is stepped by a lane of its own, those of one kind
  /// at the same time: a step is mostly one thing after another, and waits mostly for memory and
  /// for instructions, which lanes do together.
  template <class G>
  NW_HD NW_INLINE void step_some(const G& g, uint32_t first, uint32_t n, Horizon& horizon,
                                 Findings& found) {
    for (uint64_t due = due_of(g, first, n, found); due != 0;) {
      const uint64_t together = of_one_kind(g, first, n, due);
      g.each_alone(together, [&](uint32_t i) {
        found.key = min_u32(found.key, step_at(first + i, horizon));
      });
      due &= ~together;
    }
  }

  /// The due components of the first one's kind; where footprints are left, it alone.
  template <class G>
  NW_HD NW_INLINE uint64_t of_one_kind(const G& g, uint32_t first, uint32_t n, uint64_t due) const {
    if (system_->footprint != nullptr) return due & (~due + 1);
    const ComponentKind kind = component(first + count_trailing_zeros(due)).kind;
    return due & g.ballot(n, [&](uint32_t i) { return component(first + i).kind == kind; });
  }

  /// Which of the components are due, as bits; when the others are goes to `found`.
  template <class G>
  NW_HD NW_INLINE uint64_t due_of(const G& g, uint32_t first, uint32_t n, Findings& found) const {
    const uint32_t* const order = system_->deal.order + first;
    const Component* const table = system_->run.table.in(system_->run.view.arena);
    const auto length = static_cast<uint32_t>(window_.end - window_.begin);
    uint64_t due = g.ballot(n, [&](uint32_t i) { return due_key(table[order[i]]) < length; });
    const uint64_t wide =
        g.ballot(n, [&](uint32_t i) { return table[order[i]].inputs.count > kFewInputs; });
    for (uint64_t bits = wide & ~due; bits != 0; bits &= bits - 1) {
      const uint32_t i = count_trailing_zeros(bits);
      const uint32_t key = arrival_key(g, table[order[i]]);
      if (key < length) {
        due |= uint64_t{1} << i;
      } else {
        found.add({key, 0});
      }
    }
    found.add({g.minimum(n,
                         [&](uint32_t i) {
                           return (due >> i & 1) != 0 ? kNoKey : due_key(table[order[i]]);
                         }),
               0});
    return due;
  }

  /// Step the component at position `at` of the deal; returns when it is due again, as a key.
  /// Nothing but `at` is kept in registers over the model.
  NW_HD NW_INLINE uint32_t step_at(uint32_t at, Horizon& horizon) {
    if (system_->footprint != nullptr) leave_footprint(system_->deal.order[at]);
    const StepResult r = step_in_lane<ProductFamily>(component(at), state_at(at, component(at)),
                                                     system_->run.view, window_, horizon);
    component(at).wake = r.wake;
    component(at).poll = r.poll;
    return ticks_ahead(r.wake, window_.begin);
  }

  NW_HD NW_INLINE Component& component(uint32_t at) const {
    return system_->run.table.in(system_->run.view.arena)[system_->deal.order[at]];
  }

  static NW_HD NW_INLINE uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

  TeamSystem* system_ = nullptr;
  RunControl control_;
  std::byte* shared_ = nullptr;
  uint64_t last_window_ = 0;
  Window window_;
  uint32_t beyond_ = kNoKey;  ///< a cluster's: what is felt beyond the machine's window, as a key
};

}  // namespace nearwarp::kernels
