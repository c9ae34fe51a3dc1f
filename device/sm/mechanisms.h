// How mechanisms of near-data processing attach to an SM.
//
// A mechanism is a type with a constant kPacketBlock (the block of packet kinds that are its own)
// and a type OnSm, derived from sm::Hooks or sm::WalkHooks, which has
//   template <uint32_t kWords> using State   what it keeps on an SM, in the arena;
//   using Params                             what it is told, in the arena;
// and hides those of the hooks below that it needs. The SM knows no mechanism: it is compiled with
// a list of them, the family's, and which of these are attached to an SM is data
// (SmStateOf::attached): a bit, and offsets of State and Params. On a CPU an SM to which none is
// attached that has sm::Hooks is stepped by code without a list; so the SM asks for mechanisms'
// bits by who(), which is a constant there.
//
// A hook is a static function whose first parameter is the mechanism on the SM at hand: o.v is the
// SM's view, o.s the mechanism's State, o.p its Params, o.bit its bit. What is
// asked once per instruction is filtered before: by the marks of the static instruction
// (ImageInstr::marks, edges) and by what is watched (Warp::watch, LsuOp::watch).
#pragma once

#include <type_traits>

#include "device/sm/sm_view.h"

namespace nearwarp::sm {

/// Tags from here up to kFetchTag: of stores that a mechanism has sent itself.
inline constexpr uint32_t kOwnStoreTag = 0x20000000u;

/// The outcome of a line's look-up.
enum class LineUse : uint8_t { kHit, kMerged, kMiss, kStore, kAtomic };

/// An event of a warp that a mechanism holds or watches.
enum class WarpEvent : uint8_t {
  kTimer,           ///< its own
  kFetched,         ///< instructions that its holder wanted (FetchStateOf::wanted) have come
  kOperationEnded,  ///< a memory operation
  kGuestFinished,   ///< a guest has come to its end, and none of its memory operations is under way
  kTraceEnded,      ///< it has come to the end of its trace
};
/// Parts of a cycle in which a mechanism has a step.
enum class CyclePart : uint8_t {
  kBegin,  ///< before anything is issued
  kEnd,    ///< once it is known what the SM has issued
};

/// The hooks where pages lie, doing nothing, for a mechanism that wants to place them
/// (SmStateOf::places_pages). One whose OnSm is derived from these alone costs an SM nothing
/// between walks: on a CPU the SM is stepped by the code of one without mechanisms.
struct WalkHooks {
  /// May it be attached to SMs of more than 64 warps, which are stack SMs?
  static constexpr bool kOnWideSms = true;

  /// A walk for a page begins: TlbState::walks[walker].
  template <class O>
  NW_HD static void on_walk(O&, uint32_t /*walker*/, uint32_t /*now*/) {}
  /// The walk's last read has come, so that the page's entry is used as it now is: the mechanism
  /// may write it (write_entry()). False: the page is not there yet. Then the mechanism has the
  /// entry read again (tlb_read_again()), or holds the walk (Walk::held), sends packets of its own
  /// for it and says when it ends.
  template <class O>
  NW_HD static bool on_walked(O&, uint32_t /*walker*/, uint32_t /*now*/) {
    return true;
  }
  /// The network takes a packet for a walk that it holds, and the walker is in TlbState::unsent:
  /// send one, under a tag from kHeldWalkTag on.
  template <class O>
  NW_HD static void send_for_walk(O&, uint32_t /*walker*/, uint32_t /*now*/) {}
  /// The answer to such a packet has come. True: the walk ends.
  template <class O>
  NW_HD static bool on_walk_packet(O&, const Packet&, uint32_t /*now*/) {
    return false;
  }
};

/// All hooks, doing nothing. A warp that a mechanism holds (Phase::kHeld, Warp::holder) does
/// nothing until the mechanism sets it free.
struct Hooks : WalkHooks {
  // --- a warp's way ---

