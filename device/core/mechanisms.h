// Lists of mechanisms, and how a mechanism attaches to where memory is: an L2 slice or a vault.
//
// A mechanism with a type OnL2Slice has hooks at L2 slices, one with a type OnVault at vaults; what
// has no such type costs nothing there. Both are derived from MemoryHooks, have
//   using State    what it keeps at the component, in the arena;
//   using Params   what it is told, in the arena;
// and hide those of the hooks that they need. Models know no mechanism: they are compiled with a
// list of them, the family's, and which of these are attached to a component is data (Attachments).
//
// A hook is a static function whose first parameter is the mechanism at the component at hand: o.v
// is the component's view (o.v.p its parameters, o.v.s its state, o.v.base the arena), o.s the
// mechanism's State, o.p its Params.
#pragma once

#include <type_traits>

#include "device/core/bits.h"
#include "device/core/channel.h"
#include "device/core/packet.h"
#include "device/core/types.h"

namespace nearwarp {

inline constexpr uint32_t kMaxMechanisms = 8;

/// The mechanisms of a family, by number.
template <class... M>
struct MechanismList {
  static_assert(sizeof...(M) <= kMaxMechanisms);
};
using NoMechanisms = MechanismList<>;

/// The mechanisms at a component.
struct Attachments {
  uint32_t state[kMaxMechanisms] = {}, params[kMaxMechanisms] = {};  ///< offsets, by number
  uint32_t bits = 0;                                                 ///< numbers
};

/// A mechanism at a component, the first parameter of its hooks. V: the component's view, which has
/// the arena's `base`.
template <class V, class M, class HooksThere, class StateThere = typename HooksThere::State>
struct MechanismAt {
  using Mechanism = M;
  using Hooks = HooksThere;

  V& v;
  StateThere& s;
  const typename Hooks::Params& p;
  uint32_t number;
  uint32_t bit;  ///< 1 << number

  NW_HD MechanismAt(V& view, uint32_t n, uint32_t state, uint32_t params)
      : v(view),
        s(*reinterpret_cast<StateThere*>(view.base + state)),
        p(*reinterpret_cast<const typename Hooks::Params*>(view.base + params)),
        number(n),
        bit(1u << n) {}
};

/// f(Place::At<V, M>) for each mechanism of the list that is in `who` and has hooks at a component
/// like this one: Place::has<V, M>().
template <class Place, class V, class F, class... M>
NW_HD NW_INLINE void each_mechanism(MechanismList<M...>, V& v, uint32_t who, F&& f) {
  uint32_t number = 0;
  [[maybe_unused]] const auto one = [&](auto* m) {
    using Mechanism = std::remove_pointer_t<decltype(m)>;
    static_assert(sizeof(Mechanism) != 0, "its device code has to be included");
    if constexpr (Place::template has<V, Mechanism>()) {
      if ((who >> number & 1) != 0) {
        typename Place::template At<V, Mechanism> o(v, number);
        f(o);
      }
    }
    number += 1;
  };
  (one(static_cast<M*>(nullptr)), ...);
}
/// Is the packet one of the mechanism's own?
template <class O>
NW_HD constexpr bool owns(const O&, PacketKind kind) {
  return O::Mechanism::kPacketBlock == block_of(kind);
}

/// The fate of a packet that a mechanism was shown.
enum class PacketTaken : uint8_t {
  kNo,      ///< nothing: it stays, and is shown again
  kPartly,  ///< it stays, and this cycle has been used for it
  kYes,
};

/// The hooks, doing nothing. One request is taken in a cycle, the network's and those of mechanisms
/// in turns; so are replies.
struct MemoryHooks {
  /// Is it shown what others want (on_request)?
  static constexpr bool kSeesRequests = false;

  /// In every cycle in which the component is awake, be it for nothing, before anything is sent; at
  /// a vault, behind the reply of its own that leaves in this cycle.
  template <class O>
  NW_HD static void step(O&, Tick /*now*/) {}
  /// When step() has something to do, `from` or later.
  template <class O>
  NW_HD static Tick next(const O&, Tick /*from*/) {
    return kNever;
  }

  // --- requests of its own, kRead and kWrite ---

