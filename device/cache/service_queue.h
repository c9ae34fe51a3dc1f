// The work of a service queue at an L2 slice (device/cache/service_state.h): the slice calls these
// functions as its cycle goes on.
//
// The queue needs neither buffers of its own for data that it waits for, nor a way out for what it
// asks the slice: data stays in the slice until all of a chain's is there. Its requests are looked
// up as those of the network are, in turns with them, one a cycle.
//
// Nothing waits in a circle: a ComputePacket is taken in, or its operands are looked up like those
// of two reads; chains in the queue need the slice's way to memory, and the way of replies.
#pragma once

#include "device/cache/l2_slice_state.h"

namespace nearwarp::service {

/// A chain comes.
NW_HD NW_APART inline void accept(ServiceState& q, std::byte* base, const Packet& packet,
                                  uint32_t cycle) {
  const uint32_t id = q.free.take_first();
  ServiceEntry& e = q.entries.in(base)[id];
  e = ServiceEntry{};
  e.order = unpack(packet);
  e.tag = packet.tag;
  e.src = packet.src;
  e.since = e.waited = cycle;
  q.to_ask.push(base, id);
  q.in_use += 1;
  q.counters.taken += 1;
  if (q.in_use > q.counters.peak) q.counters.peak = q.in_use;
}

NW_HD NW_INLINE uint32_t cycle_of(const L2SliceParams& p, Tick now) {
  return static_cast<uint32_t>(now / p.period);
}

/// All operands of a chain are in the buffer: it leaves for the ALU.
NW_HD inline void compute(const L2SliceParams& p, ServiceState& q, std::byte* base, uint32_t id,
                          Tick now) {
  const ComputeOrder& o = q.entries.in(base)[id].order;
  const Tick start = max_tick(now, q.alu_free);
  const uint32_t busy = o.alu_cycles * q.alu_interval;
  q.alu_free = start + Tick{busy} * p.period;
  q.counters.alu_cycles += busy;
  const uint32_t latency = o.latency_cycles + busy - o.alu_cycles;
  q.computing.push_in_order(base, start + Tick{latency} * p.period, id);
  q.buffered -= 1;
}

/// An operand is in the slice, or, of a chain that has a place in the buffer, there.
NW_HD NW_APART inline void operand_came(const L2SliceParams& p, ServiceState& q, std::byte* base,
                                        uint32_t id, Tick now) {
  ServiceEntry& e = q.entries.in(base)[id];
  e.present = static_cast<uint8_t>(e.present + 1);
  if (e.present != e.order.operands) return;
  if (e.buffered) {
    end_wait(q, base, id, ServiceWait::kRead, cycle_of(p, now));
    compute(p, q, base, id, now);
  } else {
    end_wait(q, base, id, ServiceWait::kOperands, cycle_of(p, now));
    q.ready.push(base, id);
  }
}

/// The slice or memory has the result of a chain.
NW_HD inline void stored(ServiceState& q, std::byte* base, uint32_t id, uint32_t cycle) {
  if (q.ack_forwarded) return;  // it may be another chain's entry by now
  end_wait(q, base, id, ServiceWait::kStored, cycle);
  q.to_reply.push(base, id);
}
NW_HD NW_APART inline void stored_at_slice(const L2SliceParams& p, ServiceState& q, std::byte* base,
                                           uint32_t id, Tick now) {
  stored(q, base, id, cycle_of(p, now));
}

/// Takes up what is due by now.
NW_HD NW_APART inline void advance(const L2SliceParams& p, ServiceState& q, std::byte* base,
                                   Tick now) {
  while (q.arriving.count != 0 && q.arriving.front(base).due <= now) {
    const uint32_t id = q.arriving.front(base).id;
    q.arriving.pop();
    operand_came(p, q, base, id, now);
  }
  while (q.computing.count != 0 && q.computing.front(base).due <= now) {
    const uint32_t id = q.computing.front(base).id;
    q.computing.pop();
    end_wait(q, base, id, ServiceWait::kAlu, cycle_of(p, now));
    (q.entries.in(base)[id].order.stores ? q.to_write : q.to_reply).push(base, id);
  }
  while (q.storing.count != 0 && q.storing.front(base).due <= now) {
    const uint32_t id = q.storing.front(base).id;
    q.storing.pop();
    stored(q, base, id, cycle_of(p, now));
  }
  while (q.ready.count != 0 && q.buffered < q.buffer_entries) {
    const uint32_t id = q.ready.pop(base);
    end_wait(q, base, id, ServiceWait::kBuffer, cycle_of(p, now));
    ServiceEntry& e = q.entries.in(base)[id];
    e.buffered = true;
    e.asked = e.present = 0;
    q.reading.push(base, id);
    q.buffered += 1;
  }
}

/// Has it something to look up?
NW_HD NW_INLINE bool looks_up(const ServiceState& q) {
  return q.to_write.count != 0 || q.reading.count != 0 || q.to_ask.count != 0;
}

/// The fifo whose first chain looks something up next: what is furthest.
NW_HD NW_INLINE ServiceFifo& next_fifo(ServiceState& q) {
  return q.to_write.count != 0 ? q.to_write : q.reading.count != 0 ? q.reading : q.to_ask;
}

/// The request that it looks up next; looks_up() holds.
NW_HD inline Packet next_request(const L2SliceParams& p, ServiceState& q, std::byte* base) {
  const uint32_t id = next_fifo(q).front(base);
  const ServiceEntry& e = q.entries.in(base)[id];
  Packet r;
  r.src = p.endpoint;
  r.dst = p.endpoint;
  if (q.to_write.count == 0) {
    r.kind = PacketKind::kRead;
    r.line = e.order.line[e.asked];
    r.tag = id;
    return r;
  }
  r.kind = PacketKind::kWrite;
  r.line = e.order.store_line;
  r.sectors = e.order.store_sectors;
  r.payload = store_words(e.order);
  r.tag = id + 1;  // 0: writes of atomics
  r.bytes = static_cast<uint16_t>(p.header_bytes +
                                  population_count(r.sectors) * uint32_t{p.sector_bytes});
  return r;
}

/// next_request() has been looked up.
NW_HD inline void looked_up(ServiceState& q, std::byte* base, uint32_t cycle) {
  ServiceFifo& fifo = next_fifo(q);
  const uint32_t id = fifo.front(base);
  if (q.to_write.count != 0) {
    fifo.pop(base);
    end_wait(q, base, id, ServiceWait::kTurn, cycle);
    if (q.ack_forwarded) q.to_reply.push(base, id);
    q.counters.stores += 1;
    return;
  }
  ServiceEntry& e = q.entries.in(base)[id];
  (e.buffered ? q.counters.operands_read : q.counters.operands) += 1;
  e.asked = static_cast<uint8_t>(e.asked + 1);
  if (e.asked != e.order.operands) return;
  fifo.pop(base);
  end_wait(q, base, id, ServiceWait::kTurn, cycle);
}

/// The reply of the first chain that is done, which leaves.
NW_HD inline Packet take_reply(uint16_t endpoint, ServiceState& q, std::byte* base,
                               uint32_t cycle) {
  const uint32_t id = q.to_reply.pop(base);
  end_wait(q, base, id, ServiceWait::kReply, cycle);
  const ServiceEntry& e = q.entries.in(base)[id];
  Packet r;
  r.kind = kComputeReply;
  r.src = endpoint;
  r.dst = e.src;
  r.tag = e.tag;
  r.bytes = e.order.reply_bytes;
  q.free.set(id);
  q.in_use -= 1;
  q.counters.replies += 1;
  q.counters.cycles += cycle - e.since;
  return r;
}

/// When it can do something by itself, replies apart.
NW_HD NW_APART inline Tick next_event(const ServiceState& q, std::byte* base, Tick from,
                                      bool blocked) {
  if ((looks_up(q) && !blocked) || (q.ready.count != 0 && q.buffered < q.buffer_entries))
    return from;
  Tick next = kNever;
  if (q.arriving.count != 0) next = min_tick(next, q.arriving.front(base).due);
  if (q.computing.count != 0) next = min_tick(next, q.computing.front(base).due);
  if (q.storing.count != 0) next = min_tick(next, q.storing.front(base).due);
  return next;
}

}  // namespace nearwarp::service
