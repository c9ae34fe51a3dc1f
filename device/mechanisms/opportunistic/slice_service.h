// The service queue of an L2 slice: hooks of the slice (device/core/mechanisms.h).
//
// The queue needs neither buffers of its own for data that it waits for, nor a way out for what it
// asks the slice: data stays in the slice until all of a chain's is there. Its requests are looked
// up as those of the network are, in turns with them, one a cycle.
//
// Nothing waits in a circle: a ComputePacket is taken in, or its operands are looked up like those
// of two reads; chains in the queue need the slice's way to memory, and the way of replies.
#pragma once

#include "device/cache/l2_mechanisms.h"
#include "device/mechanisms/opportunistic/service_queue.h"

namespace nearwarp::opportunistic {

namespace slice_service {

template <class O>
NW_HD NW_INLINE uint32_t cycle_of(const O& o, Tick now) {
  return static_cast<uint32_t>(now / o.v.p.period);
}

/// All operands of a chain are in the buffer: it leaves for the ALU.
template <class O>
NW_HD inline void compute(O& o, uint32_t id, Tick now) {
  ServiceState& q = o.s;
  const ComputeOrder& order = q.entries.in(o.v.base)[id].order;
  const uint32_t period = o.v.p.period;
  const Tick start = max_tick(now, q.alu_free);
  const uint32_t busy = order.alu_cycles * q.alu_interval;
  q.alu_free = start + Tick{busy} * period;
  q.counters.alu_cycles += busy;
  const uint32_t latency = order.latency_cycles + busy - order.alu_cycles;
  q.computing.push_in_order(o.v.base, start + Tick{latency} * period, id);
  q.buffered -= 1;
}

/// An operand is in the slice, or, of a chain that has a place in the buffer, there.
template <class O>
NW_HD NW_APART void operand_came(O& o, uint32_t id, Tick now) {
  ServiceState& q = o.s;
  ServiceEntry& e = q.entries.in(o.v.base)[id];
  e.present = static_cast<uint8_t>(e.present + 1);
  if (e.present != e.order.operands) return;
  if (e.buffered) {
    end_wait(q, o.v.base, id, ServiceWait::kRead, cycle_of(o, now));
    compute(o, id, now);
  } else {
    end_wait(q, o.v.base, id, ServiceWait::kOperands, cycle_of(o, now));
    q.ready.push(o.v.base, id);
  }
}

/// Does everything that is due by now.
template <class O>
NW_HD NW_APART void advance(O& o, Tick now) {
  ServiceState& q = o.s;
  std::byte* const base = o.v.base;
  while (q.arriving.count != 0 && q.arriving.front(base).due <= now) {
    const uint32_t id = q.arriving.front(base).id;
    q.arriving.pop();
    operand_came(o, id, now);
  }
  while (q.computing.count != 0 && q.computing.front(base).due <= now) {
    const uint32_t id = q.computing.front(base).id;
    q.computing.pop();
    end_wait(q, base, id, ServiceWait::kAlu, cycle_of(o, now));
    (q.entries.in(base)[id].order.stores ? q.to_write : q.to_reply).push(base, id);
  }
  while (q.storing.count != 0 && q.storing.front(base).due <= now) {
    const uint32_t id = q.storing.front(base).id;
    q.storing.pop();
    service::stored(q, base, id, cycle_of(o, now));
  }
  while (q.ready.count != 0 && q.buffered < q.buffer_entries) {
    const uint32_t id = q.ready.pop(base);
    end_wait(q, base, id, ServiceWait::kBuffer, cycle_of(o, now));
    ServiceEntry& e = q.entries.in(base)[id];
    e.buffered = true;
    e.asked = e.present = 0;
    q.reading.push(base, id);
    q.buffered += 1;
  }
}

/// The fifo whose first chain looks something up next: what is furthest.
NW_HD NW_INLINE ServiceFifo& next_fifo(ServiceState& q) {
  return q.to_write.count != 0 ? q.to_write : q.reading.count != 0 ? q.reading : q.to_ask;
}

/// The look-up that is next; there is one.
NW_HD inline Packet next_request(ServiceState& q, std::byte* base) {
  const uint32_t id = next_fifo(q).front(base);
  const ServiceEntry& e = q.entries.in(base)[id];
  Packet r;
  r.tag = id;
  if (q.to_write.count == 0) {
    r.kind = PacketKind::kRead;
    r.line = e.order.line[e.asked];
    return r;
  }
  r.kind = PacketKind::kWrite;
  r.line = e.order.store_line;
  r.sectors = e.order.store_sectors;
  r.written_words() = store_words(e.order);
  return r;
}

/// next_request() has been looked up; `due`: when its data is there, or it is kept, if that is
/// known.
NW_HD inline void looked_up(ServiceState& q, std::byte* base, uint32_t cycle, Tick due) {
  ServiceFifo& fifo = next_fifo(q);
  const uint32_t id = fifo.front(base);
  if (q.to_write.count != 0) {
    if (due < kNever) q.storing.push(base, due, id);
    fifo.pop(base);
    end_wait(q, base, id, ServiceWait::kTurn, cycle);
    if (q.ack_forwarded) q.to_reply.push(base, id);
    q.counters.stores += 1;
    return;
  }
  if (due < kNever) q.arriving.push(base, due, id);
  ServiceEntry& e = q.entries.in(base)[id];
  (e.buffered ? q.counters.operands_read : q.counters.operands) += 1;
  e.asked = static_cast<uint8_t>(e.asked + 1);
  if (e.asked != e.order.operands) return;
  fifo.pop(base);
  end_wait(q, base, id, ServiceWait::kTurn, cycle);
}

/// A ComputePacket stands at the network's head: take it into the queue, or, if that is full, look
/// up its operands one after the other for the SM that sent it.
template <class O>
NW_HD inline PacketTaken take_compute_packet(O& o, const Packet& packet, Tick now) {
  ServiceState& q = o.s;
  const uint32_t passed = q.passed;
  if (passed == 0 && q.free.any()) {
    service::accept(q, o.v.base, packet, cycle_of(o, now));
    return PacketTaken::kYes;
  }
  const ComputeOrder order = unpack(packet);
  if (!l2::read_for(o, packet, order.line[passed], kOperandReply, now)) return PacketTaken::kNo;
  q.counters.refused += passed == 0 ? 1 : 0;
  q.passed = passed + 1 == order.operands ? 0 : passed + 1;
  return q.passed == 0 ? PacketTaken::kYes : PacketTaken::kPartly;
}

/// When it can do something by itself, requests and replies apart.
NW_HD NW_APART inline Tick next_event(const ServiceState& q, std::byte* base, Tick from) {
  if (q.ready.count != 0 && q.buffered < q.buffer_entries) return from;
  Tick next = kNever;
  if (q.arriving.count != 0) next = min_tick(next, q.arriving.front(base).due);
  if (q.computing.count != 0) next = min_tick(next, q.computing.front(base).due);
  if (q.storing.count != 0) next = min_tick(next, q.storing.front(base).due);
  return next;
}

}  // namespace slice_service

struct OnL2Slice : MemoryHooks {
  using State = ServiceState;
  struct Params {};

