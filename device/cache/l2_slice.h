// One slice of the shared L2: MSHRs with merging; write-through without allocation on writes, or
// by sectors and with write-back, which is in device/cache/l2_sectors.h.
//
// One request per L2 cycle looks up the tags when it leaves the request channel; what it causes (a
// hit's reply, a miss's or a write's request to memory) leaves `latency_cycles` later, in order.
// Fills answer one merged requester per cycle. A victim is evicted when the miss is looked up, not
// when its data returns, so a fill needs nothing but the reply channel; the memory writes of
// atomics that missed have their room in the outgoing ring reserved at look-up for the same reason.
//
// Source: TOM, table 1 and section 4.4.2 (write-through, invalidations); latency and MSHRs as
// customary in GPGPU-Sim, which charges the L2 latency ("ROP") to hits and misses alike.
#pragma once

#include "device/cache/l2_sectors.h"
#include "device/cache/service_queue.h"

namespace nearwarp {

namespace l2_detail {

/// Take one packet from memory: data (begins to answer an MSHR) or an acknowledgement.
template <class G>
NW_HD NW_APART_ON_CPU void take_from_memory(const G& g, const L2SliceParams& p, L2SliceState& s,
                                            std::byte* base, Tick now, Horizon& horizon) {
  g.leader([&] {
    Channel& in = *s.memory_in.in(base);
    const PacketKind kind = front(in, base).kind;
    const uint32_t index = front(in, base).tag;
    s.counters.memory_in += 1;
    if (kind == PacketKind::kReadReply && index < s.mshrs.count) {
      if (p.by_sectors != 0) {
        fill_sectors(p, s, base, index, front(in, base).sectors);
      } else {
        const L2Mshr& m = s.mshrs.in(base)[index];
        if (m.keep != 0) s.pending.in(base)[m.set] &= ~(uint64_t{1} << m.way);
        s.filling = index;
        s.next_waiter = 0;
      }
      s.counters.fills += 1;
    } else if (kind == PacketKind::kWriteAck) {
      if (index != 0 && s.service.count != 0) {
        service::stored_at_slice(p, *s.service.in(base), base, index - 1, now);
      } else {
        s.counters.atomic_write_acks += 1;
      }
    } else {
      record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
    }
    pop(in, base, now, horizon);
  });
}

/// Answer the next requester of the MSHR that is being filled. Leader only.
NW_HD NW_APART_ON_CPU void answer_waiter(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                         Tick now, Horizon& horizon) {
  L2Mshr& m = s.mshrs.in(base)[s.filling];
  const L2Waiter& w = s.waiters.in(base)[s.filling * p.mshr_merges + s.next_waiter];
  if (w.origin == L2Origin::kService) {
    service::operand_came(p, *s.service.in(base), base, w.tag, now);
  } else {
    send_reply(p, s, base, now, m.line, w.tag, w.sectors, w.src, reply_kind(w.origin), horizon);
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
  m.next_free = s.free_mshr;
  s.free_mshr = s.filling;
  s.mshrs_in_use -= 1;
  s.filling = kNoMshr;
}

/// Send the reply of the oldest hit. Leader only.
NW_HD NW_APART_ON_CPU void answer_hit(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                      Tick now, Horizon& horizon) {
  const L2Reply& r = s.replies.in(base)[s.reply_head];
  send_reply(p, s, base, now, r.line, r.tag, r.sectors, r.dst, r.kind, horizon);
  s.reply_head = s.reply_head + 1 == s.replies.count ? 0 : s.reply_head + 1;
  s.reply_count -= 1;
}

/// Send the oldest request to memory. Leader only.
NW_HD NW_APART_ON_CPU void send_request(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                        Tick now, Horizon& horizon) {
  const L2Request& r = s.requests.in(base)[s.request_head];
  Packet q;
  q.kind = static_cast<PacketKind>(r.kind);
  q.line = r.line;
  q.tag = r.tag;
  q.sectors = r.sectors;
  q.src = r.src;
  q.dst = vault_endpoint(p, base, r.line);
  q.bytes = r.bytes;
  send(*s.memory_out.in(base), base, now, q, horizon);
  s.request_head = s.request_head + 1 == s.requests.count ? 0 : s.request_head + 1;
  s.request_count -= 1;
  s.counters.memory_out += 1;
  s.counters.memory_reads += q.kind == PacketKind::kRead ? 1 : 0;
  s.counters.memory_writes += q.kind == PacketKind::kWrite ? 1 : 0;
}

/// Invalidate the ways `match` (at most one) of a set. Leader only.
NW_HD NW_INLINE void drop_line(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                               uint32_t set, uint64_t match) {
  s.counters.invalidations += 1;
  if (match == 0) return;
  s.counters.lines_invalidated += 1;
  if ((match & s.pending.in(base)[set]) != 0) {
    // The data under way answers its requesters but is not kept.
    const uint32_t at = set * p.ways + count_trailing_zeros(match);
    s.mshrs.in(base)[s.mshr_of.in(base)[at]].keep = 0;
  }
  s.valid.in(base)[set] &= ~match;
  s.pending.in(base)[set] &= ~match;
}

/// A read or an atomic joins those that the MSHR's line answers. Leader only.
NW_HD NW_INLINE void add_waiter(const L2SliceParams& p, L2SliceState& s, std::byte* base,
                                uint32_t index, const Packet& request, L2Origin origin) {
  L2Mshr& m = s.mshrs.in(base)[index];
  L2Waiter& w = s.waiters.in(base)[index * p.mshr_merges + m.waiters];
  w.tag = request.tag;
  w.sectors = request.sectors;
  w.src = request.src;
  w.origin = origin;
  m.waiters = static_cast<uint16_t>(m.waiters + 1);
}

/// Give `way` of `set` to the line of MSHR `index`, the next free one, and ask memory for it.
/// Leader only.
NW_HD NW_INLINE void begin_miss(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick due,
                                uint32_t line, uint32_t set, uint32_t way, uint32_t index) {
  L2Mshr& m = s.mshrs.in(base)[index];
  s.free_mshr = m.next_free;
  s.mshrs_in_use += 1;
  m.line = line;
  m.set = set;
  m.way = static_cast<uint16_t>(way);
  m.waiters = 0;
  m.keep = 1;
  const uint64_t bit = uint64_t{1} << way;
  uint64_t& valid = s.valid.in(base)[set];
  s.counters.evictions += valid >> way & 1;
  valid |= bit;
  s.pending.in(base)[set] |= bit;
  const uint32_t at = set * p.ways + way;
  s.tags.in(base)[at] = line;
  s.mshr_of.in(base)[at] = static_cast<uint16_t>(index);
  touch(s, base, at);
  push_request(s, base, due, PacketKind::kRead, line, index, 0, p.endpoint, p.header_bytes);
}

/// What becomes of a read or an atomic.
enum class Found : uint32_t { kHit, kMerge, kMiss };

/// Counts, and what is of an atomic only. Leader only.
NW_HD NW_INLINE void end_look_up(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick now,
                                 const Packet& request, Found found) {
  L2Counters& n = s.counters;
  if (request.kind != PacketKind::kAtomic) {
    n.reads += 1;
    (found == Found::kHit     ? n.read_hits
     : found == Found::kMerge ? n.read_merges
                              : n.read_misses) += 1;
    return;
  }
  n.atomics += 1;
  if (found == Found::kHit) {
    n.atomic_hits += 1;
    push_atomic_write(p, s, base, now + Tick{p.latency_cycles} * p.period, request.line,
                      request.sectors);
  } else {
    (found == Found::kMerge ? n.atomic_merges : n.atomic_misses) += 1;
    s.request_reserved += 1;
  }
  occupy_atomics(p, s, request, now);
}

/// look_up() of a read or an atomic. `match`: the way that has the line, or waits for it.
template <class G, class F>
NW_HD NW_INLINE Outcome look_up_read(const G& g, const L2SliceParams& p, L2SliceState& s,
                                     std::byte* base, Tick now, const Packet& request,
                                     L2Origin origin, uint32_t set, uint64_t match, F&& taken) {
  const uint32_t room = s.requests.count - s.request_count - s.request_reserved;
  const uint32_t of_atomic = request.kind == PacketKind::kAtomic ? 1 : 0;
  const Tick due = now + Tick{p.latency_cycles} * p.period;
  const uint64_t pending = s.pending.in(base)[set];
  if ((match & ~pending) != 0) {  // hit
    const bool replies = origin != L2Origin::kService;
    if ((replies && s.reply_count == s.replies.count) || room < of_atomic) return Outcome::kRefused;
    g.leader([&] {
      touch(s, base, set * p.ways + count_trailing_zeros(match));
      if (replies) {
        push_reply(s, base, due, request, reply_kind(origin));
      } else {
        s.service.in(base)->arriving.push(base, due, request.tag);
      }
      end_look_up(p, s, base, now, request, Found::kHit);
      taken();
    });
    return Outcome::kTaken;
  }
  if (match != 0) {
    const uint32_t index = s.mshr_of.in(base)[set * p.ways + count_trailing_zeros(match)];
    if (s.mshrs.in(base)[index].waiters == p.mshr_merges || room < of_atomic)
      return Outcome::kRefused;
    g.leader([&] {
      add_waiter(p, s, base, index, request, origin);
      end_look_up(p, s, base, now, request, Found::kMerge);
      taken();
    });
    return Outcome::kTaken;
  }
  const uint32_t index = s.free_mshr;
  if (index == kNoMshr) return Outcome::kNoMshr;
  if (room < 1 + of_atomic) return Outcome::kRefused;
  const uint64_t empty = ~s.valid.in(base)[set] & low_bits(p.ways);
  const uint32_t way =
      empty != 0 ? count_trailing_zeros(empty)
                 : find_victim(g, p.ways, s.used.in(base) + set * p.ways, s.uses, pending);
  if (way == kNoLane) return Outcome::kRefused;  // every way waits for its line
  g.leader([&] {
    begin_miss(p, s, base, due, request.line, set, way, index);
    add_waiter(p, s, base, index, request, origin);
    end_look_up(p, s, base, now, request, Found::kMiss);
    taken();
  });
  return Outcome::kTaken;
}

/// Look up a request, if what it needs is there; the leader calls `taken` then. If it has to wait
/// for something inside this slice, nothing is changed.
template <class G, class F>
NW_HD NW_INLINE Outcome look_up(const G& g, const L2SliceParams& p, L2SliceState& s,
                                std::byte* base, Tick now, const Packet& request, L2Origin origin,
                                F&& taken) {
  const PacketKind kind = request.kind;
  if (kind == PacketKind::kAtomic && now < s.atomics_until) return Outcome::kRefused;
  const uint32_t set = set_of(p, base, request.line);
  const uint64_t match =
      match_ways(g, p.ways, s.tags.in(base) + set * p.ways, request.line) & s.valid.in(base)[set];
  if (kind == PacketKind::kRead || kind == PacketKind::kAtomic)
    return look_up_read(g, p, s, base, now, request, origin, set, match, taken);

  if (kind == PacketKind::kWrite) {
    if (s.requests.count == s.request_count + s.request_reserved) return Outcome::kRefused;
    const uint64_t hit = match & ~s.pending.in(base)[set];
    g.leader([&] {
      if (hit != 0) touch(s, base, set * p.ways + count_trailing_zeros(hit));
      // The acknowledgement goes from the vault straight to the writer.
      push_request(s, base, now + Tick{p.latency_cycles} * p.period, PacketKind::kWrite,
                   request.line, request.tag, request.sectors, request.src, request.bytes);
      s.counters.writes += 1;
      s.counters.write_hits += hit != 0 ? 1 : 0;
      taken();
    });
    return Outcome::kTaken;
  }

  g.leader([&] {
    if (kind == PacketKind::kInvalidate) {
      drop_line(p, s, base, set, match);
    } else {
      record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
    }
    taken();
  });
  return Outcome::kTaken;
}

/// Look up the oldest request of the network.
template <class G>
NW_HD NW_APART_ON_CPU Outcome look_up_next(const G& g, const L2SliceParams& p, L2SliceState& s,
                                           std::byte* base, Tick now, Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  const Packet& request = front(in, base);
  return look_up(g, p, s, base, now, request, origin_of(request.kind == PacketKind::kAtomic), [&] {
    s.counters.requests_in += 1;
    pop(in, base, now, horizon);
  });
}

/// Take one invalidation from its own network: it needs nothing, so it never blocks.
template <class G>
NW_HD NW_APART_ON_CPU void take_invalidation(const G& g, const L2SliceParams& p, L2SliceState& s,
                                             std::byte* base, Tick now, Horizon& horizon) {
  Channel& in = *s.invalidate_in.in(base);
  const uint32_t line = front(in, base).line;
  const uint32_t set = set_of(p, base, line);
  const uint32_t* tags = s.tags.in(base) + set * p.ways;
  const uint64_t valid = s.valid.in(base)[set];
  const uint64_t match = match_ways(g, p.ways, tags, line) & valid;
  g.leader([&] {
    drop_line(p, s, base, set, match);
    s.counters.requests_in += 1;
    pop(in, base, now, horizon);
  });
}

/// When the next reply can leave, of a fill or a hit; kNever if there is none, or its credit is not
/// known.
NW_HD NW_INLINE Tick next_reply(const L2SliceState& s, std::byte* base) {
  if (s.filling == kNoMshr && s.reply_count == 0) return kNever;
  const Tick ready = send_tick(*s.reply_out.in(base), base);
  return s.filling != kNoMshr ? ready : max_tick(ready, s.replies.in(base)[s.reply_head].due);
}

/// One reply, for which it is time: of a fill and a hit in turns.
template <class G>
NW_HD NW_INLINE void reply(const G& g, const L2SliceParams& p, L2SliceState& s, std::byte* base,
                           Tick now, Horizon& horizon) {
  const bool fill = s.filling != kNoMshr;
  const bool hit = s.reply_count != 0 && s.replies.in(base)[s.reply_head].due <= now;
  const bool take_hit = hit && (!fill || s.hit_turn != 0);
  g.leader([&] {
    if (fill && hit) s.hit_turn = take_hit ? 0 : 1;
    if (take_hit) {
      answer_hit(p, s, base, now, horizon);
    } else {
      answer_waiter(p, s, base, now, horizon);
    }
  });
}

/// Is an operand of the service queue what the fill under way brings next? It needs no way out.
NW_HD NW_INLINE bool fills_service(const L2SliceParams& p, const L2SliceState& s,
                                   const std::byte* base) {
  return s.filling != kNoMshr &&
         s.waiters.in(base)[s.filling * p.mshr_merges + s.next_waiter].origin == L2Origin::kService;
}

/// The same where there is a service queue: its operands need no way out, and it replies in turns
/// with the slice.
template <class G>
NW_HD NW_OUT_OF_LINE void reply_with_service(const G& g, const L2SliceParams& p, L2SliceState& s,
                                             ServiceState& q, std::byte* base, Tick now,
                                             Horizon& horizon) {
  if (fills_service(p, s, base)) {
    g.leader([&] { answer_waiter(p, s, base, now, horizon); });
    return;
  }
  const bool other =
      s.filling != kNoMshr || (s.reply_count != 0 && s.replies.in(base)[s.reply_head].due <= now);
  if (q.to_reply.count == 0 || (other && !q.reply_turn)) {
    if (other && q.to_reply.count != 0 && can_send(*s.reply_out.in(base), base, now))
      g.leader([&] { q.reply_turn = true; });
    if (next_reply(s, base) <= now) reply(g, p, s, base, now, horizon);
    return;
  }
  if (!can_send(*s.reply_out.in(base), base, now)) return;
  g.leader([&] {
    q.reply_turn = false;
    const uint32_t cycle = service::cycle_of(p, now);
    send(*s.reply_out.in(base), base, now, service::take_reply(p.endpoint, q, base, cycle),
         horizon);
  });
}

/// A ComputePacket stands at the network's head: take it into the queue, or, if that is full, look
/// up its operands one after the other for the SM that sent it. Returns false, having changed
/// nothing, if it has to wait.
template <class G>
NW_HD inline bool take_compute_packet(const G& g, const L2SliceParams& p, L2SliceState& s,
                                      ServiceState& q, std::byte* base, Tick now,
                                      Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  const Packet packet = front(in, base);
  const ComputeOrder order = unpack(packet);
  const uint32_t passed = q.passed;
  if (passed == 0 && q.free.any()) {
    g.leader([&] {
      service::accept(q, base, packet, service::cycle_of(p, now));
      s.counters.requests_in += 1;
      pop(in, base, now, horizon);
    });
    return true;
  }
  Packet read = packet;
  read.kind = PacketKind::kRead;
  read.line = order.line[passed];
  read.sectors = 0;
  const auto taken = [&] {
    q.counters.refused += passed == 0 ? 1 : 0;
    q.passed = passed + 1 == order.operands ? 0 : passed + 1;
    if (q.passed != 0) return;
    s.counters.requests_in += 1;
    pop(in, base, now, horizon);
  };
  return look_up(g, p, s, base, now, read, L2Origin::kOperand, taken) == Outcome::kTaken;
}

/// A read of an operand stands at the network's head: data goes to whoever it names.
template <class G>
NW_HD inline bool read_operand(const G& g, const L2SliceParams& p, L2SliceState& s, std::byte* base,
                               Tick now, Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  Packet read = front(in, base);
  read.kind = PacketKind::kRead;
  const auto taken = [&] {
    s.counters.requests_in += 1;
    pop(in, base, now, horizon);
  };
  return look_up(g, p, s, base, now, read, L2Origin::kOperand, taken) == Outcome::kTaken;
}

/// One look-up in a cycle: the network's and the service queue's in turns.
template <class G>
NW_HD NW_OUT_OF_LINE void look_up_with_service(const G& g, const L2SliceParams& p, L2SliceState& s,
                                               ServiceState& q, std::byte* base, Tick now,
                                               Horizon& horizon, bool& blocked,
                                               bool& service_blocked) {
  const bool others = has_packet(*s.request_in.in(base), base, now);
  const bool own = service::looks_up(q);
  const auto look_up_own = [&] {
    const Packet request = service::next_request(p, q, base);
    const auto taken = [&] { service::looked_up(q, base, service::cycle_of(p, now)); };
    return look_up(g, p, s, base, now, request, L2Origin::kService, taken) == Outcome::kTaken;
  };
  const auto look_up_others = [&] {
    const PacketKind kind = front(*s.request_in.in(base), base).kind;
    return kind == kComputePacket ? take_compute_packet(g, p, s, q, base, now, horizon)
           : kind == kOperandRead ? read_operand(g, p, s, base, now, horizon)
                                  : look_up_next(g, p, s, base, now, horizon) == Outcome::kTaken;
  };
  const bool own_first = own && q.own_turn;
  bool own_done = own_first && look_up_own();
  const bool others_done = others && !own_done && look_up_others();
  if (own && !own_first && !others_done) own_done = look_up_own();
  g.leader([&] {
    if (others_done) q.own_turn = true;
    if (own_done) q.own_turn = false;
  });
  const bool none = !own_done && !others_done;
  blocked = others && none;
  service_blocked = own && none;
}

/// Put sectors of a line there before anything runs.
template <class G>
NW_HD void preload(const G& g, const L2SliceParams& p, L2SliceState& s, std::byte* base,
                   LineAddr line, uint32_t sectors) {
  const uint32_t set = set_of(p, base, line);
  uint32_t* tags = s.tags.in(base) + set * p.ways;
  const uint64_t valid = s.valid.in(base)[set];
  const uint64_t match = match_ways(g, p.ways, tags, line) & valid;
  const uint64_t empty = ~valid & low_bits(p.ways);
  const uint32_t way = match != 0 ? count_trailing_zeros(match)
                       : empty != 0
                           ? count_trailing_zeros(empty)
                           : find_victim(g, p.ways, s.used.in(base) + set * p.ways, s.uses, 0);
  g.leader([&] {
    touch(s, base, set * p.ways + way);
    s.valid.in(base)[set] = valid | uint64_t{1} << way;
    tags[way] = line;
    if (p.by_sectors == 0) return;
    uint8_t& readable = s.sectors.in(base)[set * p.ways + way].readable;
    readable = static_cast<uint8_t>((match != 0 ? readable : 0u) | sectors);
  });
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

/// When the service queue does something, `from` or later.
NW_HD NW_OUT_OF_LINE inline Tick next_of_service(const L2SliceParams& p, const L2SliceState& s,
                                                 const ServiceState& q, std::byte* base, Tick from,
                                                 bool blocked, bool& poll) {
  if (fills_service(p, s, base)) return from;
  const Tick next = service::next_event(q, base, from, blocked);
  if (q.to_reply.count == 0) return next;
  const Tick ready = send_tick(*s.reply_out.in(base), base);
  poll |= ready >= kNever;
  return min_tick(next, ready);
}

/// When the next invalidation can be taken.
NW_HD NW_INLINE Tick next_invalidation(const L2SliceState& s, std::byte* base) {
  return s.invalidate_in.count != 0 ? head_arrival(*s.invalidate_in.in(base), base) : kNever;
}

/// step_l2_slice(), with or without a service queue.
template <bool kService, class G>
NW_HD NW_INLINE StepResult step_slice(const G& g, const L2SliceParams& p, L2SliceState& s,
                                      std::byte* base, Window window, Horizon& horizon) {
  const Channel& request_in = *s.request_in.in(base);
  const Channel& memory_in = *s.memory_in.in(base);
  const Tick period = p.period;
  ServiceState* const service = kService ? s.service.in(base) : nullptr;
  const auto mshr_missing = [&] { return s.needs_mshr != 0 && s.free_mshr == kNoMshr; };
  bool blocked = mshr_missing();  // the oldest request waits for something inside the slice
  bool service_blocked = false;   // and so does the service queue's
  bool service_poll = false;

  // Earliest ticks. Values before the window's end are the same in all lanes.
  Tick input = head_arrival(request_in, base);
  Tick from_memory = next_from_memory(s, memory_in, base);
  Tick invalidation = next_invalidation(s, base);
  Tick reply_at = next_reply(s, base), request_at = next_request(s, base);

  // Earliest tick, `from` or later, at which something can be done, as far as is known.
  const auto next_event = [&](Tick from) -> Tick {
    Tick next = min_tick(min_tick(from_memory, invalidation), min_tick(reply_at, request_at));
    if (!blocked) {
      next = min_tick(next, input);
    } else {
      if (s.atomics_until >= from) next = min_tick(next, s.atomics_until);
      if (s.tags_until >= from) next = min_tick(next, s.tags_until);
    }
    if constexpr (kService) {
      service_poll = false;
      next = min_tick(next,
                      next_of_service(p, s, *service, base, from, service_blocked, service_poll));
    }
    return next;
  };
  const auto cycle_of = [&](Tick at) {
    return at >= kNever ? kNever : cycle_at_or_after(at, p.period) * period;
  };

  Tick t = cycle_of(max_tick(next_event(window.begin), window.begin));
  while (t < window.end) {
    if (from_memory <= t) {
      take_from_memory(g, p, s, base, t, horizon);
      from_memory = next_from_memory(s, memory_in, base);
      reply_at = next_reply(s, base);
    }
    if (invalidation <= t) {
      take_invalidation(g, p, s, base, t, horizon);
      invalidation = next_invalidation(s, base);
    }
    if constexpr (kService) {
      g.leader([&] { service::advance(p, *service, base, t); });
      reply_with_service(g, p, s, *service, base, t, horizon);
      from_memory = next_from_memory(s, memory_in, base);
      reply_at = next_reply(s, base);
      request_at = next_request(s, base);
    } else if (reply_at <= t) {
      reply(g, p, s, base, t, horizon);
      from_memory = next_from_memory(s, memory_in, base);
      reply_at = next_reply(s, base);
      if (request_at >= kNever) request_at = next_request(s, base);  // of an atomic
    }
    if (request_at <= t) {
      g.leader([&] { send_request(p, s, base, t, horizon); });
      request_at = next_request(s, base);
    }
    if constexpr (kService) {
      look_up_with_service(g, p, s, *service, base, t, horizon, blocked, service_blocked);
      input = head_arrival(request_in, base);
      reply_at = next_reply(s, base);
      request_at = next_request(s, base);
    } else if (input <= t && !mshr_missing()) {
      const Outcome outcome = p.by_sectors != 0 ? look_up_sectors(g, p, s, base, t, horizon)
                                                : look_up_next(g, p, s, base, t, horizon);
      blocked = outcome != Outcome::kTaken;
      const uint32_t needs_mshr = outcome == Outcome::kNoMshr ? 1 : 0;
      if (needs_mshr != s.needs_mshr) g.leader([&] { s.needs_mshr = needs_mshr; });
      if (!blocked) {
        input = head_arrival(request_in, base);
        if (reply_at >= kNever) reply_at = next_reply(s, base);
        if (request_at >= kNever) request_at = next_request(s, base);
      }
    }
    const Tick next = next_event(t + 1);
    t = next <= t + period ? t + period : cycle_of(next);
  }

  StepResult result;
  result.poll = (reply_at >= kNever && (s.filling != kNoMshr || s.reply_count != 0)) ||
                (request_at >= kNever && s.request_count != 0) || service_poll;
  result.wake = max_tick(t, window.end);
  return result;
}

}  // namespace l2_detail

/// Step an L2 slice through a window.
///
/// Reads:  requests from the crossbar, replies from the link port; sends requests to the link port,
///         replies to the reply crossbar.
/// State:  tags, their last uses, MSHRs with their requesters, two rings of delayed departures.
/// Units:  times in ticks of the machine's base clock.
template <class G>
NW_HD NW_APART StepResult step_l2_slice(const G& g, const L2SliceParams& p, L2SliceState& s,
                                        std::byte* base, Window window, Horizon& horizon) {
  return s.service.count != 0 ? l2_detail::step_slice<true>(g, p, s, base, window, horizon)
                              : l2_detail::step_slice<false>(g, p, s, base, window, horizon);
}

/// Lay out an L2 slice over its four channels. The rings hold what the pipeline can hold plus
/// `queue_entries` that wait for a credit.
template <class Allocator>
L2SliceState make_l2_slice(Allocator& arena, const L2SliceParams& p, uint32_t queue_entries,
                           Ref<Channel> request_in, Ref<Channel> memory_in, Ref<Channel> memory_out,
                           Ref<Channel> reply_out) {
  NW_ASSERT(p.ways >= 1 && p.ways <= 64 && p.mshr_entries >= 1 && p.mshr_entries < 0xffff);
  NW_ASSERT(p.mshr_merges >= 1);
  NW_ASSERT(p.write_back == 0 || p.by_sectors != 0);
  NW_ASSERT(p.by_sectors == 0 || p.line_bytes <= 8 * p.sector_bytes);
  L2SliceState s;
  s.request_in = request_in;
  s.memory_in = memory_in;
  s.memory_out = memory_out;
  s.reply_out = reply_out;
  const uint32_t sets = p.index.sets;
  const uint32_t depth = p.latency_cycles + (queue_entries < 2 ? 2 : queue_entries);
  s.tags = arena.template allocate<uint32_t>(sets * p.ways);
  s.used = arena.template allocate<uint32_t>(sets * p.ways);
  s.mshr_of = arena.template allocate<uint16_t>(sets * p.ways);
  s.valid = arena.template allocate<uint64_t>(sets);
  s.pending = arena.template allocate<uint64_t>(sets);
  if (p.by_sectors != 0) s.sectors = arena.template allocate<L2Sectors>(sets * p.ways);
  s.mshrs = arena.template allocate<L2Mshr>(p.mshr_entries);
  s.waiters = arena.template allocate<L2Waiter>(p.mshr_entries * p.mshr_merges);
  s.replies = arena.template allocate<L2Reply>(depth);
  s.requests = arena.template allocate<L2Request>(depth);
  std::byte* base = arena.base();
  for (uint32_t i = 0; i < p.mshr_entries; ++i) {
    s.mshrs.in(base)[i].next_free = i + 1 == p.mshr_entries ? kNoMshr : i + 1;
  }
  return s;
}

}  // namespace nearwarp
