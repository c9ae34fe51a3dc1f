// The offload queue of an SM (OC, sections 4.2 and 4.4.1).
//
// A warp that comes to the first instruction of a chain leaves the ready set and goes through these
// steps:
//   fetching   only where fetching takes time: after the first instructions of the chain have been
//              decoded, the others are fetched before those of other warps. (An instruction buffer
//              of two would be refilled as they are issued; here they are issued once all have
//              been fetched.)
//   waiting, deciding   the warp waits until the values that the chain reads from earlier
//              instructions are there. Then its lines are known. The SM executes the chain itself,
//              like any other code, if an operand is in the L1, if the queue is full, if its lanes
//              access too many different lines, or if no node that computes has all data of a lane;
//   issuing    its instructions take the next turns of their scheduler, ahead of other warps;
//   away       a ComputePacket leaves for each set of lanes that access the same lines. The warp
//              waits until all results, or the acknowledgements of their stores, have come. If a
//              service queue was full, the operands come instead, or are sent for, and this SM
//              executes the chain.
#pragma once

#include "device/mechanisms/opportunistic/sm_service.h"
#include "device/sm/issue.h"

namespace nearwarp::opportunistic {

template <class O>
NW_HD NW_INLINE WarpSide& side_of(O& o, uint32_t warp) {
  return o.s.warps.in(o.v.base)[warp];
}
template <class O>
NW_HD NW_INLINE const OffloadChain& chain_of(O& o, const WarpSide& t) {
  return o.p.chains.in(o.v.base)[t.chain];
}
template <class O>
NW_HD NW_INLINE ChainCounters& counters_of(O& o, const WarpSide& t) {
  return o.s.chains.in(o.v.base)[t.chain];
}

/// Tell the SM whether this mechanism has packets for the network.
template <class O>
NW_HD NW_INLINE void note_network(O& o) {
  auto& wants = o.v.s.wants_network;
  const bool sends = o.s.to_send.any() || (o.s.service.count != 0 && has_requests(service_of(o)));
  wants = static_cast<uint8_t>(sends ? wants | o.bit : wants & ~o.bit);
}

/// The first cycle in which the chain has every value that it reads from earlier instructions;
/// kPendingLoad while one of them is still being loaded. Registers that the chain itself writes are
/// not waited for.
template <class O>
NW_HD inline uint32_t operands_ready(const O& o, uint32_t warp, const OffloadChain& c) {
  const auto& v = o.v;
  const uint32_t first = v.warps[warp].at.pc;
  const uint32_t* ready = v.slots(warp);
  uint32_t at = 0;
  for (uint32_t i = 0; i < c.instructions; ++i) {
    const sm::ImageInstr& in = v.instr(first + i);
    for (uint32_t k = 0; k < in.num_slots; ++k) {
      bool own = false;
      for (uint32_t j = 0; j < i; ++j) {
        const sm::ImageInstr& before = v.instr(first + j);
        for (uint32_t d = 0; d < before.num_dsts; ++d) own |= before.slots[d] == in.slots[k];
      }
      if (!own && ready[in.slots[k]] > at) at = ready[in.slots[k]];
    }
  }
  return at;
}

/// Take the warp from the scheduler, in `step`, until let_go().
template <class O>
NW_HD inline void hold(O& o, uint32_t warp, Step step) {
  auto& w = o.v.warps[warp];
  sm::enter_phase(o.v, warp, sm::Phase::kHeld);
  w.holder = static_cast<uint8_t>(o.bit);
  side_of(o, warp).step = step;
}

/// Give the warp back to the scheduler, to go on at its cursor, not before cycle `earliest`.
template <class O>
NW_HD NW_APART inline void let_go(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  auto& w = o.v.warps[warp];
  sm::enter_phase(o.v, warp, sm::Phase::kRunning);
  w.holder = 0;
  side_of(o, warp).step = Step::kNone;
  sm::continue_warp(o.v, warp, now, earliest);
}

/// Make the warp decide once the chain's operands are there.
template <class O>
NW_HD NW_APART inline void wait_for_operands(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  const WarpSide& t = side_of(o, warp);
  const uint32_t at = operands_ready(o, warp, chain_of(o, t));
  if (at == sm::kPendingLoad) {
    hold(o, warp, Step::kWaiting);  // the end of each memory operation asks again
    return;
  }
  hold(o, warp, Step::kDeciding);
  const uint32_t when = at > earliest ? at : earliest;
  sm::set_timer(o.v, warp, when > now ? when : now + 1, now);
}

/// Ask the fetch stage for the next of the chain's instructions. A warp that has some of them
/// already goes before other warps.
template <class V>
NW_HD inline void want_fetch(V& v, uint32_t warp, const WarpSide& t) {
  v.s.fetch.wanted.set(warp);
  if (t.fetched != 0) v.s.fetch.ahead.set(warp);  // the mark of a chain has been decoded
}

/// Fetch the chain's instructions. Returns true if all of them are in the warp's buffer; else it
/// holds the warp.
template <class O>
NW_HD inline bool fetch_chain(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  sm::Warp& w = o.v.warps[warp];
  WarpSide& t = side_of(o, warp);
  const bool expected = w.fetch_pc == w.at.pc;
  t.fetched = expected ? w.fetched : 0;
  if (t.fetched >= chain_of(o, t).instructions) return true;
  hold(o, warp, Step::kFetching);
  // Only the scheduler, a turn later, sees that the buffer has instructions of another place.
  const bool lost = !expected && w.fetched != 0;
  w.fetched = 0;
  if (lost) {
    w.fetch_pc = w.at.pc;
    sm::set_timer(o.v, warp, earliest > now ? earliest : now + 1, now);
    return false;
  }
  if (expected) w.fetch_pc = w.at.pc + t.fetched;
  want_fetch(o.v, warp, t);
  return false;
}

/// The fetch stage has fetched instructions for a warp in Step::kFetching.
template <class O>
NW_HD inline void fetch_more(O& o, uint32_t warp, uint32_t now, uint32_t issue) {
  auto& v = o.v;
  sm::Warp& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  NW_ASSERT(t.step == Step::kFetching);
  if (w.fetch_pc != w.at.pc + t.fetched) {  // a branch led here: other instructions were fetched
    v.s.fetch.counters.wasted += 1;
    w.fetch_pc = w.at.pc;
    sm::set_timer(v, warp, issue, now);
    return;
  }
  t.fetched = static_cast<uint8_t>(t.fetched + v.p.fetch.width);
  w.fetch_pc += v.p.fetch.width;
  if (t.fetched < chain_of(o, t).instructions) {
    want_fetch(v, warp, t);
    return;
  }
  v.s.fetch.ahead.clear(warp);
  wait_for_operands(o, warp, now, issue);
}

/// Set the warp's instruction buffer after `taken` instructions of a chain have been issued (all of
/// them, or 0) that begins at `first`.
template <class V>
NW_HD inline void keep_fetched(const V& v, sm::Warp& w, const WarpSide& t, uint32_t first,
                               uint32_t taken) {
  if (v.p.fetch.width == 0) return;
  const uint32_t rest = t.fetched - taken;
  w.fetched = static_cast<uint8_t>(rest < v.p.fetch.width ? rest : v.p.fetch.width);
  w.fetch_pc = first + taken;
}

/// Is the line in the L1, or being fetched into it?
template <class V>
NW_HD inline bool in_l1(const V& v, LineAddr line) {
  const LineAddr* tags = v.s.l1.tags.in(v.base) + cache::first_way(v.p.l1, line);
  return cache::find(v.p.l1.ways, tags, line) != kNoLane;
}

/// The memory accesses of a chain: its loads, then its store if it has one.
struct ChainAccesses {
  trace::RecordView of[kMaxOperands + 1] = {};
  uint32_t count = 0;
  bool stores = false;      ///< the last access is a store
  uint32_t last_bytes = 0;  ///< bytes per lane of the last access
};

/// Read a chain's accesses from the trace; false if one of them has no active lane.
template <class V>
NW_HD inline bool read_accesses(const V& v, const sm::Warp& w, const OffloadChain& c,
                                ChainAccesses& out) {
  const uint64_t* words = v.words(w);
  uint32_t pos = w.at.trace_pos;
  for (uint32_t i = 0; i < c.instructions; ++i) {
    const sm::ImageInstr& in = v.instr(w.at.pc + i);
    if ((in.flags & sm::kHasRecord) == 0) continue;
    const sm::Access a = sm::read_access(words, pos, w.at.mask, in.flags & sm::kGuarded);
    pos = a.next;
    if (a.mask == 0) return false;
    out.of[out.count++] = a.in(words);
    out.stores = in.action == sm::Action::kStore;
    out.last_bytes = in.lane_bytes;
  }
  return true;
}

/// Add a lane to the part that accesses the same lines, or to a new one. Returns false if that
/// would be more than `max_parts`.
template <class V>
NW_HD inline bool add_lane(const V& v, const sm::Warp& w, const ChainAccesses& accesses,
                           uint32_t lane, uint32_t max_parts, WarpSide& t) {
  LineAddr lines[kMaxOperands + 1] = {};
  uint32_t sector = 0, word = 0;
  for (uint32_t k = 0; k < accesses.count; ++k) {
    const uint64_t address = sm::lane_address(accesses.of[k], lane);
    lines[k] = sm::line_of_data(v, w.space, v.p.grid.line_of(address));
    const uint32_t within = v.p.grid.byte_of(address);
    sector = 1u << (within / v.p.sector_bytes);
    word = within / kWordBytes;
  }
  const uint32_t operands = accesses.count - (accesses.stores ? 1 : 0);
  uint32_t k = 0;
  for (; k < t.num_parts; ++k) {
    const ComputeOrder& o = t.parts[k].order;
    bool same = !accesses.stores || o.store_line == lines[operands];
    for (uint32_t i = 0; i < operands; ++i) same = same && o.line[i] == lines[i];
    if (same) break;
  }
  if (k == max_parts) return false;
  Part& part = t.parts[k];
  if (k == t.num_parts) {
    t.num_parts = static_cast<uint8_t>(k + 1);
    part = Part{};
    part.order.operands = static_cast<uint8_t>(operands);
    part.order.stores = accesses.stores;
    for (uint32_t i = 0; i < operands; ++i) part.order.line[i] = lines[i];
    if (accesses.stores) part.order.store_line = lines[operands];
  }
  part.lanes = static_cast<uint8_t>(part.lanes + 1);
  if (!accesses.stores) return true;
  part.order.store_sectors = static_cast<uint8_t>(part.order.store_sectors | sector);
  // Only lanes that write whole words are noted. Without these notes `store_whole` stays false, and
  // the L2 takes the line as partly written.
  if (!v.p.mark_words || accesses.last_bytes != kWordBytes) return true;
  part.words |= uint64_t{1} << word;
  const uint64_t all = low_bits(v.p.grid.line_bytes() / kWordBytes);
  part.order.store_whole = (part.words & all) == all;
  return true;
}

/// The node that executes a part: the L2 slice that has all of its data. If two slices have it
/// (one operand each, or both operands and the result), the SM on the way between them, where SMs
/// compute for others. kNoMeeting: no node can.
template <class O>
NW_HD inline Endpoint node_for(const O& o, const ComputeOrder& order) {
  const auto& v = o.v;
  const Endpoint first = v.home_of(order.line[0]);
  Endpoint other = order.operands == 2 ? v.home_of(order.line[1]) : first;
  if (other == first && order.stores) other = v.home_of(order.store_line);
  if (other == first) return first;
  if (o.p.slices == 0) return kNoMeeting;
  const uint8_t* slice_at = o.p.slice_at.in(v.base);
  return o.s.meetings.in(v.base)[slice_at[node_of(first)] * o.p.slices + slice_at[node_of(other)]];
}

/// The counter of the reason for which this SM executes the chain itself; null if the chain is
/// offloaded. Fills in the warp's parts.
template <class O>
NW_HD NW_APART inline uint64_t* refusal(O& o, uint32_t warp, WarpSide& t, const OffloadChain& c) {
  auto& v = o.v;
  const sm::Warp& w = v.warps[warp];
  ChainCounters& n = counters_of(o, t);
  t.num_parts = 0;
  t.missed = false;
  ChainAccesses accesses;
  if (!read_accesses(v, w, c, accesses)) return &n.inactive;
  for (uint32_t rest = w.at.mask; rest != 0; rest &= rest - 1)
    if (!add_lane(v, w, accesses, count_trailing_zeros(rest), o.p.max_parts, t))
      return &n.divergent;
  for (uint32_t i = 0; i < t.parts[0].order.operands; ++i) {
    for (uint32_t k = 0; k < t.num_parts; ++k)
      if (in_l1(v, t.parts[k].order.line[i])) return &n.l1_hits;
    t.missed = true;
  }
  for (uint32_t k = 0; k < t.num_parts; ++k) {
    Part& part = t.parts[k];
    part.home = node_for(o, part.order);
    if (part.home == kNoMeeting) return &n.elsewhere;
  }
  return o.s.in_use + t.num_parts > o.p.entries ? &n.full : nullptr;
}

/// Count the instruction at the warp's cursor as issued, and move the cursor to the next one.
template <class V>
NW_HD inline void pass_instruction(V& v, sm::Warp& w) {
  const sm::ImageInstr& in = v.instr(w.at.pc);
  auto& n = v.s.counters;
  n.count_issue(in, population_count(w.at.mask));
  const uint64_t* words = v.words(w);
  if ((in.flags & sm::kHasRecord) != 0) {
    w.at.trace_pos =
        sm::read_access(words, w.at.trace_pos, w.at.mask, in.flags & sm::kGuarded).next;
    (in.action == sm::Action::kStore ? n.stores : n.loads) += 1;
  }
  sm::advance(w.at, words, v.system.image, w.first_block);
}

/// Charge the load-store unit for the L1 look-ups of an offloaded chain, one line per cycle. (The
/// lines of a chain that stays are looked up by its own loads and its store.)
template <class V>
NW_HD inline void look_up_lines(V& v, uint32_t operands, uint32_t stores, uint32_t now) {
  auto& busy = v.s.lsu_busy_until;
  busy = (busy > now ? busy : now) + operands + stores;
  v.s.counters.load_lines += operands;
  v.s.counters.store_lines += stores;
}

/// Decide, as the chain's first load is issued, whether to offload it, and begin to.
template <class O>
NW_HD NW_APART void decide(O& o, uint32_t warp, uint32_t now) {
  auto& v = o.v;
  auto& w = v.warps[warp];
  WarpSide& t = side_of(o, warp);
  const OffloadChain& c = chain_of(o, t);
  uint64_t* const why = refusal(o, warp, t, c);
  if (why != nullptr) {
    *why += 1;
    t.passes = true;
    keep_fetched(v, w, t, w.at.pc, 0);
    // A first load that has been kept back leaves a cycle later (OC, section 4.4.1, scenario 1).
    let_go(o, warp, now, t.missed ? now + 1 : now);
    return;
  }
  ChainCounters& n = counters_of(o, t);
  n.offloaded += 1;
  n.packets += t.num_parts;
  n.threads += uint64_t{c.instructions} * population_count(w.at.mask);
  o.s.in_use += t.num_parts;
  if (o.s.in_use > o.s.peak) o.s.peak = o.s.in_use;
  t.since = now;
  t.last = w.at.pc + c.instructions - 1;
  for (uint32_t k = 0; k < t.num_parts; ++k) {
    Part& part = t.parts[k];
    const uint32_t words = c.lane_words != 0 ? part.lanes * kWordBytes : c.reply_bytes;
    n.to_sms += part.home != v.home_of(part.order.line[0]) ? 1 : 0;
    part.order.alu_cycles = c.alu;
    part.order.latency_cycles = c.latency_cycles;
    part.order.reply_bytes = static_cast<uint16_t>(v.p.header_bytes + words);
    if (part.order.stores) cache::l1_store(v.p.l1, v.s.l1, v.base, part.order.store_line);
  }
  const ComputeOrder& order = t.parts[0].order;
  look_up_lines(v, uint32_t{t.num_parts} * order.operands, order.stores ? t.num_parts : 0u, now);
  for (uint32_t i = 0; i < c.instructions; ++i) pass_instruction(v, w);
  keep_fetched(v, w, t, t.last + 1 - c.instructions, c.instructions);
  // The scheduler issues nothing else until the chain's last instruction.
  uint32_t& taken = v.s.slot_taken[warp % v.p.num_schedulers];
  taken = (taken > now ? taken : now) + c.instructions;
  v.s.counters.active_cycles += c.instructions;
  t.step = Step::kIssuing;
  sm::note_event(v, EventKind::kDecided, now, warp, node_of(t.parts[0].home));
  sm::set_timer(v, warp, taken, now);
}

/// The warp's cursor has come to a chain's first instruction. Returns true if the warp is held, and
/// must not be scheduled.
template <class O>
NW_HD inline bool come_to_chain(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  WarpSide& t = side_of(o, warp);
  if (t.passes) {
    t.passes = false;
    return false;
  }
  // Another mechanism counts accesses, which it sees only if this SM executes them.
  if (o.v.s.counts_accesses != 0) return false;
  t.chain = o.p.chain_of.in(o.v.base)[o.v.warps[warp].at.pc];
  ChainCounters& n = counters_of(o, t);
  n.instances += 1;
  if (o.s.in_use == o.p.entries) {
    n.full += 1;
    return false;
  }
  if (o.v.p.fetch.width != 0 && !fetch_chain(o, warp, now, earliest)) return true;
  wait_for_operands(o, warp, now, earliest);
  return true;
}

/// Issue the addition of a split multiply-add: it takes a turn of its scheduler, and a port once
/// the product is there (cycle `at`). Returns the cycle in which the sum is there.
template <class O>
NW_HD inline uint32_t issue_sum(O& o, uint32_t warp, const OffloadChain& c, uint32_t now,
                                uint32_t at) {
  auto& v = o.v;
  const WarpSide& t = side_of(o, warp);
  const sm::ImageInstr& in = v.instr(t.last);
  const uint32_t scheduler = warp % v.p.num_schedulers;
  uint32_t& taken = v.s.slot_taken[scheduler];
  taken = (taken > now ? taken : now) + 1;
  uint32_t threads = 0;
  for (uint32_t k = 0; k < t.num_parts; ++k) threads += t.parts[k].lanes;
  auto& n = v.s.counters;
  n.count_issue(in, threads, 2, 1);
  n.redundant += 1;  // the program has one instruction for both
  n.redundant_threads += threads;
  n.active_cycles += 1;
  counters_of(o, t).sums += 1;
  const uint32_t turn = taken - 1;
  return sm::take_port(v, in, scheduler, turn > at ? turn : at, 0) + c.sum_cycles;
}

/// A part of the warp's chain has been executed. After the last one the chain is complete, its
/// result (if it is kept) is there at cycle `at`, and the warp goes on.
template <class O>
NW_HD NW_APART inline void finish_part(O& o, uint32_t warp, uint32_t now, uint32_t at) {
  WarpSide& t = side_of(o, warp);
  o.s.in_use -= 1;
  t.done = static_cast<uint8_t>(t.done + 1);
  counters_of(o, t).entry_cycles += now - t.since;
  if (t.done != t.num_parts) return;
  const OffloadChain& c = chain_of(o, t);
  counters_of(o, t).away_cycles += now - t.since;
  sm::set_away(o.v, warp, false);
  sm::note_event(o.v, EventKind::kBack, now, warp);
  const uint32_t there = c.sum_cycles != 0 ? issue_sum(o, warp, c, now, at) : at;
  if (c.keeps_result) sm::set_results(o.v, warp, o.v.instr(t.last), there);
  let_go(o, warp, now, now + 1);
}

/// Send one packet of the offload queue: a ComputePacket, a read of an operand, or the store of a
/// result that this SM computed. The caller has checked that the network has room.
template <class O>
NW_HD NW_APART void send_own(O& o, uint32_t now) {
  auto& v = o.v;
  const uint32_t warp = o.s.to_send.first();
  WarpSide& t = side_of(o, warp);
  const bool asks = t.unsent != 0, loads = !asks && t.to_load != 0;
  uint8_t& waiting = asks ? t.unsent : loads ? t.to_load : t.to_store;
  const uint32_t k = count_trailing_zeros(uint32_t{waiting});
  Part& part = t.parts[k];
  if (!loads || part.asked + 1 == part.order.operands)
    waiting = static_cast<uint8_t>(waiting & (waiting - 1));
  if ((t.unsent | t.to_load | t.to_store) == 0) o.s.to_send.clear(warp);
  if (loads) {
    const Packet p = sm::memory_packet(v, kOperandRead, part.order.line[part.asked],
                                       ChainPart{warp, k}.tag(), v.p.header_bytes);
    part.asked = static_cast<uint8_t>(part.asked + 1);
    send(v.to_network(), v.base, v.tick(now), p, v.horizon);
    return;
  }
  if (asks) {
    Packet p = pack(part.order);
    p.src = v.s.endpoint;
    p.dst = part.home;
    p.tag = ChainPart{warp, k}.tag();
    // The lanes of a part of several take a flit (OC, section 4.5).
    p.bytes = t.num_parts == 1 ? kComputePacketBytes : 2 * kComputePacketBytes;
    send(v.to_network(), v.base, v.tick(now), p, v.horizon);
    return;
  }
  const uint32_t epoch = sm::add_store(v.s) % sm::kEpochs;
  const uint32_t sectors = part.order.store_sectors;
  Packet p = sm::memory_packet(v, PacketKind::kWrite, part.order.store_line, warp | epoch << 8,
                               v.p.header_bytes + population_count(sectors) * v.p.sector_bytes);
  p.sectors = sectors;
  p.written_words() = part.words;
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  v.warps[warp].stores = static_cast<uint16_t>(v.warps[warp].stores + 1);
  finish_part(o, warp, now, now + 1);
}

/// Send one packet to the network, alternating between the SM's own chains and its service queue.
template <class O>
NW_HD inline void send_next(O& o, uint32_t now) {
  if (!can_send(o.v.to_network(), o.v.base, o.v.tick(now))) return;
  const bool own = o.s.to_send.any();
  const bool others = o.s.service.count != 0 && has_requests(service_of(o));
  if (others && (!own || o.s.others_turn)) {
    send_for_others(o, now);
    o.s.others_turn = false;
  } else if (own) {
    send_own(o, now);
    o.s.others_turn = true;
  }
  note_network(o);
}

/// The timer of a held warp: its step goes on.
template <class O>
NW_HD NW_APART void on_timer(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  if (t.step == Step::kFetching) {
    want_fetch(o.v, warp, t);
    return;
  }
  if (t.step == Step::kDeciding) {
    decide(o, warp, now);
    return;
  }
  if (t.step == Step::kIssuing) {
    t.step = Step::kAway;
    sm::set_away(o.v, warp, true);
    sm::note_event(o.v, EventKind::kSent, now, warp, node_of(t.parts[0].home));
    t.unsent = static_cast<uint8_t>(low_bits(t.num_parts));
    t.to_load = t.computing = t.to_store = t.done = 0;
    o.s.to_send.set(warp);
    note_network(o);
    return;
  }
  NW_ASSERT(t.step == Step::kAway && t.computing != 0);
  if (now < t.computed) {
    sm::set_timer(o.v, warp, t.computed, now);
    return;
  }
  const uint32_t computed = t.computing;
  t.computing = 0;
  if (t.parts[0].order.stores) {
    t.to_store = static_cast<uint8_t>(t.to_store | computed);
    o.s.to_send.set(warp);
    note_network(o);
  } else {
    for (uint32_t k = population_count(computed); k != 0; --k) finish_part(o, warp, now, now);
  }
}

/// Count, once, that this SM executes a part because the service queue was full.
template <class O>
NW_HD inline void note_return(O& o, const WarpSide& t, Part& part) {
  if (part.returned) return;
  part.returned = true;
  ChainCounters& n = counters_of(o, t);
  n.came_back += 1;
  n.threads -= uint64_t{chain_of(o, t).instructions} * part.lanes;
}

/// A part came back without its operands, which this SM has to read.
template <class O>
NW_HD NW_APART void on_refusal(O& o, const Packet& p) {
  const auto [warp, k] = ChainPart::of(p);
  WarpSide& t = side_of(o, warp);
  note_return(o, t, t.parts[k]);
  t.to_load = static_cast<uint8_t>(t.to_load | 1u << k);
  o.s.to_send.set(warp);
  note_network(o);
}

/// Execute a part's arithmetic, whose operands are here, on ports of the SM, one instruction each.
/// (They take no turn of a scheduler, since they were issued into the offload queue.) Returns the
/// cycle in which the result is there.
template <class O>
NW_HD inline uint32_t compute_here(O& o, uint32_t warp, const Part& part, uint32_t now) {
  auto& v = o.v;
  const WarpSide& t = side_of(o, warp);
  const uint32_t n = chain_of(o, t).instructions;
  uint32_t begin = now + 1;
  for (uint32_t i = 0; i < n; ++i) {
    const sm::ImageInstr& in = v.instr(t.last - i);
    if ((in.flags & sm::kHasRecord) != 0) continue;
    const uint32_t at = sm::take_port(v, in, warp % v.p.num_schedulers, now + 1, 0);
    begin = at > begin ? at : begin;
  }
  return begin + part.order.latency_cycles;
}

/// An operand has come to this SM because the service queue was full.
template <class O>
NW_HD NW_APART void on_operand(O& o, const Packet& p, uint32_t now) {
  const auto [warp, k] = ChainPart::of(p);
  WarpSide& t = side_of(o, warp);
  Part& part = t.parts[k];
  part.came = static_cast<uint8_t>(part.came + 1);
  note_return(o, t, part);
  if (part.came != part.order.operands) return;
  t.computing = static_cast<uint8_t>(t.computing | 1u << k);
  const uint32_t computed = compute_here(o, warp, part, now);
  t.computed = t.computing == 1u << k || computed > t.computed ? computed : t.computed;
  if (!o.v.s.timed.test(warp)) sm::set_timer(o.v, warp, t.computed, now);
}

}  // namespace nearwarp::opportunistic
