// The offload queue of an SM (OC, sections 4.2 and 4.4.1).
//
// A warp that comes to the first instruction of a chain leaves the ready set:
//   waiting, deciding   until the values are there that the chain takes from before. Then its lines
//              are known. It is executed at home, as any code, if an operand is in the L1, if the
//              queue is full, if an access touches several lines, or if no node that computes has
//              all of its data;
//   issuing    its instructions take their scheduler's next turns: the warp is preferred;
//   sending    the ComputePacket waits for the network;
//   away       until the result comes, or the news that it has been stored. If the service queue
//              was full, the operands come instead, and the chain is executed here.
#pragma once

#include "device/mechanisms/opportunistic/sm_state.h"
#include "device/sm/lsu.h"

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

template <class O>
NW_HD NW_INLINE void note_network(O& o) {
  auto& wants = o.v.s.wants_network;
  wants = static_cast<uint8_t>(o.s.to_send.any() ? wants | o.bit : wants & ~o.bit);
}

/// The cycle from which on the chain has everything that it takes from before; kPendingLoad while
/// some of it is to come from memory. What its own instructions write is not waited for.
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

template <class O>
NW_HD inline void hold(O& o, uint32_t warp, Step step) {
  auto& w = o.v.warps[warp];
  w.phase = sm::Phase::kHeld;
  w.holder = static_cast<uint8_t>(o.bit);
  side_of(o, warp).step = step;
}

/// The warp goes on where its cursor stands.
template <class O>
NW_HD inline void let_go(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  auto& w = o.v.warps[warp];
  w.phase = sm::Phase::kRunning;
  w.holder = 0;
  side_of(o, warp).step = Step::kNone;
  sm::continue_warp(o.v, warp, now, earliest);
}

/// Have the decision made when the chain's operands are there.
template <class O>
NW_HD inline void wait_for_operands(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  const WarpSide& t = side_of(o, warp);
  const uint32_t at = operands_ready(o, warp, chain_of(o, t));
  if (at == sm::kPendingLoad) {
    hold(o, warp, Step::kWaiting);  // until an operation ends
    return;
  }
  hold(o, warp, Step::kDeciding);
  const uint32_t when = at > earliest ? at : earliest;
  sm::set_timer(o.v, warp, when > now ? when : now + 1, now);
}

/// The line of an access; false if there are several. `sectors`: those that it touches.
template <class V>
NW_HD inline bool only_line(const V& v, const uint64_t* words, const sm::Access& a, LineAddr& line,
                            uint32_t& sectors) {
  const uint64_t offset_mask = (uint64_t{1} << v.p.line_shift) - 1;
  bool first = true;
  sectors = 0;
  for (uint32_t rest = a.mask; rest != 0; rest &= rest - 1) {
    const uint64_t address = sm::lane_address(words, a.record, a.mask, count_trailing_zeros(rest));
    const auto l = static_cast<LineAddr>((address - v.p.device_base) >> v.p.line_shift);
    if (!first && l != line) return false;
    line = l;
    first = false;
    sectors |= 1u << (static_cast<uint32_t>(address & offset_mask) / v.p.sector_bytes);
  }
  return true;
}

/// Is the line in the L1, or on its way there?
template <class V>
NW_HD inline bool in_l1(const V& v, LineAddr line) {
  const uint32_t first = v.p.l1.index.of(line) * v.p.l1.ways;
  const LineAddr* tags = v.s.l1.tags.in(v.base);
  for (uint32_t i = first; i < first + v.p.l1.ways; ++i)
    if (tags[i] == line) return true;
  return false;
}

/// Why a chain is executed at home; null if it is not. Its lines and where it goes are noted.
template <class O>
NW_HD inline uint64_t* refusal(O& o, uint32_t warp, WarpSide& t, const OffloadChain& c) {
  auto& v = o.v;
  const sm::Warp& w = v.warps[warp];
  ChainCounters& n = counters_of(o, t);
  const uint64_t* words = v.words(w);
  uint32_t pos = w.at.trace_pos, operand = 0;
  t.order = ComputeOrder{};
  t.came = 0;
  for (uint32_t i = 0; i < c.instructions; ++i) {
    const sm::ImageInstr& in = v.instr(w.at.pc + i);
    if ((in.flags & sm::kHasRecord) == 0) continue;
    const sm::Access a = sm::read_access(words, pos, w.at.mask, in.flags & sm::kGuarded);
    pos = a.next;
    if (a.mask == 0) return &n.inactive;
    LineAddr virtual_line = 0;
    uint32_t sectors = 0;
    if (!only_line(v, words, a, virtual_line, sectors)) return &n.divergent;
    const LineAddr line = sm::line_of_data(v, w.space, virtual_line);
    const uint16_t home = v.home_of(line);
    if (operand == 0) t.home = home;
    if (in.action == sm::Action::kStore) {
      t.order.stores = true;
      t.order.store_line = line;
      t.order.store_sectors = static_cast<uint8_t>(sectors);
    } else {
      if (in_l1(v, line)) return &n.l1_hits;  // after `came` that are not
      t.order.line[operand++] = line;
    }
    t.came = static_cast<uint8_t>(operand);
    if (home != t.home) return &n.elsewhere;
  }
  t.order.operands = static_cast<uint8_t>(operand);
  return o.s.in_use == o.p.entries ? &n.full : nullptr;
}

