// The stack SM's side of an offload (TOM, sections 4.2 and 4.4.2): spawn a warp for a request,
// remember the lines it writes, send them and the acknowledgement back.
#pragma once

#include "device/offload/requester.h"

namespace nearwarp::offload {

/// Spawn a warp. The front end never grants more requests than there are warp slots.
template <class V>
NW_HD inline void spawn(V& v, const Packet& packet, uint32_t now) {
  NW_ASSERT(v.s.free_warps.any());
  if (!v.p.offload.no_overhead) cache::l1_flush(v.p.l1, v.s.l1, v.base);
  const uint32_t warp = v.s.free_warps.take_first();
  Warp& w = v.warps[warp];
  w = Warp{};
  w.at = unpack_cursor(v, packet);
  w.phase = Phase::kRunning;
  w.kernel = static_cast<uint16_t>(packet.tag >> 8);
  w.first_block = v.system.image.kernels[w.kernel].first_block;
  w.thread_block = packet.line;
  w.space = static_cast<uint8_t>(packet.tag >> 24);
  w.block_slot = static_cast<uint8_t>(warp);
  w.requester = packet.src;
  w.requester_warp = static_cast<uint8_t>(packet.tag);
  w.candidate = v.instr(w.at.pc).candidate;
  v.blocks[warp].warps = V::Warps::of(warp);
  v.blocks[warp].used = true;
  v.s.block_order[v.s.num_block_order++] = static_cast<uint8_t>(warp);
  v.s.offload.num_dirty.in(v.base)[warp] = 0;
  uint32_t* slots = v.slots(warp);
  const uint32_t n = v.system.image.kernels[w.kernel].num_slots;
  for (uint32_t k = 0; k < n; ++k) slots[k] = 0;
  continue_warp(v, warp, now, now + 1);
}

template <class V>
NW_HD inline Packet dirty_packet(const V& v, const Warp& w, LineAddr line) {
  Packet p;
  p.kind = PacketKind::kOffloadDirty;
  p.src = v.s.endpoint;
  p.dst = w.requester;
  p.tag = w.requester_warp;
  p.line = line;
  p.bytes = static_cast<uint16_t>(v.p.line_address_bytes);
  return p;
}

/// Must the notice of an older line leave before `line` can be remembered?
template <class V>
NW_HD inline bool dirty_overflows(const V& v, uint32_t warp, LineAddr line) {
  const uint32_t n = v.s.offload.num_dirty.in(v.base)[warp];
  if (n < v.p.offload.dirty_entries) return false;
  const uint32_t* dirty = v.s.offload.dirty.in(v.base) + warp * v.p.offload.dirty_entries;
  for (uint32_t i = 0; i < n; ++i)
    if (dirty[i] == line) return false;
  return true;
}

/// Remember a written line. If the memory is full, the oldest line's notice is sent at once (the
/// caller has checked that the network takes it); it is the notice that would have gone at the end
/// (deviation 34 in tests/validation/DEVIATIONS.md).
template <class V>
NW_HD inline void remember_dirty(V& v, uint32_t warp, LineAddr line, uint32_t now) {
  uint16_t& n = v.s.offload.num_dirty.in(v.base)[warp];
  uint32_t* dirty = v.s.offload.dirty.in(v.base) + warp * v.p.offload.dirty_entries;
  for (uint32_t i = 0; i < n; ++i)
    if (dirty[i] == line) return;
  if (n == v.p.offload.dirty_entries) {
    send(v.to_network(), v.base, v.tick(now), dirty_packet(v, v.warps[warp], dirty[0]), v.horizon);
    for (uint32_t i = 1; i < n; ++i) dirty[i - 1] = dirty[i];
    n = static_cast<uint16_t>(n - 1);
  }
  dirty[n] = line;
  n = static_cast<uint16_t>(n + 1);
}

/// Send one packet of a finished warp: a dirty line, or after the last the acknowledgement.
template <class V>
NW_HD inline void send_return(V& v, uint32_t now) {
  auto& o = v.s.offload;
  if (!o.returning.any() || !can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t warp = o.returning.first();
  Warp& w = v.warps[warp];
  uint16_t& n = o.num_dirty.in(v.base)[warp];
  if (n != 0) {
    n = static_cast<uint16_t>(n - 1);
    const LineAddr line = o.dirty.in(v.base)[warp * v.p.offload.dirty_entries + n];
    send(v.to_network(), v.base, v.tick(now), dirty_packet(v, w, line), v.horizon);
    return;
  }
  const sm::Candidate& c = v.system.image.candidates[w.candidate];
  Packet p;
  p.kind = PacketKind::kOffloadAck;
  p.src = v.s.endpoint;
  p.dst = w.requester;
  p.tag = w.requester_warp;
  pack_cursor(w.at, p);
  p.bytes =
      v.p.offload.no_overhead
          ? uint16_t{0}
          : static_cast<uint16_t>(v.p.header_bytes + uint32_t{c.live_out_bytes} * sm::kWarpSize);
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  o.returning.clear(warp);
  w.phase = Phase::kFree;
  v.blocks[warp].used = false;
  v.s.free_warps.set(warp);
  v.s.counters.warps_finished += 1;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < v.s.num_block_order; ++i)
    if (v.s.block_order[i] != warp) v.s.block_order[kept++] = v.s.block_order[i];
  v.s.num_block_order = kept;
}

}  // namespace nearwarp::offload
