// Steps of a service queue (service_state.h) that are the same at slices and at SMs.
#pragma once

#include "device/mechanisms/opportunistic/service_state.h"

namespace nearwarp::opportunistic::service {

/// Take a chain in; there must be a free entry.
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

/// The slice or memory has acknowledged the store of a chain.
NW_HD NW_APART inline void stored(ServiceState& q, std::byte* base, uint32_t id, uint32_t cycle) {
  if (q.ack_forwarded) return;  // it may be another chain's entry by now
  end_wait(q, base, id, ServiceWait::kStored, cycle);
  q.to_reply.push(base, id);
}

/// Take the reply of the oldest chain in to_reply, and free its entry.
NW_HD inline Packet take_reply(ServiceState& q, std::byte* base, uint32_t cycle) {
  const uint32_t id = q.to_reply.pop(base);
  end_wait(q, base, id, ServiceWait::kReply, cycle);
  const ServiceEntry& e = q.entries.in(base)[id];
  Packet r;
  r.kind = kComputeReply;
  r.dst = e.src;
  r.tag = e.tag;
  r.bytes = e.order.reply_bytes;
  q.free.set(id);
  q.in_use -= 1;
  q.counters.replies += 1;
  q.counters.cycles += cycle - e.since;
  return r;
}

}  // namespace nearwarp::opportunistic::service