/// Count an instruction that the warp issues, and go on to the next one. Returns its lanes.
template <class V>
NW_HD inline uint32_t pass_instruction(V& v, sm::Warp& w) {
  const sm::ImageInstr& in = v.instr(w.at.pc);
  auto& n = v.s.counters;
  const uint32_t threads = population_count(w.at.mask);
  n.issued += 1;
  n.issued_threads += threads;
  n.issued_by_unit[static_cast<uint32_t>(in.unit)] += 1;
  n.threads_by_class[static_cast<uint32_t>(in.energy_class())] += threads;
  n.register_reads += threads * in.register_reads;
  n.register_writes += threads * in.register_writes;
  const uint64_t* words = v.words(w);
  if ((in.flags & sm::kHasRecord) != 0) {
    w.at.trace_pos =
        sm::read_access(words, w.at.trace_pos, w.at.mask, in.flags & sm::kGuarded).next;
    (in.action == sm::Action::kStore ? n.stores : n.loads) += 1;
  }
  sm::advance(w.at, words, v.system.image, w.first_block);
  return threads;
}

/// The first load is issued: decide.
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
    // A first load that has been kept back leaves a cycle later (OC, section 4.4.1, scenario 1).
    let_go(o, warp, now, t.came != 0 ? now + 1 : now);
    return;
  }
  counters_of(o, t).offloaded += 1;
  o.s.in_use += 1;
  if (o.s.in_use > o.s.peak) o.s.peak = o.s.in_use;
  t.since = now;
  t.came = 0;
  t.last = w.at.pc + c.instructions - 1;
  t.order.alu_cycles = c.alu;
  t.order.latency_cycles = c.latency_cycles;
  t.order.reply_bytes = static_cast<uint16_t>(v.p.header_bytes + c.reply_bytes);
  if (t.order.stores) cache::l1_store(v.p.l1, v.s.l1, v.base, t.order.store_line);
  t.threads = 0;
  for (uint32_t i = 0; i < c.instructions; ++i) t.threads += pass_instruction(v, w);
  counters_of(o, t).threads += t.threads;
  // It is preferred until its last instruction has been issued.
  uint32_t& taken = v.s.slot_taken[warp % v.p.num_schedulers];
  taken = (taken > now ? taken : now) + c.instructions;
  v.s.counters.active_cycles += c.instructions;
  t.step = Step::kIssuing;
  sm::set_timer(v, warp, taken, now);
}

/// The cursor of a warp stands at a chain's first instruction. True: it is not to be scheduled.
template <class O>
NW_HD inline bool come_to_chain(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  WarpSide& t = side_of(o, warp);
  if (t.passes) {
    t.passes = false;
    return false;
  }
  t.chain = o.p.chain_of.in(o.v.base)[o.v.warps[warp].at.pc];
  ChainCounters& n = counters_of(o, t);
  n.instances += 1;
  if (o.s.in_use == o.p.entries) {
    n.full += 1;
    return false;
  }
  wait_for_operands(o, warp, now, earliest);
  return true;
}

/// Send what waits for the network.
template <class O>
NW_HD NW_APART void send_next(O& o, uint32_t now) {
  auto& v = o.v;
  if (!o.s.to_send.any() || !can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t warp = o.s.to_send.take_first();
  note_network(o);
  WarpSide& t = side_of(o, warp);
  if (t.step == Step::kSending) {
    Packet p = pack(t.order);
    p.src = v.s.endpoint;
    p.dst = t.home;
    p.tag = warp;
    p.bytes = kComputePacketBytes;
    t.step = Step::kAway;
    send(v.to_network(), v.base, v.tick(now), p, v.horizon);
    return;
  }
  NW_ASSERT(t.step == Step::kStoring);
  const uint32_t epoch = sm::add_store(v.s) % sm::kEpochs;
  const uint32_t bytes = population_count(uint32_t{t.order.store_sectors}) * v.p.sector_bytes;
  Packet p = sm::memory_packet(v, PacketKind::kWrite, t.order.store_line, warp | epoch << 8,
                               v.p.header_bytes + bytes);
  p.sectors = t.order.store_sectors;
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  v.warps[warp].stores = static_cast<uint16_t>(v.warps[warp].stores + 1);
  finish(o, warp, now, now + 1);
}

/// The chain has been executed; its result, if it is kept, is there at cycle `at`.
template <class O>
NW_HD inline void finish(O& o, uint32_t warp, uint32_t now, uint32_t at) {
  WarpSide& t = side_of(o, warp);
  const OffloadChain& c = chain_of(o, t);
  counters_of(o, t).away_cycles += now - t.since;
  o.s.in_use -= 1;
  if (c.keeps_result) sm::set_results(o.v, warp, o.v.instr(t.last), at + c.sum_cycles);
  let_go(o, warp, now, now + 1);
}

template <class O>
NW_HD inline void on_timer(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  switch (t.step) {
    case Step::kDeciding:
      decide(o, warp, now);
      return;
    case Step::kIssuing:
      t.step = Step::kSending;
      break;
    default:
      NW_ASSERT(t.step == Step::kComputing);
      if (!t.order.stores) {
        finish(o, warp, now, now);
        return;
      }
      t.step = Step::kStoring;
      break;
  }
  o.s.to_send.set(warp);
  note_network(o);
}

/// An operand comes: the service queue was full.
template <class O>
NW_HD NW_APART void on_operand(O& o, const Packet& p, uint32_t now) {
  const uint32_t warp = p.tag;
  WarpSide& t = side_of(o, warp);
  t.came = static_cast<uint8_t>(t.came + 1);
  if (t.came == 1) {
    counters_of(o, t).came_back += 1;
    counters_of(o, t).threads -= t.threads;
  }
  if (t.came != t.order.operands) return;
  t.step = Step::kComputing;
  sm::set_timer(o.v, warp, now + t.order.latency_cycles + 1, now);
}

}  // namespace nearwarp::opportunistic