  /// The cursor stands at a marked instruction, or that of a watched warp at an edge. `earliest`:
  /// the cycle from which it may issue. True: the mechanism has taken care of the warp, which is
  /// not scheduled.
  template <class O>
  NW_HD static bool at_cursor(O&, uint32_t /*warp*/, uint32_t /*now*/, uint32_t /*earliest*/) {
    return false;
  }
  /// Something has happened to a warp that it holds, or has brought; or, kTraceEnded, watches.
  /// `issue`: the cycle from which what has been fetched, from Warp::fetch_pc on, can be issued;
  /// otherwise this one.
  template <class O>
  NW_HD static void on_warp(O&, WarpEvent, uint32_t /*warp*/, uint32_t /*now*/,
                            uint32_t /*issue*/) {}
  /// A warp that is counted (Warp::count) has issued an instruction in `threads` lanes.
  template <class O>
  NW_HD static void after_issue(O&, uint32_t /*warp*/, uint32_t /*threads*/) {}

  /// A warp has issued an instruction that no port of the SM executes: the mechanism has made it
  /// ready for another Unit than the instruction's own. Its results are the mechanism's to set.
  template <class O>
  NW_HD static void issue_elsewhere(O&, uint32_t /*warp*/, const ImageInstr&, uint32_t /*now*/) {}

  // --- memory ---

  /// The access of which it is told is at the head, and its next line is to be looked up. True: it
  /// has done that, or waits for the network.
  template <class O>
  NW_HD static bool take_access(O&, const LsuOp&, uint32_t /*now*/) {
    return false;
  }
  /// A watched warp's access to shared memory has left the queue; its result is there at cycle
  /// `ready`. True: the mechanism ends it.
  template <class O>
  NW_HD static bool take_shared_access(O&, const LsuOp&, uint32_t /*ready*/, uint32_t /*now*/) {
    return false;
  }
  /// A watched warp's load has got its last line; its registers would be ready at cycle `at`. True:
  /// the mechanism ends it and gives its load entry back.
  template <class O>
  NW_HD static bool take_loaded(O&, uint32_t /*entry*/, uint32_t /*at*/, uint32_t /*now*/) {
    return false;
  }
  /// A watched warp has issued an access to global memory. True: tell of its lines.
  template <class O>
  NW_HD static bool on_access(O&, uint32_t /*warp*/) {
    return false;
  }
  /// How many packets must be able to leave for a line to be stored, besides the store.
  template <class O>
  NW_HD static uint32_t store_packets(const O&, uint32_t /*warp*/, LineAddr) {
    return 0;
  }
  /// A line is about to be stored; store_packets() packets may be sent.
  template <class O>
  NW_HD static void on_store(O&, uint32_t /*warp*/, LineAddr, uint32_t /*now*/) {}
  /// A line of an access of which it is told has been looked up or sent. All other lines in hooks
  /// are physical ones.
  template <class O>
  NW_HD static void on_line(O&, uint32_t /*warp*/, LineAddr /*virtual_line*/, LineAddr /*line*/,
                            LineUse) {}
  /// An access has had its last line.
  template <class O>
  NW_HD static void on_access_end(O&, uint32_t /*warp*/) {}
  /// A store has been acknowledged, and the mechanism waits for stores (SmStateOf::awaits_stores).
  template <class O>
  NW_HD static void on_store_ack(O&, uint32_t /*now*/) {}

  // --- packets ---