  template <class O>
  NW_HD static void step(O& o, Tick now) {
    slice_service::advance(o, now);
  }
  template <class O>
  NW_HD static Tick next(const O& o, Tick from) {
    return slice_service::next_event(o.s, o.v.base, from);
  }
  template <class O>
  NW_HD static bool has_request(const O& o) {
    return o.s.to_write.count != 0 || o.s.reading.count != 0 || o.s.to_ask.count != 0;
  }
  template <class O>
  NW_HD static Packet next_request(const O& o) {
    return slice_service::next_request(o.s, o.v.base);
  }
  template <class O>
  NW_HD static void on_taken(O& o, Tick now, Tick due) {
    slice_service::looked_up(o.s, o.v.base, slice_service::cycle_of(o, now), due);
  }
  template <class O>
  NW_HD static void on_data(O& o, uint32_t id, Tick due) {
    slice_service::operand_came(o, id, due);
  }
  template <class O>
  NW_HD static void on_written(O& o, uint32_t id, Tick due) {
    service::stored(o.s, o.v.base, id, slice_service::cycle_of(o, due));
  }
  /// Take a ComputePacket, or a read of an operand, whose data goes to the endpoint that it names.
  template <class O>
  NW_HD static PacketTaken take_packet(O& o, const Packet& packet, Tick now) {
    if (packet.kind == kComputePacket) return slice_service::take_compute_packet(o, packet, now);
    NW_ASSERT(packet.kind == kOperandRead);
    return l2::read_for(o, packet, packet.line, kOperandReply, now) ? PacketTaken::kYes
                                                                    : PacketTaken::kNo;
  }
  template <class O>
  NW_HD static bool has_reply(const O& o) {
    return o.s.to_reply.count != 0;
  }
  template <class O>
  NW_HD static Packet take_reply(O& o, Tick now) {
    return service::take_reply(o.s, o.v.base, slice_service::cycle_of(o, now));
  }
};

}  // namespace nearwarp::opportunistic
