// Parts of look-ups in an L2 slice: the ways of a set, and the two rings in which packets wait that
// look-ups cause.
#pragma once

#include "device/cache/l2_slice_state.h"
#include "device/core/lanes.h"

namespace nearwarp::l2_detail {

/// One place for all functions but the customary one.
NW_HD NW_CALLED uint32_t hashed_set(const cache::SetIndex& index, uint32_t within_slice) {
  return index.of(within_slice);
}

NW_HD NW_INLINE uint32_t set_of(const L2SliceParams& p, const std::byte* base, LineAddr line) {
  // Bits of the line that choose partition and slice are the same in all of the slice's lines, so
  // they are left out.
  const uint32_t within = p.map.of(line, base).within_slice(line);
  return p.index.function == cache::SetFunction::kFolded ? AddressMap::fold(within, p.index.bits)
                                                         : hashed_set(p.index, within);
}

NW_HD NW_INLINE Endpoint vault_endpoint(const L2SliceParams& p, const std::byte* base,
                                        LineAddr line) {
  return p.homes.of(p.map.of(line, base), line, base);
}

NW_HD NW_INLINE uint16_t sector_data_bytes(const L2SliceParams& p, uint32_t sectors) {
  const uint32_t n = population_count(sectors);
  return static_cast<uint16_t>((n == 0 ? 1 : n) * p.sector_bytes);
}

/// `sectors`: of the request.
NW_HD NW_INLINE PacketKind reply_kind(L2Origin origin, uint32_t sectors = 0) {
  return origin == L2Origin::kAtomic  ? PacketKind::kAtomicReply
         : origin == L2Origin::kFor   ? static_cast<PacketKind>(sectors)
         : origin == L2Origin::kStore ? PacketKind::kWriteAck
                                      : PacketKind::kReadReply;
}
NW_HD NW_INLINE L2Origin origin_of(bool atomic) {
  return atomic ? L2Origin::kAtomic : L2Origin::kRead;
}

/// Data of a reply. A read that names no sectors is of the whole line.
NW_HD NW_INLINE uint32_t reply_data_bytes(const L2SliceParams& p, PacketKind kind,
                                          uint32_t sectors) {
  if (kind == PacketKind::kReadReply && (p.by_sectors == 0 || sectors == 0)) return p.line_bytes;
  if (block_of(kind) != kMemoryBlock) return p.line_bytes;
  return kind == PacketKind::kWriteAck ? 0 : sector_data_bytes(p, sectors);
}

/// The channel towards a requester: the network, or the link to the other half (l2_halves.h).
NW_HD NW_INLINE Channel& reply_way(const L2SliceParams& p, const L2SliceState& s, std::byte* base,
                                   Endpoint dst) {
  const bool far = p.halves.most != 0 &&
                   (dst == p.halves.twin || (dst >= p.halves.far_begin && dst < p.halves.far_end));
  return *(far ? s.halves.replies_out : s.reply_out).in(base);
}

/// Reply to one requester.
NW_HD NW_INLINE void send_reply(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick now,
                                const L2Reply& reply, Horizon& horizon) {
  Packet r;
  r.kind = reply.kind;
  r.line = reply.line;
  r.tag = reply.tag;
  r.sectors = reply.sectors;
  r.src = p.endpoint;
  r.dst = reply.dst;
  r.bytes = static_cast<uint16_t>(p.header_bytes + reply_data_bytes(p, r.kind, r.sectors));
  send(reply_way(p, s, base, r.dst), base, now, r, horizon);
  s.counters.replies_out += 1;
}

/// Take the oldest request, which has been looked up.
NW_HD NW_INLINE void pop_request(L2SliceState& s, std::byte* base, Tick now, Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  s.counters.requests_in += 1;
  s.counters.request_wait += now - head_arrival(in, base);
  pop(in, base, now, horizon);
}

/// Put a request to memory into the pipeline. The caller has checked for room.
NW_HD NW_INLINE void push_request(L2SliceState& s, std::byte* base, const L2Request& request) {
  uint32_t at = s.request_head + s.request_count;
  if (at >= s.requests.count) at -= s.requests.count;
  s.requests.in(base)[at] = request;
  s.request_count += 1;
}
/// A request of the network that goes on to memory as it is.
NW_HD NW_INLINE L2Request request_on(const Packet& request, Tick due) {
  return {.due = due,
          .line = request.line,
          .tag = request.tag,
          .sectors = request.sectors,
          .src = request.src,
          .bytes = request.bytes,
          .kind = request.kind};
}
/// A write of the slice's own, of some of a line's sectors: its tag is 0.
NW_HD NW_INLINE L2Request own_write(const L2SliceParams& p, Tick due, LineAddr line,
                                    uint32_t sectors, uint32_t data_bytes) {
  return {.due = due,
          .line = line,
          .tag = 0,
          .sectors = sectors,
          .src = p.endpoint,
          .bytes = static_cast<uint16_t>(p.header_bytes + data_bytes),
          .kind = PacketKind::kWrite};
}
/// The fetch of a line, or of sectors of it, for MSHR `mshr`.
NW_HD NW_INLINE L2Request fetch_for(const L2SliceParams& p, Tick due, LineAddr line, uint32_t mshr,
                                    uint32_t sectors) {
  return {.due = due,
          .line = line,
          .tag = mshr,
          .sectors = sectors,
          .src = p.endpoint,
          .bytes = p.header_bytes,
          .kind = PacketKind::kRead};
}

/// Put a hit's reply into the pipeline. The caller has checked for room.
NW_HD NW_INLINE void push_reply(L2SliceState& s, std::byte* base, Tick due, const Packet& request,
                                PacketKind kind) {
  uint32_t at = s.reply_head + s.reply_count;
  if (at >= s.replies.count) at -= s.replies.count;
  L2Reply& r = s.replies.in(base)[at];
  r.due = due;
  r.line = request.line;
  r.tag = request.tag;
  r.sectors = request.sectors;
  r.dst = request.src;
  r.kind = kind;
  s.reply_count += 1;
}

/// An atomic's write-through, in this slice's own name.
NW_HD NW_INLINE void push_atomic_write(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                       Tick due, LineAddr line, uint32_t sectors) {
  push_request(s, base, own_write(p, due, line, sectors, sector_data_bytes(p, sectors)));
  s.counters.atomic_writes += 1;
}

/// The end of a look-up.
enum class Outcome : uint32_t {
  kTaken,
  kNoMshr,          ///< the request has to wait for a free MSHR
  kRefused,         ///< or for something else in the slice
  kAnswered,        ///< taken, of a mechanism's own; its answer is there after the slice's latency
  kNoInvalidation,  ///< of a slice with a twin: until an invalidation of its copy can leave
};

/// A request at its look-up.
struct Asked {
  const Packet& request;
  L2Origin origin;
  Tick now;
  uint32_t set;
  uint64_t match;  ///< the way of the set that has the line, or waits for it, as a bit; 0: none