  /// From which tick on a packet of its own that stands at the network's head can be taken; kNever:
  /// a credit that is not known yet is wanted.
  template <class O>
  NW_HD static Tick accept_tick(const O&, const Packet&) {
    return 0;
  }
  /// A packet of its own has come, over the network or (MessageClass::kControl) from the front end.
  template <class O>
  NW_HD static void on_packet(O&, const Packet&, uint32_t /*now*/) {}
  /// A store that it has sent itself, under a tag from kOwnStoreTag on, has been acknowledged.
  template <class O>
  NW_HD static void on_own_store_ack(O&, const Packet&, uint32_t /*now*/) {}
  /// When something comes over channels of its own (SmStateOf::own_channels), or what it has begun
  /// goes on; kNever: nothing is on its way. `poll` is set where a credit that is not known yet is
  /// wanted.
  template <class O>
  NW_HD static Tick own_arrival(const O&, bool& /*poll*/) {
    return kNever;
  }
  /// In both parts of every cycle in which the SM is awake, while it has such channels.
  template <class O>
  NW_HD static void step(O&, CyclePart, uint32_t /*now*/) {}
  /// Once a cycle, after the load-store unit, while it wants to (SmStateOf::wants_network): send
  /// something over the network if there is room.
  template <class O>
  NW_HD static void use_network(O&, uint32_t /*now*/) {}
  /// Once a cycle, at its end, while it may want to (SmStateOf::wants_control): send something to
  /// the front end if there is room.
  template <class O>
  NW_HD static void use_control(O&, uint32_t /*now*/) {}
  /// Would use_control() send something if there were room? If not, cycles in which nothing else
  /// happens are skipped.
  template <class O>
  NW_HD static bool control_ready(const O&) {
    return true;
  }
};

/// The number of mechanism M in a list.
template <class M, class... L>
constexpr uint32_t number_in(MechanismList<L...>) {
  uint32_t number = 0;
  bool found = false;
  (((found = found || std::is_same_v<M, L>), number += found ? 0u : 1u), ...);
  return number;
}

/// The state of mechanism M on the SM that V is a view of.
template <class V, class M>
using StateOn =
    std::conditional_t<std::is_const_v<V>, const typename M::OnSm::template State<V::kWords>,
                       typename M::OnSm::template State<V::kWords>>;
/// The mechanism on that SM.
template <class V, class M>
struct On : MechanismAt<V, M, typename M::OnSm, StateOn<V, M>> {
  NW_HD On(V& view, uint32_t n)
      : MechanismAt<V, M, typename M::OnSm, StateOn<V, M>>(view, n, view.s.mechanism_state[n],
                                                           view.s.mechanism_params[n]) {}
};

/// Has a mechanism more hooks than walks'? Where one that has is attached, the SM asks for
/// mechanisms throughout.
template <class M>
constexpr bool has_all_hooks() {
  if constexpr (requires { typename M::OnSm; }) return std::is_base_of_v<Hooks, typename M::OnSm>;
  return false;
}
template <class... M>
NW_HD constexpr uint32_t with_all_hooks(MechanismList<M...>) {
  uint32_t number = 0, bits = 0;
  ((bits |= (has_all_hooks<M>() ? 1u : 0u) << number++), ...);
  return bits;
}

namespace hooks {

/// Mechanisms with hooks at walks.
struct WalkPlace {
  template <class V, class M>
  static constexpr bool has() {
    if constexpr (requires { typename M::OnSm; }) {
      return V::kHasBlocks || M::OnSm::kOnWideSms;
    } else {
      return false;
    }
  }
  template <class V, class M>
  using At = On<V, M>;
};
/// Mechanisms with all hooks.
struct Place : WalkPlace {
  template <class V, class M>
  static constexpr bool has() {
    return has_all_hooks<M>() && WalkPlace::has<V, M>();
  }
};
/// f(On<V, M>) for each mechanism that places pages.
template <class V, class F>
NW_HD NW_INLINE void each_placer(V& v, F&& f) {
  auto&& all = v.with_mechanisms();
  using All = std::remove_reference_t<decltype(all)>;
  each_mechanism<WalkPlace>(typename All::Mechanisms(), all, v.placers(), f);
}
/// f(On<V, M>) for each mechanism of the list whose bit is in `who`.
template <class V, class F>
NW_HD NW_INLINE void each(V& v, uint32_t who, F&& f) {
  if (v.who(who) != 0) each_mechanism<Place>(typename V::Mechanisms(), v, who, f);
}
/// f() of the mechanism whose packet this is, if it is attached.
template <class V, class F>
NW_HD NW_INLINE void owner(V& v, PacketKind kind, F&& f) {
  each(v, v.s.attached, [&](auto& o) {
    if (owns(o, kind)) f(o);
  });
}

#define NW_HOOKS(o) std::remove_reference_t<decltype(o)>::Hooks

// Where a warp comes rarely, a hook is a function of its own on a GPU: a mechanism's code would be
// there once for each of the many places from which a warp goes on, half of the stepping kernel.

template <class V>
NW_HD NW_APART bool at_cursor(V& v, uint32_t who, uint32_t warp, uint32_t now, uint32_t earliest) {
  bool taken = false;
  each(v, who, [&](auto& o) {
    if (!taken) taken = NW_HOOKS(o)::at_cursor(o, warp, now, earliest);
  });
  return taken;
}
template <class V>
NW_HD NW_APART void at_end(V& v, uint32_t warp, uint32_t now) {
  each(v, v.warps[warp].watch,
       [&](auto& o) { NW_HOOKS(o)::on_warp(o, WarpEvent::kTraceEnded, warp, now, now); });
}
template <class V>
NW_HD NW_APART void on_timer(V& v, uint32_t warp, uint32_t now) {
  each(v, v.warps[warp].holder,
       [&](auto& o) { NW_HOOKS(o)::on_warp(o, WarpEvent::kTimer, warp, now, now); });
}
template <class V>
NW_HD NW_APART void on_fetched(V& v, uint32_t warp, uint32_t now, uint32_t issue) {
  each(v, v.warps[warp].holder,
       [&](auto& o) { NW_HOOKS(o)::on_warp(o, WarpEvent::kFetched, warp, now, issue); });
}
template <class V>
NW_HD NW_APART void on_operation_ended(V& v, uint32_t warp, uint32_t now) {
  each(v, v.warps[warp].holder,
       [&](auto& o) { NW_HOOKS(o)::on_warp(o, WarpEvent::kOperationEnded, warp, now, now); });
}
template <class V>
NW_HD NW_INLINE void on_guest_finished(V& v, uint32_t warp, uint32_t now) {
  each(v, v.warps[warp].guest_of,
       [&](auto& o) { NW_HOOKS(o)::on_warp(o, WarpEvent::kGuestFinished, warp, now, now); });
}
template <class V>
NW_HD NW_INLINE void after_issue(V& v, uint32_t warp, uint32_t threads) {
  each(v, v.warps[warp].count, [&](auto& o) { NW_HOOKS(o)::after_issue(o, warp, threads); });
}
template <class V>
NW_HD NW_APART void issue_elsewhere(V& v, uint32_t warp, const ImageInstr& in, uint32_t now) {
  each(v, v.s.attached, [&](auto& o) { NW_HOOKS(o)::issue_elsewhere(o, warp, in, now); });
}
template <class V>
NW_HD NW_INLINE bool take_access(V& v, const LsuOp& op, uint32_t now) {
  bool taken = false;
  each(v, op.watch, [&](auto& o) {
    if (!taken) taken = NW_HOOKS(o)::take_access(o, op, now);
  });
  return taken;
}
template <class V>
NW_HD NW_INLINE bool take_shared_access(V& v, const LsuOp& op, uint32_t ready, uint32_t now) {
  bool taken = false;
  each(v, v.warps[op.warp].watch, [&](auto& o) {
    if (!taken) taken = NW_HOOKS(o)::take_shared_access(o, op, ready, now);
  });
  return taken;
}
template <class V>
NW_HD NW_INLINE bool take_loaded(V& v, uint32_t warp, uint32_t entry, uint32_t at, uint32_t now) {
  bool taken = false;
  each(v, v.warps[warp].watch, [&](auto& o) {
    if (!taken) taken = NW_HOOKS(o)::take_loaded(o, entry, at, now);
  });
  return taken;
}
/// The mechanisms that want to hear of the access's lines.
template <class V>
NW_HD NW_INLINE uint8_t on_access(V& v, uint32_t warp) {
  uint32_t who = 0;
  each(v, v.warps[warp].watch, [&](auto& o) {
    if (NW_HOOKS(o)::on_access(o, warp)) who |= o.bit;
  });
  return static_cast<uint8_t>(who);
}
template <class V>
NW_HD NW_INLINE uint32_t store_packets(V& v, uint32_t who, uint32_t warp, LineAddr line) {
  uint32_t n = 0;
  each(v, who, [&](auto& o) { n += NW_HOOKS(o)::store_packets(o, warp, line); });
  return n;
}
template <class V>
NW_HD NW_INLINE void on_store(V& v, uint32_t who, uint32_t warp, LineAddr line, uint32_t now) {
  each(v, who, [&](auto& o) { NW_HOOKS(o)::on_store(o, warp, line, now); });
}
template <class V>
NW_HD NW_INLINE void on_line(V& v, uint32_t who, uint32_t warp, LineAddr virtual_line,
                             LineAddr line, LineUse use) {
  each(v, who, [&](auto& o) { NW_HOOKS(o)::on_line(o, warp, virtual_line, line, use); });
}
template <class V>
NW_HD NW_INLINE void on_access_end(V& v, uint32_t who, uint32_t warp) {
  each(v, who, [&](auto& o) { NW_HOOKS(o)::on_access_end(o, warp); });
}
template <class V>
NW_HD NW_INLINE void on_store_ack(V& v, uint32_t now) {
  each(v, v.s.awaits_stores, [&](auto& o) { NW_HOOKS(o)::on_store_ack(o, now); });
}
template <class V>
NW_HD NW_APART void on_walk(V& v, uint32_t walker, uint32_t now) {
  each_placer(v, [&](auto& o) { NW_HOOKS(o)::on_walk(o, walker, now); });
}
template <class V>
NW_HD NW_APART bool on_walked(V& v, uint32_t walker, uint32_t now) {
  bool there = true;
  each_placer(v, [&](auto& o) {
    if (there) there = NW_HOOKS(o)::on_walked(o, walker, now);
  });
  return there;
}
template <class V>
NW_HD NW_APART void send_for_walk(V& v, uint32_t walker, uint32_t now) {
  each_placer(v, [&](auto& o) { NW_HOOKS(o)::send_for_walk(o, walker, now); });
}
template <class V>
NW_HD NW_APART bool on_walk_packet(V& v, const Packet& p, uint32_t now) {
  bool ends = false;
  each_placer(v, [&](auto& o) { ends |= NW_HOOKS(o)::on_walk_packet(o, p, now); });
  return ends;
}
template <class V>
NW_HD NW_INLINE Tick accept_tick(V& v, const Packet& p) {
  Tick t = 0;
  owner(v, p.kind, [&](auto& o) { t = NW_HOOKS(o)::accept_tick(o, p); });
  return t;
}
template <class V>
NW_HD NW_APART void on_packet(V& v, const Packet& p, uint32_t now) {
  owner(v, p.kind, [&](auto& o) { NW_HOOKS(o)::on_packet(o, p, now); });
}
template <class V>
NW_HD NW_APART void on_own_store_ack(V& v, const Packet& p, uint32_t now) {
  each(v, v.s.own_channels, [&](auto& o) { NW_HOOKS(o)::on_own_store_ack(o, p, now); });
}
template <class V>
NW_HD NW_APART Tick own_arrival(V& v, bool& poll) {
  Tick t = kNever;
  each(v, v.s.own_channels, [&](auto& o) { t = min_tick(t, NW_HOOKS(o)::own_arrival(o, poll)); });
  return t;
}
template <class V>
NW_HD NW_APART void end_cycle(V& v, uint32_t now) {
  each(v, v.s.own_channels, [&](auto& o) { NW_HOOKS(o)::step(o, CyclePart::kEnd, now); });
}
template <class V>
NW_HD NW_APART void take_own(V& v, uint32_t now) {
  each(v, v.s.own_channels, [&](auto& o) { NW_HOOKS(o)::step(o, CyclePart::kBegin, now); });
}
template <class V>
NW_HD NW_INLINE void use_network(V& v, uint32_t now) {
  each(v, v.s.wants_network, [&](auto& o) { NW_HOOKS(o)::use_network(o, now); });
}
template <class V>
NW_HD NW_INLINE void use_control(V& v, uint32_t now) {
  each(v, v.s.wants_control, [&](auto& o) { NW_HOOKS(o)::use_control(o, now); });
}
template <class V>
NW_HD NW_INLINE bool control_ready(V& v) {
  bool ready = false;
  each(v, v.s.wants_control, [&](auto& o) { ready |= NW_HOOKS(o)::control_ready(o); });
  return ready;
}
#undef NW_HOOKS

}  // namespace hooks

}  // namespace nearwarp::sm
