// The instruction offload engine of a core's subcores, with the register track table and the
// register move engines (MPU, section IV-B1 and figure 3).
//
// A warp that comes to an instruction: where is it executed (by its opcode, the compiler's hint, or
// the track table); where does it want its registers; those that are not there move, and the warp
// waits for them; then the instruction takes its turn at the scheduler as any other.
//
// The load-store unit's test (section IV-B2) is made here, when the warp comes to the access: which
// way a store's data has to go is then known. Its time is the load-store unit's.
#pragma once

#include "device/mechanisms/mpu/near_side.h"

namespace nearwarp::mpu {

template <class O>
NW_HD NW_INLINE const InstrPlace& place_of(const O& o, uint32_t pc) {
  return o.p.places.in(o.v.base)[pc];
}

// --- the track table ---

/// One warp's registers in the track table.
struct Track {
  uint32_t* near;
  uint32_t* far;

  NW_HD bool is_near(uint32_t slot) const { return (near[slot / 32] >> slot % 32 & 1) != 0; }
  NW_HD bool is_far(uint32_t slot) const { return (far[slot / 32] >> slot % 32 & 1) != 0; }
  NW_HD void set(uint32_t slot, bool in_near, bool in_far) const {
    const uint32_t bit = 1u << slot % 32;
    near[slot / 32] = in_near ? near[slot / 32] | bit : near[slot / 32] & ~bit;
    far[slot / 32] = in_far ? far[slot / 32] | bit : far[slot / 32] & ~bit;
  }
};
template <class O>
NW_HD NW_INLINE Track track_of(O& o, uint32_t warp) {
  const uint32_t at = warp * o.p.track_words;
  return {o.s.near_valid.in(o.v.base) + at, o.s.far_valid.in(o.v.base) + at};
}

// --- where an instruction and its registers are wanted ---

struct Wanted {
  bool near = false;  ///< executed there
  bool results_near = false;
  uint32_t slots = 0;       ///< that must be where they are wanted: bits over ImageInstr::slots
  uint32_t slots_near = 0;  ///< of these, those near the banks
};

/// The load-store unit's finding on an access.
enum class Found : uint8_t { kNothing, kNear, kInactive, kScattered, kRemote, kOtherUnit };

/// The three conditions: all lanes take part; their addresses are one run of bytes; and all of it
/// lies behind the near-bank unit that has the warp's registers.
template <class O>
NW_HD inline Found test_access(const O& o, uint32_t warp, const sm::ImageInstr& in) {
  const auto& v = o.v;
  const sm::Warp& w = v.warps[warp];
  const uint64_t* words = v.words(w);
  const sm::Access a = sm::read_access(words, w.at.trace_pos, w.at.mask, in.flags & sm::kGuarded);
  if (a.mask == 0) return Found::kNothing;
  const uint64_t record = words[a.record];
  const uint64_t base = trace::record_base(record);
  if ((base & trace::kSharedWindow) != 0) return Found::kNothing;
  if (a.mask != 0xffffffffu) return Found::kInactive;
  if (trace::record_stride(record) != static_cast<int>(in.lane_bytes)) return Found::kScattered;
  const LineAddr last = v.p.grid.line_of(base + uint64_t{sm::kWarpSize} * in.lane_bytes - 1);
  Found found = Found::kNear;
  for (LineAddr line = v.p.grid.line_of(base); line <= last; ++line) {
    const LineAddr at = sm::line_of_data(v, w.space, line);
    if (v.stack_of(at) != v.own_stack()) return Found::kRemote;
    if (v.p.map.of(at, v.base).vault_of(at) != warp % o.p.units) found = Found::kOtherUnit;
  }
  return found;
}

/// Does any lane take part in the access that the warp stands at? Else it ends where it is issued.
template <class O>
NW_HD inline bool takes_part(const O& o, uint32_t warp, const sm::ImageInstr& in) {
  const sm::Warp& w = o.v.warps[warp];
  return sm::read_access(o.v.words(w), w.at.trace_pos, w.at.mask, in.flags & sm::kGuarded).mask !=
         0;
}

template <class O>
NW_HD inline bool sources_are_near(const O&, const Track& track, const sm::ImageInstr& in,
                                   const InstrPlace& place) {
  for (uint32_t m = place.reads; m != 0; m &= m - 1)
    if (!track.is_near(in.slots[count_trailing_zeros(m)])) return false;
  return place.reads != 0;
}

/// Steps 1 and 2 of figure 3. `near_access`: what test_access() has found.
template <class O>
NW_HD inline Wanted wanted_of(O& o, const Track& track, const sm::ImageInstr& in,
                              const InstrPlace& place, bool partial, bool near_access) {
  Wanted x;
  const uint32_t results = static_cast<uint32_t>(low_bits(in.num_dsts));
  x.slots = place.reads | (partial ? results : 0);
  switch (place.kind) {
    case Kind::kAny:
      x.near = place.hint == Hint::kNear ||
               (place.hint == Hint::kNone && sources_are_near(o, track, in, place));
      x.results_near = x.near;
      break;
    case Kind::kShared:
      x.near = x.results_near = true;
      break;
    case Kind::kLoad:
    case Kind::kAtomic:
      x.results_near = true;
      break;
    case Kind::kStore:
      x.slots_near = near_access ? place.stored : 0;
      break;
    case Kind::kFar:
      break;
  }
  if (x.near) x.slots_near = place.reads;
  if (x.results_near) x.slots_near |= results & ~place.reads;
  return x;
}

// --- holding warps ---

template <class O>
NW_HD inline void hold(O& o, uint32_t warp, Step step, uint32_t now) {
  sm::Warp& w = o.v.warps[warp];
  sm::enter_phase(o.v, warp, sm::Phase::kHeld);
  w.holder = static_cast<uint8_t>(o.bit);
  WarpSide& t = side_of(o, warp);
  t.step = step;
  t.held_since = now;
}
template <class O>
NW_HD NW_APART inline void let_go(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  sm::Warp& w = o.v.warps[warp];
  WarpSide& t = side_of(o, warp);
  o.s.counters.held[static_cast<uint32_t>(t.step)] += now - t.held_since;
  t.step = Step::kNone;
  sm::enter_phase(o.v, warp, sm::Phase::kRunning);
  w.holder = 0;
  sm::continue_warp(o.v, warp, now, earliest);
}

template <class O>
NW_HD void moved(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  NW_ASSERT(t.step == Step::kMove && t.moving != 0);
  t.moving = static_cast<uint8_t>(t.moving - 1);
  if (t.moving == 0) let_go(o, warp, now, now + 1);
}

/// A warp's first instruction: nothing has been written yet.
template <class O>
NW_HD inline void begin_warp(O& o, uint32_t warp) {
  sm::Warp& w = o.v.warps[warp];
  w.watch = static_cast<uint8_t>(w.watch | o.bit);
  WarpSide& t = side_of(o, warp);
  NW_ASSERT(t.ops == 0 && t.moving == 0 && t.coming == 0);
  t = WarpSide{};
  t.full_mask = w.at.mask;
  const Track track = track_of(o, warp);
  for (uint32_t i = 0; i < o.p.track_words; ++i) track.near[i] = track.far[i] = 0;
}

// --- moving registers ---

/// The wanted registers that are elsewhere. One that is nowhere has never been written.
template <class O>
NW_HD inline uint32_t misplaced(const O&, const Track& track, const sm::ImageInstr& in,
                                const Wanted& x) {
  uint32_t bits = 0;
  for (uint32_t m = x.slots; m != 0; m &= m - 1) {
    const uint32_t k = count_trailing_zeros(m), slot = in.slots[k];
    const bool near = (x.slots_near >> k & 1) != 0;
    if (near ? track.is_far(slot) && !track.is_near(slot)
             : track.is_near(slot) && !track.is_far(slot))
      bits |= 1u << k;
  }
  return bits;
}

/// The cycle from which the registers have their values; kPendingLoad while that is not known.
template <class O>
NW_HD inline uint32_t values_ready(const O& o, uint32_t warp, const sm::ImageInstr& in,
                                   uint32_t slots) {
  uint32_t at = 0;
  for (uint32_t m = slots; m != 0; m &= m - 1) {
    const uint32_t t = o.v.slots(warp)[in.slots[count_trailing_zeros(m)]];
    at = t > at ? t : at;
  }
  return at;
}

/// Step 3: the move engines. Data goes as a word that names the register and 32 lanes, or what they
/// have in common.
template <class O>
NW_HD inline void move_registers(O& o, uint32_t warp, const sm::ImageInstr& in,
                                 const InstrPlace& place, const Wanted& x, uint32_t slots) {
  WarpSide& t = side_of(o, warp);
  const Track track = track_of(o, warp);
  for (uint32_t m = slots; m != 0; m &= m - 1) {
    const uint32_t k = count_trailing_zeros(m);
    const uint32_t lanes = (place.scalars >> k & 1) != 0 ? 1 : sm::kWarpSize;
    const uint32_t data = (place.predicates >> k & 1) != 0 ? sm::kWarpSize / 8
                          : (place.wide >> k & 1) != 0     ? 8 * lanes
                                                           : 4 * lanes;
    if ((x.slots_near >> k & 1) != 0) {
      o.s.counters.moves_near += 1;
      send_down(o, kRegisterToNear, o.p.word_bytes + data, {warp});
    } else {
      o.s.counters.moves_far += 1;
      send_down(o, kRegisterWanted, o.p.word_bytes, {warp, 0, o.p.word_bytes + data});
    }
    track.set(in.slots[k], true, true);
    t.moving = static_cast<uint8_t>(t.moving + 1);
  }
}

// --- an instruction ---

template <class O>
NW_HD inline void count_access(O& o, const sm::ImageInstr& in, Found found) {
  Counters& n = o.s.counters;
  const bool store = in.action == sm::Action::kStore;
  n.loads_near += found == Found::kNear && !store ? 1 : 0;
  n.stores_near += found == Found::kNear && store ? 1 : 0;
  n.inactive += found == Found::kInactive ? 1 : 0;
  n.scattered += found == Found::kScattered ? 1 : 0;
  n.remote += found == Found::kRemote ? 1 : 0;
  n.other_unit += found == Found::kOtherUnit ? 1 : 0;
}

/// The cursor of a warp stands at an instruction. True: it is not to be scheduled as others are.
template <class O>
NW_HD NW_APART bool come_to_instruction(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  auto& v = o.v;
  sm::Warp& w = v.warps[warp];
  if ((w.watch & o.bit) == 0) begin_warp(o, warp);
  WarpSide& t = side_of(o, warp);
  const sm::ImageInstr& in = v.instr(w.at.pc);
  const InstrPlace& place = place_of(o, w.at.pc);
  const Track track = track_of(o, warp);
  Found found = Found::kNothing;
  if (o.p.offloads_accesses && (place.kind == Kind::kLoad || place.kind == Kind::kStore))
    found = test_access(o, warp, in);
  const bool near_access = found == Found::kNear;
  const bool partial = place.guarded || w.at.mask != t.full_mask;
  const Wanted x = wanted_of(o, track, in, place, partial, near_access);

  const uint32_t to_move = misplaced(o, track, in, x);
  if (to_move != 0) {
    const uint32_t at = values_ready(o, warp, in, to_move);
    if (at == sm::kPendingLoad) {
      hold(o, warp, Step::kValue, now);  // until an operation ends
      return true;
    }
    const uint32_t when = at > earliest ? at : earliest;
    if (when > now) {
      hold(o, warp, Step::kValue, now);
      sm::set_timer(v, warp, when, now);
      return true;
    }
    move_registers(o, warp, in, place, x, to_move);
    hold(o, warp, Step::kMove, now);
    return true;
  }
  if (x.near && population_count(uint32_t{t.ops}) + t.coming >= o.p.near_ops) {
    hold(o, warp, Step::kRoom, now);
    return true;
  }
  if (x.near && place.kind == Kind::kAny) {
    uint32_t at = values_ready(o, warp, in, static_cast<uint32_t>(low_bits(in.num_slots)));
    if (at == sm::kPendingLoad) {
      hold(o, warp, Step::kOperands, now);
      return true;
    }
    at = at > earliest ? at : earliest;
    w.unit = sm::Unit::kControl;  // no port of the subcore
    if (at <= now) {
      sm::make_ready(v, warp);
    } else {
      sm::set_timer(v, warp, at, now);
    }
  }

  // It is this instruction's turn, and it will not be looked at again.
  Counters& n = o.s.counters;
  n.track_hits += population_count(x.slots);
  for (uint32_t k = 0; k < in.num_dsts; ++k)
    track.set(in.slots[k], x.results_near, !x.results_near);
  t.near_access = near_access;
  if (place.kind == Kind::kShared) {
    t.coming = static_cast<uint8_t>(t.coming + (takes_part(o, warp, in) ? 1 : 0));
    n.shared += 1;
  } else if (place.kind == Kind::kAny) {
    (x.near ? n.near : n.far) += 1;
  } else {
    n.fixed += 1;
    count_access(o, in, found);
  }
  if (x.near) n.near_threads += population_count(w.at.mask);
  return x.near && place.kind == Kind::kAny;
}

/// A NearOp for an instruction that goes down the TSVs.
template <class O>
NW_HD inline uint32_t begin_near_op(O& o, uint32_t warp, uint32_t pc, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  const uint32_t number = count_trailing_zeros(~uint32_t{t.ops});
  NW_ASSERT(number < kNearOps);
  t.ops = static_cast<uint8_t>(t.ops | 1u << number);
  sm::set_away(o.v, warp, true);
  NearOp& op = op_of(o, warp * kNearOps + number);
  op.pc = pc;
  op.since = now;
  return number;
}

/// The scheduler has issued an instruction that is executed near the banks.
template <class O>
NW_HD NW_APART void issue_near(O& o, uint32_t warp, const sm::ImageInstr& in, uint32_t now) {
  sm::Warp& w = o.v.warps[warp];
  const uint32_t number = begin_near_op(o, warp, w.at.pc, now);
  w.loads = static_cast<uint8_t>(w.loads + 1);  // an operation in flight
  sm::set_results(o.v, warp, in, sm::kPendingLoad);
  send_down(o, kNearInstruction, o.p.word_bytes, {warp, number});
}

/// Issues an access to the near-bank shared memory, whose bank conflicts are known.
template <class O>
NW_HD NW_APART bool issue_shared(O& o, const sm::LsuOp& op, uint32_t ready, uint32_t now) {
  if (place_of(o, op.pc).kind != Kind::kShared) return false;
  WarpSide& t = side_of(o, op.warp);
  NW_ASSERT(t.coming != 0);
  t.coming = static_cast<uint8_t>(t.coming - 1);
  const uint32_t number = begin_near_op(o, op.warp, op.pc, now);
  op_of(o, op.warp * kNearOps + number).latency = without_front(o, ready - now);
  send_down(o, kNearShared, o.p.word_bytes, {op.warp, number});
  return true;
}

/// An operation of a held warp has ended.
template <class O>
NW_HD inline void held_operation_ended(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
  const Step step = side_of(o, warp).step;
  if (step == Step::kMove || o.v.s.timed.test(warp)) return;
  let_go(o, warp, now, earliest);
}

/// An instruction comes back for its commit.
template <class O>
NW_HD NW_APART inline void commit(O& o, uint32_t warp, uint32_t number, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  const NearOp& op = op_of(o, warp * kNearOps + number);
  t.ops = static_cast<uint8_t>(t.ops & ~(1u << number));
  if (t.ops == 0) sm::set_away(o.v, warp, false);
  o.s.counters.commits += 1;
  const sm::ImageInstr& in = o.v.instr(op.pc);
  o.s.counters.near_cycles += now - op.since;
  o.s.counters.near_commit += now - op.due;
  if (in.accesses_shared()) o.s.counters.shared_cycles += now - op.since;
  sm::set_results(o.v, warp, in, now);
  // Packets are taken before instructions are issued: what waits for the result may be issued in
  // this cycle, as in the one in which a subcore's own result is there.
  sm::Warp& w = o.v.warps[warp];
  if (w.phase == sm::Phase::kHeld && w.holder == o.bit) {
    w.loads = static_cast<uint8_t>(w.loads - 1);
    held_operation_ended(o, warp, now, now);
  } else {
    sm::operation_ended(o.v, warp, now, now);
  }
}

// --- accesses to memory ---

/// The load-store unit offloads the access at its head: a line a cycle goes to the near-bank unit
/// as its address alone; data stays above the TSVs.
template <class O>
NW_HD NW_APART void offload_line(O& o, const sm::LsuOp& op, uint32_t now) {
  auto& v = o.v;
  auto& s = v.s;
  const Tick tick = v.tick(now);
  if (!can_send(v.to_network(), v.base, tick)) {
    s.lsu_stall = sm::LsuStall::kCredit;
    return;
  }
  sm::LineList& lines = s.lines;
  const LineAddr line = sm::line_of_data(v, op.space, lines.line[lines.next]);
  const bool store = v.instr(op.pc).action == sm::Action::kStore;
  Packet p =
      sm::memory_packet(v, store ? PacketKind::kWrite : PacketKind::kReadNear, line,
                        store ? op.warp | uint32_t{op.epoch} << 8 : op.entry, o.p.access_bytes);
  p.sectors = lines.sectors[lines.next];
  if (store) {
    s.epoch_stores[op.epoch] += 1;
    v.warps[op.warp].stores = static_cast<uint16_t>(v.warps[op.warp].stores + 1);
    s.counters.store_lines += 1;
    cache::l1_store(v.p.l1, s.l1, v.base, line);
  } else {
    sm::LoadEntry& e = v.load_entries[op.entry];
    e.remaining = static_cast<uint16_t>(e.remaining + 1);
    if ((o.s.near_loads >> op.entry & 1) == 0) op_of(o, first_load(o) + op.entry).since = now;
    o.s.near_loads |= sm::bit(op.entry);
    s.counters.load_lines += 1;
  }
  send(v.to_network(), v.base, tick, p, v.horizon);
  s.lsu_stall = sm::LsuStall::kNone;
  lines.next += 1;
  if (lines.next < lines.count) return;
  sm::lsu_pop(s);
  if (store) {
    sm::remove_store(s, op.epoch);
    sm::operation_ended(v, op.warp, now);
  } else {
    v.load_entries[op.entry].issued = true;
  }
}

/// All data of a load or atomic is in the load-store unit at cycle `at`. True: its register is
/// written near the banks first, over the TSVs.
template <class O>
NW_HD NW_APART bool write_near(O& o, uint32_t entry, uint32_t at, uint32_t now) {
  if ((o.s.near_loads >> entry & 1) != 0) {
    o.s.near_loads &= ~sm::bit(entry);
    o.s.counters.load_cycles += now - op_of(o, first_load(o) + entry).since;
    return false;
  }
  if (o.v.instr(o.v.load_entries[entry].pc).num_dsts == 0) return false;
  const uint32_t index = first_load(o) + entry;
  op_of(o, index).due = at > now ? at : now + 1;
  set_due(o, index, now);
  return true;
}

}  // namespace nearwarp::mpu