  template <class O>
  NW_HD static bool has_request(const O&) {
    return false;
  }
  /// Kind, line, sectors, payload and tag, which is less than kOwnTags; all else is filled in.
  template <class O>
  NW_HD static Packet next_request(const O&) {
    return {};
  }
  /// next_request() has been taken. `due`: when its data is there, or it is written; kNever: not
  /// known yet, on_data() or on_written() will tell.
  template <class O>
  NW_HD static void on_taken(O&, Tick /*now*/, Tick /*due*/) {}
  /// The data of request `tag` is there at `due`.
  template <class O>
  NW_HD static void on_data(O&, uint32_t /*tag*/, Tick /*due*/) {}
  /// Memory has the write `tag` at `due`.
  template <class O>
  NW_HD static void on_written(O&, uint32_t /*tag*/, Tick /*due*/) {}

  // --- packets of others ---

  /// A packet of its own block stands at the network's head; at a vault, where the queue would also
  /// have room for a read.
  template <class O>
  NW_HD static PacketTaken take_packet(O&, const Packet&, Tick /*now*/) {
    return PacketTaken::kYes;
  }
  /// A request of the network has been taken that is of no mechanism.
  template <class O>
  NW_HD static void on_request(O&, const Packet&, Tick /*now*/) {}

  // --- replies ---

  template <class O>
  NW_HD static bool has_reply(const O&) {
    return false;
  }
  /// Kind, dst, tag and bytes, and what else it says; the component is filled in as its source.
  template <class O>
  NW_HD static Packet take_reply(O&, Tick /*now*/) {
    return {};
  }
};

/// Tags of mechanisms' own requests are less.
inline constexpr uint32_t kOwnTags = 1u << 24;

/// The view of an L2 slice, a vault or a link port during one step, for hooks. `List`: the
/// MechanismList of its family; `Place`: which hooks are those there (kHas, HooksOf).
template <class List, class Place, class Params, class State>
struct ComponentView {
  using Mechanisms = List;
  template <class M>
  static constexpr bool kHasHooks = sizeof(M) != 0 && Place::template kHas<M>;
  template <class M>
  using HooksOf = typename Place::template HooksOf<M>;

