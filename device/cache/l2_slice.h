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
NW_HD NW_INLINE void take_from_memory(const G& g, const L2SliceParams& p, L2SliceState& s,
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
NW_HD NW_INLINE void answer_waiter(const L2SliceParams& p, L2SliceState& s, std::byte* base,
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
NW_HD NW_INLINE void answer_hit(const L2SliceParams& p, L2SliceState& s, std::byte* base, Tick now,
                                Horizon& horizon) {
  const L2Reply& r = s.replies.in(base)[s.reply_head];
  send_reply(p, s, base, now, r.line, r.tag, r.sectors, r.dst, r.kind, horizon);
  s.reply_head = s.reply_head + 1 == s.replies.count ? 0 : s.reply_head + 1;
  s.reply_count -= 1;
}

/// Send the oldest request to memory. Leader only.
NW_HD NW_INLINE void send_request(const L2SliceParams& p, L2SliceState& s, std::byte* base,
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

/// Look up a request, if what it needs is there; the leader calls `taken` then. Returns false,
/// having changed nothing, if it has to wait for something inside this slice.
template <class G, class F>
NW_HD NW_INLINE bool look_up(const G& g, const L2SliceParams& p, L2SliceState& s, std::byte* base,
                             Tick now, const Packet& request, L2Origin origin, F&& taken) {
  const uint32_t set = set_of(p, base, request.line);
  const uint32_t* tags = s.tags.in(base) + set * p.ways;
  uint8_t* ages = s.ages.in(base) + set * p.ways;
  const uint64_t valid = s.valid.in(base)[set];
  const uint64_t pending = s.pending.in(base)[set];
  const uint64_t match =
      ballot_ways(g, p, [&](uint32_t i) { return tags[i] == request.line; }) & valid;
  const Tick due = now + Tick{p.latency_cycles} * p.period;
  const bool atomic = request.kind == PacketKind::kAtomic;
  const uint32_t room = s.requests.count - s.request_count - s.request_reserved;
  if (atomic && now < s.atomics_until) return false;

  if (request.kind == PacketKind::kRead || atomic) {
    if ((match & ~pending) != 0) {  // hit
      const bool replies = origin != L2Origin::kService;
      if ((replies && s.reply_count == s.replies.count) || (atomic && room == 0)) return false;
      touch(g, p, ages, count_trailing_zeros(match));
      g.leader([&] {
        if (replies) {
          push_reply(s, base, due, request, reply_kind(origin));
        } else {
          s.service.in(base)->arriving.push(base, due, request.tag);
        }
        if (atomic) push_atomic_write(p, s, base, due, request.line, request.sectors);
        s.counters.reads += atomic ? 0 : 1;
        s.counters.read_hits += atomic ? 0 : 1;
        s.counters.atomics += atomic ? 1 : 0;
        s.counters.atomic_hits += atomic ? 1 : 0;
        if (atomic) occupy_atomics(p, s, request, now);
        taken();
      });
      return true;
    }
    const bool merge = match != 0;
    uint32_t way = 0, index = s.free_mshr;
    if (merge) {
      way = count_trailing_zeros(match);
      index = s.mshr_of.in(base)[set * p.ways + way];
      if (s.mshrs.in(base)[index].waiters == p.mshr_merges || (atomic && room == 0)) return false;
    } else {
      if (index == kNoMshr || room < (atomic ? 2u : 1u)) return false;
      const uint64_t empty = ~valid & low_bits(p.ways);
      way = empty != 0 ? count_trailing_zeros(empty) : find_victim(g, p, ages, pending);
      if (way == kNoLane) return false;  // every way waits for its line
      touch(g, p, ages, way);
    }
    g.leader([&] {
      L2Mshr& m = s.mshrs.in(base)[index];
      if (!merge) {
        s.free_mshr = m.next_free;
        s.mshrs_in_use += 1;
        m.line = request.line;
        m.set = set;
        m.way = static_cast<uint16_t>(way);
        m.waiters = 0;
        m.keep = 1;
        const uint64_t bit = uint64_t{1} << way;
        s.counters.evictions += (valid & bit) != 0 ? 1 : 0;
        s.valid.in(base)[set] = valid | bit;
        s.pending.in(base)[set] = pending | bit;
        s.tags.in(base)[set * p.ways + way] = request.line;
        s.mshr_of.in(base)[set * p.ways + way] = static_cast<uint16_t>(index);
        push_request(s, base, due, PacketKind::kRead, request.line, index, 0, p.endpoint,
                     p.header_bytes);
      }
      L2Waiter& w = s.waiters.in(base)[index * p.mshr_merges + m.waiters];
      w.tag = request.tag;
      w.sectors = request.sectors;
      w.src = request.src;
      w.origin = origin;
      m.waiters = static_cast<uint16_t>(m.waiters + 1);
      s.request_reserved += atomic ? 1 : 0;
      s.counters.reads += atomic ? 0 : 1;
      s.counters.atomics += atomic ? 1 : 0;
      s.counters.read_misses += !atomic && !merge ? 1 : 0;
      s.counters.read_merges += !atomic && merge ? 1 : 0;
      s.counters.atomic_misses += atomic && !merge ? 1 : 0;
      s.counters.atomic_merges += atomic && merge ? 1 : 0;
      if (atomic) occupy_atomics(p, s, request, now);
      taken();
    });
    return true;
  }

  if (request.kind == PacketKind::kWrite) {
    if (room == 0) return false;
    const uint64_t hit = match & ~pending;
    if (hit != 0) touch(g, p, ages, count_trailing_zeros(hit));
    g.leader([&] {
      // The acknowledgement goes from the vault straight to the writer.
      push_request(s, base, due, PacketKind::kWrite, request.line, request.tag, request.sectors,
                   request.src, request.bytes);
      s.counters.writes += 1;
      s.counters.write_hits += hit != 0 ? 1 : 0;
      taken();
    });
    return true;
  }

  g.leader([&] {
    if (request.kind == PacketKind::kInvalidate) {
      drop_line(p, s, base, set, match);
    } else {
      record_fault(s.fault, kFaultUnexpectedPacket, p.endpoint, now);
    }
    taken();
  });
  return true;
}

/// Look up the oldest request of the network.
template <class G>
NW_HD NW_INLINE bool look_up_next(const G& g, const L2SliceParams& p, L2SliceState& s,
                                  std::byte* base, Tick now, Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  const Packet request = front(in, base);
  return look_up(g, p, s, base, now, request, origin_of(request.kind == PacketKind::kAtomic), [&] {
    s.counters.requests_in += 1;
    pop(in, base, now, horizon);
  });
}

/// Take one invalidation from its own network: it needs nothing, so it never blocks.
template <class G>
NW_HD NW_INLINE void take_invalidation(const G& g, const L2SliceParams& p, L2SliceState& s,
                                       std::byte* base, Tick now, Horizon& horizon) {
  Channel& in = *s.invalidate_in.in(base);
  const uint32_t line = front(in, base).line;
  const uint32_t set = set_of(p, base, line);
  const uint32_t* tags = s.tags.in(base) + set * p.ways;
  const uint64_t valid = s.valid.in(base)[set];
  const uint64_t match = g.ballot(p.ways, [&](uint32_t i) { return tags[i] == line; }) & valid;
  g.leader([&] {
    drop_line(p, s, base, set, match);
    s.counters.requests_in += 1;
    pop(in, base, now, horizon);
  });
}

/// One reply: of a fill and a hit in turns.
template <class G>
NW_HD NW_INLINE void reply(const G& g, const L2SliceParams& p, L2SliceState& s, std::byte* base,
                           Tick now, Horizon& horizon) {
  const bool fill = s.filling != kNoMshr;
  const bool hit = s.reply_count != 0 && s.replies.in(base)[s.reply_head].due <= now;
  if (!(fill || hit) || !can_send(*s.reply_out.in(base), base, now)) return;
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
NW_HD NW_APART void reply_with_service(const G& g, const L2SliceParams& p, L2SliceState& s,
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
    reply(g, p, s, base, now, horizon);
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
  return look_up(g, p, s, base, now, read, L2Origin::kOperand, [&] {
    q.counters.refused += passed == 0 ? 1 : 0;
    q.passed = passed + 1 == order.operands ? 0 : passed + 1;
    if (q.passed != 0) return;
    s.counters.requests_in += 1;
    pop(in, base, now, horizon);
  });
}

/// A read of an operand stands at the network's head: data goes to whoever it names.
template <class G>
NW_HD inline bool read_operand(const G& g, const L2SliceParams& p, L2SliceState& s, std::byte* base,
                               Tick now, Horizon& horizon) {
  Channel& in = *s.request_in.in(base);
  Packet read = front(in, base);
  read.kind = PacketKind::kRead;
  return look_up(g, p, s, base, now, read, L2Origin::kOperand, [&] {
    s.counters.requests_in += 1;
    pop(in, base, now, horizon);
  });
}

/// One look-up in a cycle: the network's and the service queue's in turns.
template <class G>
NW_HD NW_APART void look_up_with_service(const G& g, const L2SliceParams& p, L2SliceState& s,
                                         ServiceState& q, std::byte* base, Tick now,
                                         Horizon& horizon, bool& blocked, bool& service_blocked) {
  const bool others = has_packet(*s.request_in.in(base), base, now);
  const bool own = service::looks_up(q);
  const auto look_up_own = [&] {
    const Packet request = service::next_request(p, q, base);
    return look_up(g, p, s, base, now, request, L2Origin::kService,
                   [&] { service::looked_up(q, base, service::cycle_of(p, now)); });
  };
  const auto look_up_others = [&] {
    const PacketKind kind = front(*s.request_in.in(base), base).kind;
    return kind == kComputePacket ? take_compute_packet(g, p, s, q, base, now, horizon)
           : kind == kOperandRead ? read_operand(g, p, s, base, now, horizon)
                                  : look_up_next(g, p, s, base, now, horizon);
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
  uint8_t* ages = s.ages.in(base) + set * p.ways;
  const uint64_t valid = s.valid.in(base)[set];
  const uint64_t match = g.ballot(p.ways, [&](uint32_t i) { return tags[i] == line; }) & valid;
  const uint64_t empty = ~valid & low_bits(p.ways);
  const uint32_t way = match != 0   ? count_trailing_zeros(match)
                       : empty != 0 ? count_trailing_zeros(empty)
                                    : find_victim(g, p, ages, 0);
  g.leader([&] {
    s.valid.in(base)[set] = valid | uint64_t{1} << way;
    tags[way] = line;
    if (p.by_sectors == 0) return;
    uint8_t& readable = s.sectors.in(base)[set * p.ways + way].readable;
    readable = static_cast<uint8_t>((match != 0 ? readable : 0u) | sectors);
  });
  touch(g, p, ages, way);
}

}  // namespace l2_detail

/// Step an L2 slice through a window.
///
/// Reads:  requests from the crossbar, replies from the link port; sends requests to the link port,
///         replies to the reply crossbar.
/// State:  tags, ages, MSHRs with their requesters, two rings of delayed departures.
/// Units:  times in ticks of the machine's base clock.
template <class G>
NW_HD NW_APART StepResult step_l2_slice(const G& g, const L2SliceParams& p, L2SliceState& s,
                                        std::byte* base, Window window, Horizon& horizon) {
  using namespace l2_detail;
  const Channel& request_in = *s.request_in.in(base);
  const Channel& memory_in = *s.memory_in.in(base);
  const Channel& memory_out = *s.memory_out.in(base);
  const Channel& reply_out = *s.reply_out.in(base);
  ServiceState* const service = s.service.count != 0 ? s.service.in(base) : nullptr;
  bool blocked = false;          // the oldest request waits for something inside the slice
  bool service_blocked = false;  // and so does the service queue's
  bool poll = false;

  // Earliest tick, `from` or later, at which something can be done, as far as is known. Values
  // before the window's end are the same in all lanes.
  const auto next_event = [&](Tick from) -> Tick {
    Tick next = kNever;
    poll = false;
    const bool fill = s.filling != kNoMshr;
    if (fill || s.reply_count != 0) {
      const Tick ready = fill ? from : max_tick(from, s.replies.in(base)[s.reply_head].due);
      const Tick credit = send_tick(reply_out, base);
      poll |= credit >= kNever;
      next = min_tick(next, max_tick(ready, credit));
    }
    if (s.request_count != 0) {
      const Tick credit = send_tick(memory_out, base);
      poll |= credit >= kNever;
      next = min_tick(next, max_tick(s.requests.in(base)[s.request_head].due, credit));
    }
    if (!fill) next = min_tick(next, head_arrival(memory_in, base));
    if (!blocked) next = min_tick(next, head_arrival(request_in, base));
    if (blocked) {
      if (s.atomics_until >= from) next = min_tick(next, s.atomics_until);
      if (s.tags_until >= from) next = min_tick(next, s.tags_until);
    }
    if (s.invalidate_in.count != 0)
      next = min_tick(next, head_arrival(*s.invalidate_in.in(base), base));
    if (service != nullptr) {
      next = min_tick(next, service::next_event(*service, base, from, service_blocked));
      if (fills_service(p, s, base)) next = min_tick(next, from);
      if (service->to_reply.count != 0) {
        const Tick credit = send_tick(reply_out, base);
        poll |= credit >= kNever;
        next = min_tick(next, max_tick(from, credit));
      }
    }
    if (next >= kNever) return kNever;
    return cycle_at_or_after(max_tick(next, from), p.period) * p.period;
  };

  Tick t = next_event(window.begin);
  while (t < window.end) {
    if (s.filling == kNoMshr && has_packet(memory_in, base, t)) {
      take_from_memory(g, p, s, base, t, horizon);
    }
    if (s.invalidate_in.count != 0 && has_packet(*s.invalidate_in.in(base), base, t)) {
      take_invalidation(g, p, s, base, t, horizon);
    }
    if (service != nullptr) {
      g.leader([&] { service::advance(p, *service, base, t); });
      reply_with_service(g, p, s, *service, base, t, horizon);
    } else {
      reply(g, p, s, base, t, horizon);
    }
    if (s.request_count != 0 && s.requests.in(base)[s.request_head].due <= t &&
        can_send(memory_out, base, t)) {
      g.leader([&] { send_request(p, s, base, t, horizon); });
    }
    if (service != nullptr) {
      look_up_with_service(g, p, s, *service, base, t, horizon, blocked, service_blocked);
    } else {
      blocked = has_packet(request_in, base, t) &&
                !(p.by_sectors != 0 ? look_up_sectors(g, p, s, base, t, horizon)
                                    : look_up_next(g, p, s, base, t, horizon));
    }
    t = next_event(t + 1);
  }

  StepResult result;
  result.poll = poll;
  result.wake = max_tick(t, window.end);
  return result;
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
  s.ages = arena.template allocate<uint8_t>(sets * p.ways);
  s.mshr_of = arena.template allocate<uint16_t>(sets * p.ways);
  s.valid = arena.template allocate<uint64_t>(sets);
  s.pending = arena.template allocate<uint64_t>(sets);
  if (p.by_sectors != 0) s.sectors = arena.template allocate<L2Sectors>(sets * p.ways);
  s.mshrs = arena.template allocate<L2Mshr>(p.mshr_entries);
  s.waiters = arena.template allocate<L2Waiter>(p.mshr_entries * p.mshr_merges);
  s.replies = arena.template allocate<L2Reply>(depth);
  s.requests = arena.template allocate<L2Request>(depth);
  std::byte* base = arena.base();
  for (uint32_t i = 0; i < sets * p.ways; ++i) {
    s.ages.in(base)[i] = static_cast<uint8_t>(i % p.ways);
  }
  for (uint32_t i = 0; i < p.mshr_entries; ++i) {
    s.mshrs.in(base)[i].next_free = i + 1 == p.mshr_entries ? kNoMshr : i + 1;
  }
  return s;
}

}  // namespace nearwarp
