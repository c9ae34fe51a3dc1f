// The load-store unit: one line per cycle of the operation at its head through the TLB
// (lsu_translation.h) and the L1, misses and stores into the network; shared-memory accesses for as
// many cycles as their bank conflicts take.
#pragma once

#include "device/core/lanes.h"
#include "device/sm/clusters.h"
#include "device/sm/coalescer.h"
#include "device/sm/copies.h"
#include "device/sm/lsu_sectors.h"
#include "device/sm/lsu_translation.h"
#include "device/sm/progress.h"
#include "device/sm/store_epochs.h"

namespace nearwarp::sm {

/// Tags from here up to kCopyTag: of lines that loads ask for past the L1, with the entry's number.
inline constexpr uint32_t kPastTag = 0x48000000u;

/// Registers of a finished load become ready at cycle `at`.
template <class V>
NW_HD inline void set_results(V& v, uint32_t warp, const ImageInstr& in, uint32_t at) {
  uint32_t* slots = v.slots(warp);
  for (uint32_t i = 0; i < in.num_dsts; ++i) slots[in.slots[i]] = at;
}

/// A warp at a fence goes on when none of its memory operations is left.
template <class V>
NW_HD NW_APART inline void try_pass_fence(V& v, uint32_t warp, uint32_t now) {
  Warp& w = v.warps[warp];
  if (w.loads != 0 || w.stores != 0) return;
  enter_phase(v, warp, Phase::kRunning);
  continue_warp(v, warp, now, now + 1);
}

/// An operation of the warp that takes its time has ended: it may go on, in cycle `earliest` at the
/// earliest, or retire.
template <class V>
NW_HD NW_APART inline void operation_ended(V& v, uint32_t warp, uint32_t now, uint32_t earliest) {
  Warp& w = v.warps[warp];
  NW_ASSERT(w.loads > 0);
  w.loads = static_cast<uint8_t>(w.loads - 1);
  if (w.phase == Phase::kRunning) {
    if (!v.s.timed.test(warp) && !v.s.ready.test(warp)) schedule(v, warp, now, earliest, now);
  } else if (w.phase == Phase::kAtFence) {
    try_pass_fence(v, warp, now);
  } else if (!v.kPlain && w.phase == Phase::kHeld) {
    hooks::on_operation_ended(v, warp, now);
  } else {
    try_retire(v, warp, now);
  }
}
template <class V>
NW_HD inline void operation_ended(V& v, uint32_t warp, uint32_t now) {
  operation_ended(v, warp, now, now + 1);
}

template <class V>
NW_HD inline void complete_load(V& v, uint32_t entry, uint32_t at, uint32_t now) {
  const LoadEntry& e = v.load_entries[entry];
  if (v.who(v.warps[e.warp].watch) != 0 && hooks::take_loaded(v, e.warp, entry, at, now)) return;
  v.s.free_loads |= bit(entry);
  set_results(v, e.warp, v.instr(e.pc), at);
  if (v.copies() && v.instr(e.pc).action == Action::kAsyncLoad) {
    auto&& rare = v.rarely();
    end_async_load(rare, e.warp, e.segment, at, now);
  }
  operation_ended(v, e.warp, now);
}

/// Does the head need its addresses looked at? Then lsu_find_lines() goes before lsu_step().
template <class S>
NW_HD inline bool lsu_needs_lines(const S& s, uint32_t now) {
  return s.lsu_count != 0 && !s.lines_valid && s.lsu_busy_until <= now;
}

/// Local memory of a thread's place on the GPU, not of the thread: blocks that follow each other on
/// an SM use the same lines. A word of all warps that the GPU can hold comes before the next word
/// of all; warps of a block are neighbours, then come the first blocks of all SMs, then their
/// second. Source: GPGPU-Sim 4.2, translation of local addresses.
template <class S>
NW_HD NW_APART void place_local(const SmParams& p, S& s, const SystemView& system,
                                const LsuOp& op) {
  const Warp& w = s.warps.in(system.arena)[op.warp];
  const auto& block = s.blocks.in(system.arena)[w.block_slot];
  const LaunchInfo& launch = system.image.launches[block.launch];
  if (launch.local_lines == 0) return;
  uint32_t in_block = 0;
  block.warps.each([&](uint32_t i) { in_block += i < op.warp ? 1 : 0; });
  const uint32_t slot = launch.warps_per_block * (s.index + p.local_sms * w.block_slot) + in_block;
  for (uint32_t i = 0; i < s.lines.count; ++i) {
    const uint32_t word = (s.lines.line[i] - launch.local_line) % launch.local_lines;
    s.lines.line[i] = launch.local_line + word * launch.local_warps + slot;
  }
}

NW_HD NW_INLINE bool is_atomic(const ImageInstr& in) {
  return in.action == Action::kAtomic || in.action == Action::kReduce;
}

template <class S>
NW_HD NW_CALLED void lsu_find_lines(const SmParams& p, S& s, const SystemView& system) {
  const LsuOp& op = s.lsu[s.lsu_head];
  const trace::RecordView access{system.trace(op.thread_block).words, op.record, op.mask};
  const ImageInstr& in = system.image.instrs[op.pc];
  if (op.shared && in.meets_mbarriers()) {
    s.lines.count = population_count(op.mask);  // estimated: one after the other
  } else if (op.shared) {
    s.lines.count = bank_cycles(access, in.lane_bytes, p.shared_banks);
  } else if (p.atomic_packets != AtomicPackets::kLines && is_atomic(in)) {
    split_atomic(access, p.grid, p.atomic_packets, s.lines);
  } else {
    coalesce(access, p.grid, s.lines);
    if (p.count_rounds && is_atomic(in)) count_rounds(access, p.grid, s.lines);
    if (p.mark_words && in.action == Action::kStore)
      mark_words(access, in.lane_bytes, p.grid, s.lines);
  }
  if (p.local_sms != 0 && (in.flags & kLocal) != 0) place_local(p, s, system, op);
  s.lines_valid = true;
  s.lines.next = s.resume_line;
  s.resume_line = 0;
}

/// Request a line of instructions.
template <class V>
NW_HD NW_APART void send_fetch(V& v, uint32_t now) {
  auto& f = v.s.fetch;
  if (!can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t mshr = count_trailing_zeros(f.unsent);
  f.unsent &= f.unsent - 1;
  const LineAddr line = f.cache.mshr_line.in(v.base)[mshr];
  Packet p = memory_packet(v, PacketKind::kRead, line, kFetchTag | mshr, v.p.header_bytes);
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// Request a line of constants.
template <class V>
NW_HD NW_APART void send_constant_read(V& v, uint32_t now) {
  auto& c = v.s.constants;
  if (!can_send(v.to_network(), v.base, v.tick(now))) return;
  const uint32_t mshr = count_trailing_zeros(c.unsent);
  c.unsent &= c.unsent - 1;
  const uint32_t shift = constant_parts(v);
  const LineAddr line = c.cache.mshr_line.in(v.base)[mshr];
  Packet p =
      memory_packet(v, PacketKind::kRead, line >> shift, kConstantTag | mshr, v.p.header_bytes);
  const uint32_t part = line & ((1u << shift) - 1);
  p.sectors = uint32_t{v.p.constants.sectors} << part * population_count(v.p.constants.sectors);
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
}

/// Is it known that the load at the head can't go on before a reply comes? (An attempt in the next
/// cycle would say the same.) There is no free MSHR.
template <class V>
NW_HD NW_APART bool load_will_stall(const V& v, uint32_t space) {
  const auto& s = v.s;
  const LineAddr line = s.lines.line[s.lines.next];
  if (v.p.tlb.entries != 0 && tlb_page(v.p.tlb, space, line) != s.tlb.last_page) return false;
  return cache::l1_waits_for_reply(v.p.l1, s.l1, v.base, line_of_data(v, space, line));
}

/// May something become of the operation at the head? Its lines are known, and it does not wait for
/// a reply.
template <class S>
NW_HD NW_INLINE bool lsu_may_step(const S& s) {
  return s.lines_valid && s.lsu_stall != LsuStall::kReply;
}

/// The access to shared memory at the head takes its cycles, and ends.
template <class V>
NW_HD NW_CALLED void access_shared(V& v, const LsuOp& op, uint32_t now) {
  auto& s = v.s;
  if (v.clusters()) {
    auto&& rare = v.rarely();
    if (access_others(rare, op, now)) return;
  }
  const uint32_t cycles = s.lines.count;
  s.counters.shared_accesses += 1;
  s.counters.shared_cycles += cycles;
  s.lsu_busy_until = now + cycles;
  lsu_pop(s);
  uint32_t ready = now + cycles - 1 + v.p.shared_latency;
  if (V::kHasBlocks && v.p.remote_shared != 0 && !v.instr(op.pc).meets_mbarriers()) {
    auto&& rare = v.rarely();
    ready += way_to_other_block(rare, v.record(op));
  }
  if (V::kHasBlocks && v.copies()) {
    auto&& rare = v.rarely();
    const Action action = v.instr(op.pc).action;
    if (action == Action::kPhaseWait) return try_phases(rare, op.warp, ready, now);
    if (action == Action::kPhaseEvents)
      arrive_at_phases(rare, v.warps[op.warp].block_slot, v.record(op), now, now);
  }
  if (v.who(v.warps[op.warp].watch) != 0 && hooks::take_shared_access(v, op, ready, now)) return;
  set_results(v, op.warp, v.instr(op.pc), ready);
  operation_ended(v, op.warp, now);
}

/// Does the line lie behind the SM, and not behind another one?
template <class V>
NW_HD NW_APART bool is_own(const V& v, LineAddr line) {
  return v.stack_of(line) == v.own_stack();
}

/// Bytes of the line at the head that the access wants.
template <class V>
NW_HD NW_INLINE uint32_t data_bytes(const V& v) {
  return population_count(v.s.lines.sectors[v.s.lines.next]) * v.p.sector_bytes;
}

/// Look the line of a load up in an L1 that is not plain.
template <class V>
NW_HD NW_CALLED cache::L1Result look_up_sectors(V& v, uint32_t entry, LineAddr line, uint32_t now,
                                                bool free, cache::L1Request& request) {
  auto& s = v.s;
  const uint32_t credits = !free ? 0 : has_credits(v.to_network(), v.base, v.tick(now), 2) ? 2 : 1;
  const cache::L1Load load{.line = line,
                           .cycle = now,
                           .credits = credits,
                           .sectors = s.lines.sectors[s.lines.next],
                           .entry = static_cast<uint8_t>(entry)};
  const cache::L1Result r = cache::l1_load_sectors(v.p.l1, s.l1, v.base, load, request);
  if (v.p.l1.by_sectors == 0) request.fetch = 0;
  if (request.write_back != kNoLine) send_write_back(v, request.write_back, now);
  return r;
}

// A line of the operation at the head, by what it does; `free`: the network takes a packet. Each
// returns what became of the line, or says in `lsu_stall` what it waits for and returns false.

template <class V>
NW_HD NW_APART_ON_GPU bool load_line(V& v, const LsuOp& op, LineAddr line, uint32_t now, bool free,
                                     LineUse& use) {
  auto& s = v.s;
  const bool plain = v.p.l1.plain;
  cache::L1Request request;
  const auto look_up_plain = [&]() NW_INLINE_LAMBDA {
    const cache::L1Load load{.line = line,
                             .cycle = now,
                             .credits = free ? 1u : 0u,
                             .entry = op.entry,
                             .own = v.p.l1.keep == cache::L1Keep::kRemote && is_own(v, line)};
    return cache::l1_load(v.p.l1, s.l1, v.base, load, request.mshr);
  };
  const cache::L1Result r =
      plain ? look_up_plain() : look_up_sectors(v, op.entry, line, now, free, request);
  if (r == cache::L1Result::kStall) {
    const bool enough = s.l1.full_set != kNoLane ||
                        (free && (plain || has_credits(v.to_network(), v.base, v.tick(now), 2)));
    s.lsu_stall = enough ? LsuStall::kReply : LsuStall::kCredit;
    return false;
  }
  s.counters.load_lines += 1;
  use = LineUse::kHit;
  if (r == cache::L1Result::kHit) return true;
  LoadEntry& e = v.load_entries[op.entry];
  e.remaining = static_cast<uint16_t>(e.remaining + 1);
  use = LineUse::kMerged;
  if (r == cache::L1Result::kMerged) return true;
  use = LineUse::kMiss;
  Packet p = memory_packet(v, PacketKind::kRead, line, request.mshr, v.p.header_bytes);
  p.sectors = request.fetch;
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  return true;
}

template <class V>
NW_HD NW_CALLED bool store_line(V& v, const LsuOp& op, LineAddr line, uint32_t now, bool free) {
  auto& s = v.s;
  const LineList& lines = s.lines;
  const bool plain = v.p.l1.plain;
  if (!plain &&
      cache::l1_keeps_store(v.p.l1, s.l1, v.base, line, (v.instr(op.pc).flags & kLocal) != 0)) {
    s.counters.store_lines += 1;
    return true;
  }
  const Tick tick = v.tick(now);
  const uint32_t more = v.who(op.watch) != 0 ? hooks::store_packets(v, op.watch, op.warp, line) : 0;
  if (!free || (more != 0 && !has_credits(v.to_network(), v.base, tick, 1 + more))) {
    s.lsu_stall = LsuStall::kCredit;
    return false;
  }
  if (v.who(op.watch) != 0) hooks::on_store(v, op.watch, op.warp, line, now);
  s.epoch_stores[op.epoch] += 1;
  Packet p = memory_packet(v, PacketKind::kWrite, line, op.warp | uint32_t{op.epoch} << 8,
                           v.p.header_bytes + data_bytes(v));
  p.sectors = lines.sectors[lines.next];
  if (v.p.mark_words) p.written_words() = lines.words[lines.next];
  send(v.to_network(), v.base, tick, p, v.horizon);
  v.warps[op.warp].stores += 1;
  s.counters.store_lines += 1;
  if (plain) {
    cache::l1_store(v.p.l1, s.l1, v.base, line);
  } else {
    cache::l1_store_sectors(v.p.l1, s.l1, v.base, line, lines.sectors[lines.next],
                            p.written_words());
  }
  return true;
}

template <class V>
NW_HD NW_CALLED bool atomic_line(V& v, const LsuOp& op, LineAddr line, uint32_t now, bool free) {
  auto& s = v.s;
  const LineList& lines = s.lines;
  if (!free) {
    s.lsu_stall = LsuStall::kCredit;
    return false;
  }
  LoadEntry& e = v.load_entries[op.entry];
  e.remaining = static_cast<uint16_t>(e.remaining + 1);
  cache::l1_invalidate_line(v.p.l1, s.l1, v.base, line);
  Packet p =
      memory_packet(v, PacketKind::kAtomic, line, op.entry, v.p.header_bytes + data_bytes(v));
  p.sectors = lines.sectors[lines.next];
  p.lanes_of_address() = lines.rounds[lines.next];
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  s.counters.atomic_lines += 1;
  return true;
}

/// A line that is asked for at the L2, without a look at the L1: what that has of it stays as it
/// is.
template <class V>
NW_HD NW_CALLED bool load_line_past_l1(V& v, const LsuOp& op, LineAddr line, uint32_t now,
                                       bool free) {
  auto& s = v.s;
  if (!free) {
    s.lsu_stall = LsuStall::kCredit;
    return false;
  }
  LoadEntry& e = v.load_entries[op.entry];
  e.remaining = static_cast<uint16_t>(e.remaining + 1);
  Packet p = memory_packet(v, PacketKind::kRead, line, kPastTag | op.entry, v.p.header_bytes);
  p.sectors = v.p.l1.by_sectors == 0 ? 0 : s.lines.sectors[s.lines.next];
  send(v.to_network(), v.base, v.tick(now), p, v.horizon);
  s.counters.load_lines += 1;
  return true;
}

/// All lines of the operation at the head, `op`, have been handled.
template <class V>
NW_HD NW_CALLED void leave_lsu(V& v, const LsuOp& op, bool store, uint32_t now) {
  lsu_pop(v.s);
  if (v.who(op.watch) != 0) hooks::on_access_end(v, op.watch, op.warp);
  if (store) {
    remove_store(v.s, op.epoch);
    operation_ended(v, op.warp, now);
  } else {
    LoadEntry& e = v.load_entries[op.entry];
    e.issued = true;
    if (e.remaining == 0) complete_load(v, op.entry, now + v.p.l1.hit_latency, now);
  }
}

/// Handle one line of the operation at the head: lsu_may_step(). (What has left the queue keeps its
/// place until something is issued.)
template <class V>
NW_HD NW_CALLED void lsu_step(V& v, uint32_t now) {
  auto& s = v.s;
  if (s.lsu_busy_until > now) return;
  const LsuOp& op = s.lsu[s.lsu_head];
  if (op.shared) {
    access_shared(v, op, now);
    return;
  }
  s.l1.full_set = kNoLane;
  if (v.who(op.watch) != 0 && hooks::take_access(v, op, now)) return;
  LineList& lines = s.lines;
  const bool free = can_send(v.to_network(), v.base, v.tick(now));
  if (!translate_head(v, op.space, now, free)) return;
  const LineAddr line = line_of_data(v, op.space, lines.line[lines.next]);
  const Action action = v.instr(op.pc).action;
  const bool loads =
      action == Action::kLoad || (action == Action::kAsyncLoad && v.instr(op.pc).number() == 0);
  LineUse use = LineUse::kAtomic;
  if (loads) {
    if (!load_line(v, op, line, now, free, use)) return;
  } else if (action == Action::kStore) {
    if (!store_line(v, op, line, now, free)) return;
    use = LineUse::kStore;
  } else {
    auto&& rare = v.rarely();
    const bool past = action == Action::kAsyncLoad;
    if (!(past ? load_line_past_l1(rare, op, line, now, free)
               : atomic_line(rare, op, line, now, free)))
      return;
    if (past) use = LineUse::kMiss;
  }
  s.lsu_stall = LsuStall::kNone;
  if (v.p.tlb.entries != 0) tlb_line_done(s.tlb);
  if (v.who(op.watch) != 0) hooks::on_line(v, op.watch, op.warp, lines.line[lines.next], line, use);
  lines.next += 1;
  if (lines.next >= lines.count) {
    leave_lsu(v, op, action == Action::kStore, now);
  } else if (s.l1.mshr_free == 0 && v.p.l1.plain && loads && load_will_stall(v, op.space)) {
    s.lsu_stall = LsuStall::kReply;
  }
}

template <class V>
NW_HD inline void line_arrived(V& v, uint32_t entry, uint32_t now) {
  LoadEntry& e = v.load_entries[entry];
  NW_ASSERT(e.remaining > 0);
  e.remaining = static_cast<uint16_t>(e.remaining - 1);
  if (e.remaining == 0 && e.issued) complete_load(v, entry, now + 1, now);
}

/// A packet has come. Does the operation at the head, if it waits for a reply, go on waiting?
template <class V>
NW_HD NW_INLINE bool stays_stalled(const V& v, const Packet& p) {
  return p.kind == PacketKind::kReadReply && p.tag < kFetchTag &&
         cache::l1_stays_full(v.p.l1, v.s.l1, v.base, p.tag);
}

/// A line has come that was not read for the L1.
template <class V>
NW_HD NW_CALLED void on_other_line(V& v, const Packet& p, uint32_t now) {
  const uint32_t tag = p.tag;
  if (tag >= kHeldWalkTag) {
    on_walk_packet(v, p, now);
  } else if (tag >= kWalkTag) {
    on_walk_reply(v, tag - kWalkTag, now);
  } else if (tag >= kConstantTag) {
    on_constants(v, tag - kConstantTag, now);
  } else if (V::kHasBlocks && tag >= kCopyTag) {
    on_copied_line(v, tag - kCopyTag, now);
  } else if (tag >= kPastTag) {
    line_arrived(v, tag - kPastTag, now);
  } else {
    on_instructions(v, tag - kFetchTag);
  }
}

/// A reply from memory.
template <class V>
NW_HD NW_APART_ON_GPU void on_reply(V& v, const Packet& p, uint32_t now) {
  auto& s = v.s;
  switch (p.kind) {
    case PacketKind::kReadReply: {
      if (p.tag >= kFetchTag) {
        auto&& rare = v.rarely();
        on_other_line(rare, p, now);
        break;
      }
      const uint32_t m = p.tag;
      s.counters.miss_latency += now - s.l1.mshr_since.in(v.base)[m];
      const uint32_t n = v.p.l1.plain ? s.l1.mshr_count.in(v.base)[m]
                                      : cache::l1_fill_sectors(v.p.l1, s.l1, v.base, m, p.sectors);
      if (v.p.l1.plain) cache::l1_fill(s.l1, v.base, m, cache::drops(v.p.l1.keep));
      for (uint32_t i = 0; i < n; ++i)
        line_arrived(v, s.l1.mshr_loads.in(v.base)[m * v.p.l1.merges + i], now);
      if (!v.p.l1.plain) cache::l1_end_fill(v.p.l1, s.l1, v.base, m, n);
      break;
    }
    case PacketKind::kNearReply:
    case PacketKind::kAtomicReply:
      if (V::kHasBlocks && p.tag >= kCopyTag) {
        auto&& rare = v.rarely();
        on_copied_line(rare, p.tag - kCopyTag, now);
      } else {
        line_arrived(v, p.tag, now);
      }
      break;
    default: {  // kWriteAck
      NW_ASSERT(p.kind == PacketKind::kWriteAck);
      if (p.tag == kWriteBackTag) break;
      if (p.tag >= kOwnStoreTag && p.tag < kFetchTag) {
        hooks::on_own_store_ack(v, p, now);
        break;
      }
      if (V::kHasBlocks && p.tag >= kCopyTag && p.tag < kConstantTag) {
        auto&& rare = v.rarely();
        on_copied_line(rare, p.tag - kCopyTag, now);
        break;
      }
      if (p.tag >= kHeldWalkTag) {
        auto&& rare = v.rarely();
        on_walk_packet(rare, p, now);
        break;
      }
      Warp& w = v.warps[p.tag & 0xff];
      remove_store(s, p.tag >> 8);
      NW_ASSERT(w.stores > 0);
      w.stores = static_cast<uint16_t>(w.stores - 1);
      if (v.who(s.awaits_stores) != 0) hooks::on_store_ack(v, now);
      if (w.stores != 0) break;
      if (w.phase == Phase::kAtFence) {
        try_pass_fence(v, p.tag & 0xff, now);
      } else {
        try_retire(v, p.tag & 0xff, now);
      }
      break;
    }
  }
}

}  // namespace nearwarp::sm