  const Params& p;
  State& s;
  std::byte* base;
  Horizon& horizon;
};

/// Mechanism M at such a component, of which V is the view.
template <class V, class M>
struct AtMemory : MechanismAt<V, M, typename V::template HooksOf<M>> {
  NW_HD AtMemory(V& view, uint32_t n)
      : MechanismAt<V, M, typename V::template HooksOf<M>>(view, n, view.s.attached.state[n],
                                                           view.s.attached.params[n]) {}
};

/// The request of mechanism `number` by its tag: never 0, which is the component's own.
NW_HD constexpr uint32_t own_tag(uint32_t number, uint32_t tag) {
  return (number + 1) * kOwnTags | tag;
}
NW_HD constexpr uint32_t owner_of_tag(uint32_t own) { return own / kOwnTags - 1; }
NW_HD constexpr uint32_t tag_of_owner(uint32_t own) { return own % kOwnTags; }
/// Is it a tag of a mechanism that is attached?
NW_HD constexpr bool is_of_mechanism(const Attachments& attached, uint32_t own) {
  return own >= kOwnTags && owner_of_tag(own) < kMaxMechanisms &&
         (attached.bits >> owner_of_tag(own) & 1) != 0;
}

namespace memory_hooks {

/// Has a mechanism of the list hooks at components of which V is the view?
template <class V, class... M>
constexpr bool any(MechanismList<M...>) {
  return (V::template kHasHooks<M> || ...);
}

/// Is one of them shown what others want there?
template <class V, class M>
constexpr bool sees_requests() {
  if constexpr (V::template kHasHooks<M>) return V::template HooksOf<M>::kSeesRequests;
  return false;
}
template <class V, class... M>
constexpr bool see_requests(MechanismList<M...>) {
  return (sees_requests<V, M>() || ...);
}

/// Components with a ComponentView, for each_mechanism().
struct Place {
  template <class V, class M>
  static constexpr bool has() {
    return V::template kHasHooks<M>;
  }
  template <class V, class M>
  using At = AtMemory<V, M>;
};
/// f(AtMemory) for each mechanism that is attached.
template <class V, class F>
NW_HD NW_INLINE void each(V& v, F&& f) {
  each_mechanism<Place>(typename V::Mechanisms(), v, v.s.attached.bits, f);
}
/// f(AtMemory) for mechanism `number`.
template <class V, class F>
NW_HD NW_INLINE void one(V& v, uint32_t number, F&& f) {
  each_mechanism<Place>(typename V::Mechanisms(), v, 1u << number, f);
}
/// f(AtMemory) for the one whose packet this is; is there one?
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

/// Contenders for a component's next look-up or reply, as bits: bit 0 is the network (for replies,
/// the component itself), bit number + 1 a mechanism. They are arbitrated round robin.
inline constexpr uint32_t kNetwork = 1;
NW_HD constexpr uint32_t contender_bit(uint32_t number) { return 2u << number; }
/// The next of the contenders `wanted` after contender `last`; `wanted` must not be 0.
NW_HD NW_INLINE uint32_t next_contender(uint32_t wanted, uint32_t last) {
  const uint32_t after = wanted & ~((2u << last) - 1);
  return count_trailing_zeros(after != 0 ? after : wanted);
}
/// The last winner before the first arbitration.
inline constexpr uint32_t kNoContender = 31;

#define NW_HOOKS(o) std::remove_reference_t<decltype(o)>::Hooks

template <class V>
NW_HD NW_INLINE void step(V& v, Tick now) {
  each(v, [&](auto& o) { NW_HOOKS(o)::step(o, now); });
}
template <class V>
NW_HD NW_INLINE uint32_t with_requests(V& v) {
  uint32_t wanted = 0;
  each(v, [&](auto& o) { wanted |= NW_HOOKS(o)::has_request(o) ? contender_bit(o.number) : 0; });
  return wanted;
}
template <class V>
NW_HD NW_INLINE uint32_t with_replies(V& v) {
  uint32_t wanted = 0;
  each(v, [&](auto& o) { wanted |= NW_HOOKS(o)::has_reply(o) ? contender_bit(o.number) : 0; });
  return wanted;
}
template <class V>
NW_HD NW_INLINE Packet next_request(V& v, uint32_t number) {
  Packet request;
  one(v, number, [&](auto& o) { request = NW_HOOKS(o)::next_request(o); });
  NW_ASSERT(request.tag < kOwnTags);
  request.tag = own_tag(number, request.tag);
  request.src = request.dst = v.p.endpoint;
  return request;
}
template <class V>
NW_HD NW_INLINE void on_taken(V& v, uint32_t number, Tick now, Tick due) {
  one(v, number, [&](auto& o) { NW_HOOKS(o)::on_taken(o, now, due); });
}
template <class V>
NW_HD NW_INLINE void on_data(V& v, uint32_t own, Tick due) {
  one(v, owner_of_tag(own), [&](auto& o) { NW_HOOKS(o)::on_data(o, tag_of_owner(own), due); });
}
template <class V>
NW_HD NW_INLINE void on_written(V& v, uint32_t own, Tick due) {
  one(v, owner_of_tag(own), [&](auto& o) { NW_HOOKS(o)::on_written(o, tag_of_owner(own), due); });
}
/// Returns false if no attached mechanism owns the packet's kind.
template <class V>
NW_HD NW_INLINE bool take_packet(V& v, const Packet& packet, Tick now, PacketTaken& taken) {
  return owner(v, packet.kind, [&](auto& o) { taken = NW_HOOKS(o)::take_packet(o, packet, now); });
}
template <class V>
NW_HD NW_INLINE void on_request(V& v, const Packet& packet, Tick now) {
  each(v, [&](auto& o) {
    if constexpr (NW_HOOKS(o)::kSeesRequests) NW_HOOKS(o)::on_request(o, packet, now);
  });
}
template <class V>
NW_HD NW_INLINE Packet take_reply(V& v, uint32_t number, Tick now) {
  Packet reply;
  one(v, number, [&](auto& o) { reply = NW_HOOKS(o)::take_reply(o, now); });
  reply.src = v.p.endpoint;
  return reply;
}
template <class V>
NW_HD NW_INLINE Tick next(V& v, Tick from) {
  Tick t = kNever;
  each(v, [&](auto& o) { t = min_tick(t, NW_HOOKS(o)::next(o, from)); });
  return t;
}

#undef NW_HOOKS

}  // namespace memory_hooks

}  // namespace nearwarp