  /// When leaves what it causes.
  NW_HD NW_INLINE Tick due(const L2SliceParams& p) const {
    return now + Tick{p.latency_cycles} * p.period;
  }
};

/// The ways of a line's set that have the line or wait for it, as bits: at most one.
NW_HD NW_INLINE uint64_t ways_of(const L2SliceParams& p, const L2SliceState& s, std::byte* base,
                                 uint32_t set, LineAddr line) {
  return cache::match(p.ways, s.tags.in(base) + set * p.ways, line);
}

/// The way that a line takes which is not there; kNoLane: all wait for theirs.
NW_HD NW_INLINE uint32_t way_to_take(const L2SliceParams& p, const L2SliceState& s, std::byte* base,
                                     uint32_t set) {
  const uint64_t pending = s.pending.in(base)[set];
  return cache::victim(p, s, base, set * p.ways,
                       [pending](uint32_t w) { return (pending >> w & 1) != 0; });
}

/// Lanes that want one address are served one after the other.
NW_HD NW_INLINE void occupy_atomics(const L2SliceParams& p, L2SliceState& s, const Packet& request,
                                    Tick now) {
  const uint32_t cycles = request.lanes_of_address() * p.atomic_cycles;
  s.atomics_until = now + Tick{cycles} * p.period;
  s.counters.atomic_busy_cycles += cycles;
}

}  // namespace nearwarp::l2_detail
