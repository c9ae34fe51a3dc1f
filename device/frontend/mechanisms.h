// How mechanisms attach to the front end. As on an SM (device/sm/mechanisms.h), a mechanism has a
// type for that, OnFrontEnd, which is derived from frontend::Hooks and has a State and Params.
#pragma once

#include "device/frontend/front_end_state.h"
#include "device/sm/mechanisms.h"

namespace nearwarp::frontend {

/// Default hooks, which do nothing. o.v is the front end; o.s, o.p and o.bit are as on an SM.
struct Hooks {
  /// An SM has sent a packet whose kind the mechanism owns.
  template <class O>
  NW_HD static void on_message(O&, const Packet&, SmId /*sm*/, Tick /*now*/) {}
  /// Monitor `k` has sent a packet whose kind the mechanism owns.
  template <class O>
  NW_HD static void on_monitor(O&, uint32_t /*k*/, const Packet&) {}
  /// Called in every cycle in which the front end is awake, after all messages have been taken.
  template <class O>
  NW_HD static void step(O&, Tick /*now*/) {}
  /// The tick at which step() must be called even if no message arrives.
  template <class O>
  NW_HD static Tick next(const O&) {
    return kNever;
  }
};

/// Mechanism M on the front end.
template <class V, class M>
struct On : MechanismAt<V, M, typename M::OnFrontEnd> {
  NW_HD On(V& view, uint32_t n)
      : MechanismAt<V, M, typename M::OnFrontEnd>(view, n, view.s.mechanism_state[n],
                                                  view.s.mechanism_params[n]) {}
};

namespace hooks {

struct Place {
  template <class V, class M>
  static constexpr bool has() {
    return requires { typename M::OnFrontEnd; };
  }
  template <class V, class M>
  using At = On<V, M>;
};
/// f(On<V, M>) for each mechanism that is attached.
template <class V, class F>
NW_HD NW_INLINE void each(V& v, F&& f) {
  if (v.s.attached != 0) each_mechanism<Place>(typename V::Mechanisms(), v, v.s.attached, f);
}
/// Call f for the attached mechanism that owns the packet's kind; false if there is none.
template <class V, class F>
NW_HD NW_INLINE bool owner(V& v, PacketKind kind, F&& f) {
  bool found = false;
  each(v, [&](auto& o) {
    if (!owns(o, kind)) return;
    found = true;
    f(o);
  });
  return found;
}

#define NW_HOOKS(o) std::remove_reference_t<decltype(o)>::Hooks

template <class V>
NW_HD NW_INLINE bool on_message(V& v, const Packet& m, SmId sm, Tick now) {
  return owner(v, m.kind, [&](auto& o) { NW_HOOKS(o)::on_message(o, m, sm, now); });
}
template <class V>
NW_HD NW_INLINE bool on_monitor(V& v, uint32_t k, const Packet& m) {
  return owner(v, m.kind, [&](auto& o) { NW_HOOKS(o)::on_monitor(o, k, m); });
}
template <class V>
NW_HD NW_INLINE void step(V& v, Tick now) {
  each(v, [&](auto& o) { NW_HOOKS(o)::step(o, now); });
}
template <class V>
NW_HD NW_INLINE Tick next(V& v) {
  Tick t = kNever;
  each(v, [&](auto& o) { t = min_tick(t, NW_HOOKS(o)::next(o)); });
  return t;
}

#undef NW_HOOKS

}  // namespace hooks

// --- services of the front end for mechanisms ---

/// Queue a message for an SM. It waits in the SM's outbox until the control channel takes it.
template <class V>
NW_HD inline void post(V& v, SmId sm, PacketKind kind, uint32_t tag) {
  Outbox& o = v.s.outbox.in(v.base)[number_of(sm)];
  NW_ASSERT(o.count < v.p.outbox_entries);
  uint32_t at = o.head + o.count;
  if (at >= v.p.outbox_entries) at -= v.p.outbox_entries;
  Outgoing& out = v.s.outgoing.in(v.base)[number_of(sm) * v.p.outbox_entries + at];
  out.kind = kind;
  out.tag = tag;
  o.count += 1;
  v.s.outgoing_total += 1;
}

/// Send a new status word to all SMs, by packets of FrontEndParams::word_kind. An SM that was last
/// told the same word gets no packet.
template <class V>
NW_HD inline void tell_all(V& v, uint32_t word) {
  v.s.word = word;
  for (uint32_t i = 0; i < v.p.num_sms; ++i) {
    Outbox& o = v.s.outbox.in(v.base)[i];
    const bool changed = o.told != word;
    v.s.sms_to_tell += (changed ? 1u : 0u) - (o.word_changed ? 1u : 0u);
    o.word_changed = changed;
  }
}

}  // namespace nearwarp::frontend
