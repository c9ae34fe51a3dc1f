// Mechanisms at the GPU's end of a stack's off-chip link (device/core/mechanisms.h says how they
// attach): they see what passes the link, have it wait, take it out and send packets of their own,
// which leave by the port's ways out as the packets of others do.
//
// A mechanism has a type OnLink, derived from LinkHooks. A port to which one is attached is stepped
// cycle by cycle, in cycles in which something may happen.
#pragma once

#include "device/link/link_port_state.h"
#include "device/noc/switch.h"

namespace nearwarp {

enum class LinkWay : uint8_t { kToStack, kFromStack };

/// The fate of a packet that a mechanism was shown.
enum class LinkPassage : uint8_t {
  kPasses,  ///< it goes on in this cycle; the mechanism is not shown it again
  kWaits,   ///< it stays, and those behind it: it is shown again. Nothing else may have changed.
  kTaken,   ///< the mechanism has it, and its port is busy as if it had passed
};

/// The hooks, doing nothing.
struct LinkHooks {
  /// In every cycle in which the port is awake, be it for nothing, before anything moves.
  template <class O>
  NW_HD static void step(O&, Tick /*now*/) {}
  /// When step() has something to do, or a packet that waits is to be shown again: `from` or later.
  template <class O>
  NW_HD static Tick next(const O&, Tick /*from*/) {
    return kNever;
  }
  /// A packet stands at the head of an input whose port is free, and has come over the link or is
  /// to go over it.
  template <class O>
  NW_HD static LinkPassage on_packet(O&, const Packet&, LinkWay, Tick /*now*/) {
    return LinkPassage::kPasses;
  }
  /// Has it a packet to send? It leaves by the way to its `dst`, over the link or into the GPU;
  /// with packets of others that wait for the same way out it takes turns.
  template <class O>
  NW_HD static bool has_packet(const O&) {
    return false;
  }
  template <class O>
  NW_HD static Packet next_packet(const O&) {
    return {};
  }
  /// next_packet() has left.
  template <class O>
  NW_HD static void on_sent(O&, Tick /*now*/) {}
};

namespace link {

/// Hooks at a link port: a type OnLink.
struct Place {
  template <class M>
  static constexpr bool kHas = requires {
    typename M::OnLink;
  };
  template <class M>
  using HooksOf = typename M::OnLink;
};
template <class List>
using View = ComponentView<List, Place, LinkPortParams, LinkPortState>;

}  // namespace link

namespace link_detail {

#define NW_HOOKS(o) std::remove_reference_t<decltype(o)>::Hooks

/// When a port with mechanisms goes on, as far as is known.
struct LinkWake {
  Tick tick = kNever;
  bool poll = false;  ///< a credit is waited for that is not known yet
};

/// The output of a packet; kNoRoute if there is no way.
template <class V>
NW_HD NW_INLINE uint16_t output_of(const V& v, const Packet& packet) {
  const uint32_t row = is_reply(packet.kind) ? v.p.ports.endpoints : 0;
  const uint32_t to = node_of(packet.dst);
  return to < v.p.ports.endpoints ? v.s.ports.routes.in(v.base)[row + to] : kNoRoute;
}
/// Does the packet at the head of an input go over the link? `way`: how.
template <class V>
NW_HD NW_INLINE bool goes_over_link(const V& v, const SwitchInput& in, const Packet& packet,
                                    LinkWay& way) {
  way = in.channel.offset == v.s.rx.offset ? LinkWay::kFromStack : LinkWay::kToStack;
  if (way == LinkWay::kFromStack) return true;
  const uint16_t output = output_of(v, packet);
  return output != kNoRoute && v.s.ports.outputs.in(v.base)[output].channel.offset == v.s.tx.offset;
}

/// Show the head of input `i` to those that have not let it pass.
template <class V>
NW_HD NW_CALLED LinkPassage show(V& v, uint32_t i, LinkWay way, Tick now) {
  const Packet packet = slot_at(v.base, v.s.ports.inputs.in(v.base)[i].head_slot).packet;
  uint8_t& passed = v.s.passed_by.in(v.base)[i];
  LinkPassage all = LinkPassage::kPasses;
  memory_hooks::each(v, [&](auto& o) {
    if (all != LinkPassage::kPasses || (passed & o.bit) != 0) return;
    all = NW_HOOKS(o)::on_packet(o, packet, way, now);
    if (all == LinkPassage::kPasses) passed = static_cast<uint8_t>(passed | o.bit);
  });
  if (all != LinkPassage::kWaits) passed = 0;
  return all;
}

/// A mechanism has the head of input `i`, which has come through its port.
template <class V>
NW_HD NW_CALLED void take_head(V& v, uint32_t i, uint64_t cycle) {
  SwitchInput& in = v.s.ports.inputs.in(v.base)[i];
  Channel& from = *in.channel.in(v.base);
  const uint32_t bytes = front(from, v.base).bytes, flit = v.p.ports.flit_bytes;
  const uint32_t flits = bytes == 0 ? 1 : (bytes + flit - 1) / flit;
  v.s.ports.in_ports.in(v.base)[in.port].free_from = cycle + flits;
  pop(from, v.base, cycle * v.p.ports.period, v.horizon);
  in.head_slot = from.consumer_side.head;
}

/// Show the heads that have come; those that do not go on are none of `coming` any more.
template <class V>
NW_HD NW_INLINE void show_heads(V& v, switch_detail::SwitchHeads& coming, uint64_t cycle,
                                LinkWake& wake) {
  const Tick now = cycle * v.p.ports.period;
  for (uint32_t w = 0; w < kSwitchInputWords; ++w) {
    for (uint64_t bits = coming.inputs[w]; bits != 0; bits &= bits - 1) {
      const uint32_t at = count_trailing_zeros(bits), i = w * 64 + at;
      const SwitchInput& in = v.s.ports.inputs.in(v.base)[i];
      if (v.s.ports.in_ports.in(v.base)[in.port].free_from > cycle) continue;
      LinkWay way;
      if (!goes_over_link(v, in, slot_at(v.base, in.head_slot).packet, way)) continue;
      const LinkPassage passage = show(v, i, way, now);
      if (passage == LinkPassage::kPasses) continue;
      coming.inputs[w] &= ~(uint64_t{1} << at);
      if (passage != LinkPassage::kTaken) continue;
      take_head(v, i, cycle);
      wake.tick = min_tick(wake.tick, now + v.p.ports.period);
    }
  }
}

/// The mechanisms that have a packet to send, as memory_hooks::contender_bit() says.
template <class V>
NW_HD NW_INLINE uint32_t with_packets(V& v) {
  uint32_t wanted = 0;
  memory_hooks::each(v, [&](auto& o) {
    wanted |= NW_HOOKS(o)::has_packet(o) ? memory_hooks::contender_bit(o.number) : 0;
  });
  return wanted;
}

/// The next packet of mechanism `number` leaves, if its way out is free and has a credit, and is
/// not among the output ports `passed_on`, where others have this turn.
template <class V>
NW_HD NW_INLINE bool send_own(V& v, uint32_t number, uint64_t cycle, uint64_t& passed_on) {
  SwitchState& s = v.s.ports;
  const Tick now = cycle * v.p.ports.period;
  Packet packet;
  memory_hooks::one(v, number, [&](auto& o) { packet = NW_HOOKS(o)::next_packet(o); });
  const uint16_t output = output_of(v, packet);
  if (output == kNoRoute) {
    record_fault(s.fault, kFaultNoRoute, v.p.ports.component, now);
    return false;
  }
  SwitchOutput& out = s.outputs.in(v.base)[output];
  const uint64_t port = uint64_t{1} << out.port;
  if (s.out_ports.in(v.base)[out.port].free_from > cycle ||
      credit_tick(*out.channel.in(v.base), v.base) > now)
    return false;
  if ((v.s.sent_last & s.active_ports & port) != 0) {
    v.s.sent_last &= ~port;
    passed_on |= port;
  }
  if ((passed_on & port) != 0) return false;
  switch_detail::depart(v.p.ports, s, v.base, {out, packet, cycle}, v.horizon);
  v.s.sent_last |= port;
  memory_hooks::one(v, number, [&](auto& o) { NW_HOOKS(o)::on_sent(o, now); });
  return true;
}

/// When mechanisms that have packets can send them, behind `cycle`.
template <class V>
NW_HD NW_INLINE void wake_to_send(V& v, uint64_t cycle, LinkWake& wake) {
  const Tick period = v.p.ports.period, from = (cycle + 1) * period;
  memory_hooks::each(v, [&](auto& o) {
    if (!NW_HOOKS(o)::has_packet(o)) return;
    const uint16_t output = output_of(v, NW_HOOKS(o)::next_packet(o));
    if (output == kNoRoute) return;
    const SwitchOutput& out = v.s.ports.outputs.in(v.base)[output];
    const Tick credit = credit_tick(*out.channel.in(v.base), v.base),
               free = v.s.ports.out_ports.in(v.base)[out.port].free_from * period;
    wake.poll |= credit >= kNever;
    wake.tick = min_tick(wake.tick, max_tick(max_tick(credit, free), from));
  });
}

/// One cycle.
template <class V>
NW_HD NW_CALLED LinkWake step_cycle(V& v, uint64_t cycle) {
  const Tick now = cycle * v.p.ports.period;
  memory_hooks::each(v, [&](auto& o) { NW_HOOKS(o)::step(o, now); });
  uint64_t passed_on = 0;
  for (uint32_t left = with_packets(v); left != 0;) {
    const uint32_t contender = memory_hooks::next_contender(left, v.s.last_sent);
    left &= ~(1u << contender);
    if (send_own(v, contender - 1, cycle, passed_on)) v.s.last_sent = contender;
  }
  const Window window{now, now + 1};
  LinkWake wake;
  switch_detail::SwitchHeads coming =
      switch_detail::find_heads(v.s.ports, v.base, window, v.horizon);
  show_heads(v, coming, cycle, wake);
  const StepResult others = result_of(
      switch_detail::Switch<true>(v.p.ports, v.s.ports, v.base, window, v.horizon).run(coming));
  wake.tick = min_tick(wake.tick, others.wake);
  wake.poll |= others.poll;
  memory_hooks::each(
      v, [&](auto& o) { wake.tick = min_tick(wake.tick, NW_HOOKS(o)::next(o, now + 1)); });
  wake_to_send(v, cycle, wake);
  return wake;
}

/// The switch's part of a step, with mechanisms.
template <class List>
NW_HD NW_CALLED StepResult step_with_mechanisms(const LinkPortParams& p, LinkPortState& s,
                                                std::byte* base, const Window& window,
                                                Horizon& horizon) {
  link::View<List> v{p, s, base, horizon};
  const Tick period = p.ports.period;
  LinkWake wake{window.begin, false};
  while (wake.tick < window.end) {
    const uint64_t cycle = cycle_at_or_after(wake.tick, period);
    if (cycle * period >= window.end) {
      wake.tick = cycle * period;
      break;
    }
    wake = step_cycle(v, cycle);
  }
  return {max_tick(wake.tick, window.end), wake.poll};
}

#undef NW_HOOKS

}  // namespace link_detail

}  // namespace nearwarp
