// The service queue of an SM: chains of other SMs whose data meets here (OC, section 4.3, and
// scenario 2 of section 4.4.2).
//
// Chains go through these sets, each in order of arrival: to_ask (reads of its operands leave for
// their slices), waiting for them, came (operands that the port of shared memory has not written
// yet), ready (all of its operands are there), reading (it has a place in the buffer, and is read
// from shared memory), waiting for that, to_compute, computing, to_write (its result leaves for its
// slice), waiting for memory, to_reply. A chain of several instructions goes through to_compute and
// computing with each, where it uses the SM's own ALU.
//
// Entries that wait for the network to take a read or a store, or for the port of shared memory to
// read an operand, wait for a turn (ServiceWait::kTurn); operands are there once they have been
// written.
//
// Nothing waits in a circle. ComputePackets are on the network of requests like the reads that they
// cause, so they must never wait for that network to have room. A packet that finds the queue full
// has its operands sent for in its SM's name, one packet at a time; the next ones go back by the
// network of replies, where all that arrives is taken. What the queue has taken in waits for
// requests to leave, which slices take, and for replies.
#pragma once

#include "device/mechanisms/opportunistic/service_queue.h"
#include "device/mechanisms/opportunistic/sm_state.h"
#include "device/sm/lsu.h"

namespace nearwarp::opportunistic {

template <class O>
NW_HD NW_INLINE SmService& service_of(const O& o) {
  return *o.s.service.in(o.v.base);
}

/// Has it something for the network of requests?
NW_HD NW_INLINE bool has_requests(const SmService& q) {
  return q.to_write.count != 0 || q.forwards || q.to_ask.count != 0;
}

namespace sm_service {

inline constexpr auto kAluUnit = static_cast<uint32_t>(sm::Unit::kSp);

/// The first cycle from which on a port of the SM's own ALUs is idle.
template <class V>
NW_HD inline uint32_t alu_idle(const V& v) {
  const uint32_t* free_at = v.s.ports[kAluUnit].free_at;
  uint32_t at = free_at[0];
  for (uint32_t i = 1; i < v.p.ports[kAluUnit]; ++i) at = free_at[i] < at ? free_at[i] : at;
  return at;
}

NW_HD inline void want_alu(SmService& q, std::byte* base, uint32_t id, uint32_t now) {
  if (q.to_compute.count == 0) q.alu_wanted = now;
  q.to_compute.push(base, id);
}

/// The result is there.
NW_HD inline void finish(SmService& q, std::byte* base, uint32_t id, uint32_t now) {
  end_wait(q, base, id, ServiceWait::kAlu, now);
  (q.entries.in(base)[id].order.stores ? q.to_write : q.to_reply).push(base, id);
}

/// Data that has been read, and results, by now.
template <class V>
NW_HD inline void advance(const V& v, SmService& q, uint32_t now) {
  const Tick tick = v.tick(now);
  while (q.arriving.count != 0 && q.arriving.front(v.base).due <= tick) {
    const uint32_t id = q.arriving.front(v.base).id;
    q.arriving.pop();
    ServiceEntry& e = q.entries.in(v.base)[id];
    e.present = static_cast<uint8_t>(e.present + 1);
    if (e.present != e.order.operands) continue;
    end_wait(q, v.base, id, ServiceWait::kRead, now);
    if (e.order.alu_cycles != 0) {
      want_alu(q, v.base, id, now);
    } else {  // a copy
      q.buffered -= 1;
      finish(q, v.base, id, now);
    }
  }
  while (q.computing.count != 0 && q.computing.front(v.base).due <= tick) {
    const uint32_t id = q.computing.front(v.base).id;
    q.computing.pop();
    const ServiceEntry& e = q.entries.in(v.base)[id];
    if (e.computed < e.order.alu_cycles) {
      want_alu(q, v.base, id, now);
    } else {
      finish(q, v.base, id, now);
    }
  }
}

/// The oldest chain that waits for it begins on the ALU, if that is idle: an instruction on the
/// SM's own one; on an ALU of the queue's own all of them, one after the other.
template <class V>
NW_HD inline void compute(const V& v, SmService& q, uint32_t now) {
  if (q.to_compute.count == 0) return;
  if (q.own_alu ? q.alu_free > v.tick(now) : alu_idle(v) > now) return;
  const uint32_t id = q.to_compute.pop(v.base);
  ServiceEntry& e = q.entries.in(v.base)[id];
  const uint32_t n = e.order.alu_cycles, latency = e.order.latency_cycles;
  uint32_t due = now;
  if (q.own_alu) {
    const uint32_t busy = n * q.alu_interval;
    q.alu_free = v.tick(now + busy);
    q.counters.alu_cycles += busy;
    due += latency + busy - n;
    e.computed = static_cast<uint8_t>(n);
  } else {
    // Instructions in a row take each its share of their latency.
    const uint32_t k = e.computed;
    q.counters.alu_cycles += 1;
    due += latency * (k + 1) / n - latency * k / n;
    e.computed = static_cast<uint8_t>(k + 1);
  }
  if (e.computed == n) q.buffered -= 1;
  q.computing.push_in_order(v.base, v.tick(due > now ? due : now + 1), id);
  q.alu_waits += now - q.alu_wanted;
  q.alu_wanted = now + 1;
}

/// The next cycle of shared memory's port, which the load-store unit shares, is the queue's if it
/// has use for it: an operand that has come is written, or one is read for the buffer.
template <class V>
NW_HD inline void use_port(V& v, SmService& q, uint32_t now) {
  if ((q.came.count == 0 && q.reading.count == 0) || v.s.lsu_busy_until > now + 1) return;
  v.s.lsu_busy_until = now + 2;
  v.s.counters.shared_accesses += 1;
  v.s.counters.shared_cycles += 1;
  if (q.came.count != 0) {
    const uint32_t id = q.came.pop(v.base);
    ServiceEntry& e = q.entries.in(v.base)[id];
    e.present = static_cast<uint8_t>(e.present + 1);
    if (e.present != e.order.operands) return;
    end_wait(q, v.base, id, ServiceWait::kOperands, now);
    q.ready.push(v.base, id);
    return;
  }
  const uint32_t id = q.reading.front(v.base);
  ServiceEntry& e = q.entries.in(v.base)[id];
  e.asked = static_cast<uint8_t>(e.asked + 1);
  if (e.asked == e.order.operands) {
    q.reading.pop(v.base);
    end_wait(q, v.base, id, ServiceWait::kTurn, now);
  }
  q.arriving.push(v.base, v.tick(now + 1 + v.p.shared_latency), id);
  q.counters.operands_read += 1;
}

/// Chains whose operands are all there take places in the buffer.
NW_HD inline void fill_buffer(SmService& q, std::byte* base, uint32_t now) {
  while (q.ready.count != 0 && q.buffered < q.buffer_entries) {
    const uint32_t id = q.ready.pop(base);
    end_wait(q, base, id, ServiceWait::kBuffer, now);
    ServiceEntry& e = q.entries.in(base)[id];
    e.buffered = true;
    e.asked = e.present = 0;
    q.reading.push(base, id);
    q.buffered += 1;
  }
}

/// A reply, or that a chain is not taken in.
template <class V>
NW_HD inline void answer(V& v, SmService& q, uint32_t now, const Packet& p) {
  send(*q.answers.in(v.base), v.base, v.tick(now), p, v.horizon);
}

/// The first chain that is done replies.
template <class V>
NW_HD inline bool reply(V& v, SmService& q, uint32_t now) {
  if (q.to_reply.count == 0 || !can_send(*q.answers.in(v.base), v.base, v.tick(now))) return false;
  Packet reply = service::take_reply(q, v.base, now);
  reply.src = v.s.endpoint;
  answer(v, q, now, reply);
  return true;
}

/// Take a ComputePacket that has come: into the queue, or to send for its operands; or send it
/// back.
template <class V>
NW_HD inline void take_packet(V& v, SmService& q, uint32_t now, bool may_answer) {
  Channel& in = *q.arrivals.in(v.base);
  const Tick tick = v.tick(now);
  if (!has_packet(in, v.base, tick)) return;
  const Packet p = front(in, v.base);
  if (q.free.any()) {
    service::accept(q, v.base, p, now);
  } else if (!q.forwards && !q.sends_back) {
    q.forwards = true;
    q.forwarded = 0;
    q.forward = p;
    q.counters.refused += 1;
  } else {
    if (!may_answer || !can_send(*q.answers.in(v.base), v.base, tick)) return;
    Packet refusal;
    refusal.kind = kComputeRefusal;
    refusal.src = v.s.endpoint;
    refusal.dst = p.src;
    refusal.tag = p.tag;
    refusal.bytes = static_cast<uint16_t>(v.p.header_bytes);
    answer(v, q, now, refusal);
    q.turned_away += 1;
  }
  pop(in, v.base, tick, v.horizon);
}

/// When it can do something by itself; `poll`: or once a credit is known.
template <class V>
NW_HD inline Tick next_event(const V& v, const SmService& q, bool& poll) {
  Tick t = kNever;
  const auto with_credit = [&](Tick from) {
    const Tick credit = send_tick(*q.answers.in(v.base), v.base);
    poll |= credit >= kNever;
    t = min_tick(t, max_tick(from, credit));
  };
  const Tick arrival = head_arrival(*q.arrivals.in(v.base), v.base);
  if (q.free.any() || (!q.forwards && !q.sends_back)) {
    t = min_tick(t, arrival);
  } else if (arrival < kNever) {
    with_credit(arrival);
  }
  if (q.to_reply.count != 0) with_credit(0);
  if (q.arriving.count != 0) t = min_tick(t, q.arriving.front(v.base).due);
  if (q.computing.count != 0) t = min_tick(t, q.computing.front(v.base).due);
  if (q.came.count != 0 || q.reading.count != 0)
    t = min_tick(t, v.s.lsu_busy_until == 0 ? 0 : v.tick(v.s.lsu_busy_until - 1));
  if (q.to_compute.count != 0) t = min_tick(t, q.own_alu ? q.alu_free : v.tick(alu_idle(v)));
  return t;
}

}  // namespace sm_service

/// Send something of the service queue's to a slice; the caller has checked that there is room.
template <class O>
NW_HD NW_APART void send_for_others(O& o, uint32_t now) {
  auto& v = o.v;
  SmService& q = service_of(o);
  Packet p;
  if (q.to_write.count != 0) {
    const uint32_t id = q.to_write.pop(v.base);
    const ComputeOrder& order = q.entries.in(v.base)[id].order;
    p = sm::memory_packet(
        v, PacketKind::kWrite, order.store_line, sm::kOwnStoreTag | id,
        v.p.header_bytes + population_count(uint32_t{order.store_sectors}) * v.p.sector_bytes);
    p.sectors = order.store_sectors;
    p.written_words() = store_words(order);
    end_wait(q, v.base, id, ServiceWait::kTurn, now);
    if (q.ack_forwarded) q.to_reply.push(v.base, id);
    q.counters.stores += 1;
  } else if (q.forwards) {
    const ComputeOrder order = unpack(q.forward);
    p = sm::memory_packet(v, kOperandRead, order.line[q.forwarded], q.forward.tag,
                          v.p.header_bytes);
    p.src = q.forward.src;
    q.forwarded = static_cast<uint8_t>(q.forwarded + 1);
    q.forwards = q.forwarded != order.operands;
  } else {
    const uint32_t id = q.to_ask.front(v.base);
    ServiceEntry& e = q.entries.in(v.base)[id];
    p = sm::memory_packet(v, kOperandRead, e.order.line[e.asked], kServiceTag | id,
                          v.p.header_bytes);
    e.asked = static_cast<uint8_t>(e.asked + 1);
    if (e.asked == e.order.operands) {
      q.to_ask.pop(v.base);
      end_wait(q, v.base, id, ServiceWait::kTurn, now);
    }
    q.counters.operands += 1;
  }
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// The queue's cycle.
template <class O>
NW_HD NW_APART void step_service(O& o, uint32_t now) {
  auto& v = o.v;
  SmService& q = service_of(o);
  sm_service::advance(v, q, now);
  sm_service::compute(v, q, now);
  sm_service::use_port(v, q, now);
  sm_service::fill_buffer(q, v.base, now);
  const bool replied = sm_service::reply(v, q, now);
  sm_service::take_packet(v, q, now, !replied);
}

}  // namespace nearwarp::opportunistic
