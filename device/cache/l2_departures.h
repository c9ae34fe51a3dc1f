// Departures from an L2 slice, replies of fills and hits and requests to memory, and arrivals from
// there.
#pragma once

#include "device/cache/l2_launches.h"
#include "device/cache/l2_sectors.h"

namespace nearwarp::l2_detail {

/// Free an MSHR, whose line no request waits for any more.
NW_HD NW_INLINE void free_mshr(L2SliceState& s, std::byte* base, uint32_t index) {
  s.mshrs.in(base)[index].next_free = s.free_mshr;
  s.free_mshr = index;
  s.mshrs_in_use -= 1;
}

/// Take one packet from memory: data (begins to answer an MSHR) or an acknowledgement.
NW_HD NW_CALLED void take_from_memory(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                      Tick now, Horizon& horizon) {
  if (front(*s.memory_in.in(base), base).kind == PacketKind::kLineWritten) {
    take_line_written(p, s, base, now, horizon);
    return;
  }
  Channel& in = *s.memory_in.in(base);
  const PacketKind kind = front(in, base).kind;
  const uint32_t index = front(in, base).tag;
  s.counters.memory_in += 1;
  s.fill_came = head_arrival(in, base);
  if (kind == PacketKind::kReadReply && index < s.mshrs.count) {
    if (p.by_sectors != 0) {
      fill_sectors(p, s, base, index, front(in, base).sectors);
    } else {
      const L2Mshr& m = s.mshrs.in(base)[index];
      if (m.keep != 0) s.pending.in(base)[m.set] &= ~(uint64_t{1} << m.way);
      if (m.waiters != 0) {
        s.filling = index;
        s.next_waiter = 0;
      } else {
        free_mshr(s, base, index);  // a write has fetched it
      }
    }
    s.counters.fills += 1;
  } else if (kind == PacketKind::kWriteAck && (index == 0 || is_of_mechanism(s.attached, index))) {
    s.counters.atomic_write_acks += index == 0 ? 1 : 0;
  } else {
    record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
  }
  pop(in, base, now, horizon);
}

/// Answer the next requester of the MSHR that is being filled.
NW_HD NW_CALLED void answer_waiter(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                   Tick now, Horizon& horizon) {
  L2Mshr& m = s.mshrs.in(base)[s.filling];
  const L2Waiter& w = s.waiters.in(base)[s.filling * p.mshr_merges + s.next_waiter];
  if (w.origin != L2Origin::kOwn) {
    s.counters.reply_wait += now - s.fill_came;
    const L2Reply reply{.due = now,
                        .line = m.line,
                        .tag = w.tag,
                        .sectors = w.sectors,
                        .dst = w.src,
                        .kind = reply_kind(w.origin, w.sectors)};
    send_reply(p, s, base, now, reply, horizon);
  }
  if (w.origin == L2Origin::kAtomic && p.write_back == 0) {
    s.request_reserved -= 1;
    // In order behind what is under way, so that the ring stays sorted by time.
    Tick due = now;
    if (s.request_count > 0) {
      uint32_t last = s.request_head + s.request_count - 1;
      if (last >= s.requests.count) last -= s.requests.count;
      due = max_tick(due, s.requests.in(base)[last].due);
    }
    push_atomic_write(p, s, base, due, m.line, w.sectors);
  }
  if (p.by_sectors != 0) {
    if (!answered_sectors(p, s, base)) return;
  } else {
    s.next_waiter += 1;
    if (s.next_waiter < m.waiters) return;
  }
  m.waiters = 0;
  free_mshr(s, base, s.filling);
  s.filling = kNoMshr;
}

/// Send the reply of the oldest hit.
NW_HD NW_CALLED void answer_hit(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick now,
                                Horizon& horizon) {
  const L2Reply& r = s.replies.in(base)[s.reply_head];
  s.counters.reply_wait += now - r.due;
  send_reply(p, s, base, now, r, horizon);
  s.reply_head = s.reply_head + 1 == s.replies.count ? 0 : s.reply_head + 1;
  s.reply_count -= 1;
}

/// Send the oldest request to memory.
NW_HD NW_CALLED void send_request(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                  Tick now, Horizon& horizon) {
  const L2Request& r = s.requests.in(base)[s.request_head];
  Packet q;
  q.kind = r.kind;
  q.line = r.line;
  q.tag = r.tag;
  q.sectors = r.sectors;
  q.src = r.src;
  q.dst = r.line < s.elsewhere_end ? s.elsewhere : vault_endpoint(p, base, r.line);
  q.bytes = r.bytes;
  send(*s.memory_out.in(base), base, now, q, horizon);
  s.request_head = s.request_head + 1 == s.requests.count ? 0 : s.request_head + 1;
  s.request_count -= 1;
  s.counters.memory_out += 1;
  s.counters.memory_reads += q.kind == PacketKind::kRead ? 1 : 0;
  s.counters.memory_writes += q.kind == PacketKind::kWrite ? 1 : 0;
}

/// When the next reply can leave, of a fill or a hit; kNever if there is none, or its credit is not
/// known.
NW_HD NW_INLINE Tick next_reply(const L2SliceState& s, std::byte* base) {
  if (s.filling == kNoMshr && s.reply_count == 0) return kNever;
  const Tick ready = send_tick(*s.reply_out.in(base), base);
  return s.filling != kNoMshr ? ready : max_tick(ready, s.replies.in(base)[s.reply_head].due);
}

/// One reply, for which it is time: of a fill and a hit in turns.
NW_HD NW_INLINE void reply(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick now,
                           Horizon& horizon) {
  const bool fill = s.filling != kNoMshr;
  const bool hit = s.reply_count != 0 && s.replies.in(base)[s.reply_head].due <= now;
  const bool take_hit = hit && (!fill || s.hit_turn != 0);
  if (fill && hit) s.hit_turn = take_hit ? 0 : 1;
  if (take_hit) {
    answer_hit(p, s, base, now, horizon);
  } else {
    answer_waiter(p, s, base, now, horizon);
  }
}

/// When the next packet of memory can be taken; kNever while a fill is under way.
NW_HD NW_INLINE Tick next_from_memory(const L2SliceState& s, const Channel& in, std::byte* base) {
  return s.filling == kNoMshr ? head_arrival(in, base) : kNever;
}

/// When the next request to memory can leave; kNever if there is none, or its credit is not known.
NW_HD NW_INLINE Tick next_request(const L2SliceState& s, std::byte* base) {
  if (s.request_count == 0) return kNever;
  return max_tick(send_tick(*s.memory_out.in(base), base), s.requests.in(base)[s.request_head].due);
}

}  // namespace nearwarp::l2_detail
