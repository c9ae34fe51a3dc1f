// An SM receives over the networks of its GPC: requests to its shared memory and mbarriers,
// answers to its own, and lines that others' copy engines have read for it.
#pragma once

#include "device/sm/lsu.h"
#include "device/sm/multicast.h"

namespace nearwarp::sm {

/// Another block has answered an access to its shared memory.
template <class V>
NW_HD NW_CALLED void on_shared_reply(V& v, uint32_t number, uint32_t now) {
  ClusterPort& c = cluster_port(v);
  RemoteAccess& access = c.accesses[number];
  NW_ASSERT(access.remaining > 0);
  access.remaining = static_cast<uint8_t>(access.remaining - 1);
  if (access.remaining != 0 || !access.sent) return;
  c.free_accesses |= 1u << number;
  set_results(v, access.warp, v.instr(access.pc), now + access.late + v.p.shared_latency);
  operation_ended(v, access.warp, now);
}

/// Takes what the networks of the GPC bring: a request, which is answered, an answer, and a line.
template <class V>
NW_HD NW_CALLED void receive_from_cluster(V& v, uint32_t now) {
  const ClusterPort& c = cluster_port(v);
  const Tick tick = v.tick(now);
  Channel& requests = *c.requests_in.in(v.base);
  Channel& out = *c.replies_out.in(v.base);
  if (has_packet(requests, v.base, tick) && can_send(out, v.base, tick)) {
    const Packet& request = front(requests, v.base);
    const SharedRequest says = SharedRequest::of(request);
    if (says.event != 0) arrive_from_other(v, says.event, says.to, now);
    Packet p;
    p.src = v.s.endpoint;
    p.dst = request.src;
    p.bytes = static_cast<uint16_t>(says.answer_bytes);
    SharedReply{says.access}.put(p);
    pop(requests, v.base, tick, v.horizon);
    send(out, v.base, tick, p, v.horizon);
  }
  Channel& replies = *c.replies_in.in(v.base);
  if (has_packet(replies, v.base, tick)) {
    const uint32_t number = SharedReply::of(front(replies, v.base)).access;
    pop(replies, v.base, tick, v.horizon);
    on_shared_reply(v, number, now);
  }
  if (v.copies()) receive_line(v, now);
}

}  // namespace nearwarp::sm
