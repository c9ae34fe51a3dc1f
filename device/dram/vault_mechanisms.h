// The part of a vault's cycle that mechanisms at it have (device/core/mechanisms.h). A vault takes
// in one request a cycle, from the network and from mechanisms in turns. Replies of mechanisms
// leave through the vault's exits, in one order with its own. A reply's payload is the vault's.
#pragma once

#include "device/dram/vault_refresh.h"

namespace nearwarp::vault {

/// Where a mechanism has its hooks at vaults: in its type OnVault.
struct Place {
  template <class M>
  static constexpr bool kHas = requires {
    typename M::OnVault;
  };
  template <class M>
  using HooksOf = typename M::OnVault;
};
template <class List>
using View = ComponentView<List, Place, VaultParams, VaultState>;

}  // namespace nearwarp::vault

namespace nearwarp::vault_detail {

/// The mechanisms that have a request for which the queue has room, as
/// memory_hooks::contender_bit() says.
template <class V>
NW_HD NW_INLINE uint32_t requests_with_room(V& v) {
  uint32_t all = memory_hooks::with_requests(v);
  for (uint32_t left = all; left != 0; left &= left - 1) {
    const uint32_t contender = count_trailing_zeros(left);
    if (!has_room(v.p, v.s, memory_hooks::next_request(v, contender - 1)))
      all &= ~(1u << contender);
  }
  return all;
}

/// The first cycle, `from` or later, in which a mechanism may do something; or kNoEvent.
template <class V>
NW_HD NW_CALLED uint64_t next_of_mechanisms(V& v, uint64_t from) {
  if (requests_with_room(v) != 0) return from;
  if (v.s.full_exits == 0 && memory_hooks::with_replies(v) != 0) return from;
  const Tick next = memory_hooks::next(v, from * v.p.period);
  if (next >= kNever) return kNoEvent;
  const uint64_t cycle = cycle_at_or_after(next, v.p.period);
  return cycle < from ? from : cycle;
}

/// Queue a reply of a mechanism, which leaves in the next cycle at the earliest. Returns false if
/// there is none, or no room for it.
template <class V>
NW_HD NW_CALLED bool reply_for_mechanism(V& v, Tick now) {
  const uint32_t wanted = memory_hooks::with_replies(v);
  if (wanted == 0 || v.s.full_exits != 0) return false;
  v.s.last_reply = memory_hooks::next_contender(wanted, v.s.last_reply);
  const Packet reply = memory_hooks::take_reply(v, v.s.last_reply - 1, now);
  VaultEntry x;
  x.arrived = now;
  x.line = reply.line;
  x.tag = reply.tag;
  x.sectors = reply.sectors;
  x.src = reply.dst;
  push_reply(v.p, v.s, v.base, x,
             {reply.kind, reply.bytes, now + max_tick(v.p.period, v.p.reply_lead_ticks)});
  return true;
}

/// After a column command: tell a mechanism if it was its request that the command served.
template <class V>
NW_HD NW_INLINE void tell_mechanism(V& v, Tick now) {
  const uint64_t done = v.s.own & ~v.s.valid;
  if (done == 0) return;
  v.s.own &= ~done;
  const VaultEntry& x = v.s.entries.in(v.base)[count_trailing_zeros(done)];
  const Tick more = Tick{v.p.fixed_latency_cycles} * v.p.period;
  if (x.kind == static_cast<uint8_t>(PacketKind::kWrite)) {
    memory_hooks::on_written(v, x.tag, now + more);
  } else {
    memory_hooks::on_data(v, x.tag, v.s.bus_free[x.bank >> v.p.bus_shift] + more);
  }
}

/// Take the packet at the head of the network's channel, or show it to the mechanism that it is
/// for. Returns false if it stays and has not used the cycle.
template <class V>
NW_HD NW_INLINE bool take_others(V& v, Tick now) {
  Channel& in = *v.s.in.in(v.base);
  const Packet request = front(in, v.base);
  PacketTaken taken = PacketTaken::kYes;
  if (memory_hooks::take_packet(v, request, now, taken)) {
    if (taken != PacketTaken::kYes) return taken == PacketTaken::kPartly;
    v.s.counters.requests_in += 1;
    pop(in, v.base, now, v.horizon);
    return true;
  }
  accept(v.p, v.s, v.base, now, v.horizon);
  if (v.s.fault.code == kFaultNone) memory_hooks::on_request(v, request, now);
  return true;
}

/// Take the next request of mechanism `number`, for which the queue has room.
template <class V>
NW_HD NW_INLINE void take_own(V& v, uint32_t number, Tick now) {
  const Packet request = memory_hooks::next_request(v, number);
  VaultState& s = v.s;
  const bool read = request.kind == PacketKind::kRead;
  (read ? s.counters.reads : s.counters.writes) += 1;
  const BankLocation at = locate(v.p, s, v.base, request.line);
  if (read && v.p.forward_writes != 0 && is_written(v.p, s, v.base, request, at.bank)) {
    s.counters.forwarded_reads += 1;
    memory_hooks::on_taken(v, number, now, now + v.p.period);
    return;
  }
  const uint32_t e = enter(v.p, s, v.base, request, at, now);
  s.entries.in(v.base)[e].silent = 1;
  s.own |= uint64_t{1} << e;
  memory_hooks::on_taken(v, number, now, kNever);
}

/// Take in one request, of the network (`arrived`: there is one, and room for it) or of a
/// mechanism. Returns whether there was one.
template <class V>
NW_HD NW_CALLED bool take_with_mechanisms(V& v, bool arrived, uint64_t cycle, Tick now) {
  uint32_t left = requests_with_room(v) | (arrived ? memory_hooks::kNetwork : 0);
  if (left != 0 && v.s.valid == 0) catch_up_refreshes(v.p, v.s, v.base, cycle);
  bool done = false;
  while (left != 0 && !done) {
    const uint32_t contender = memory_hooks::next_contender(left, v.s.last_taken);
    left &= ~(1u << contender);
    done = contender != 0 || take_others(v, now);
    if (done && contender != 0) take_own(v, contender - 1, now);
    if (done) v.s.last_taken = contender;
  }
  return done;
}

}  // namespace nearwarp::vault_detail
