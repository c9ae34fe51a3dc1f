// mbarriers in time: what arrives at them, and warps that sleep until a phase is over.
//
// Which events make up a phase is in the trace (trace::PhaseEvent), as functional execution found
// it; when they come is found here. So a phase is over in time when all that ended it then has
// come, whatever the order; and a wait costs its try alone.
//
// Events for mbarriers of other blocks of a cluster come over the network of their GPC
// (clusters.h, multicast.h). Where there is none, or some of them are not there, they do not come:
// phases of which others have a part are not waited for, and are over when something arrives in the
// next one.
#pragma once

#include "device/sm/cluster_slots.h"
#include "device/sm/progress.h"

namespace nearwarp::sm {

/// The words behind a record, as events.
template <class F>
NW_HD NW_INLINE void each_event(trace::RecordView record, F&& f) {
  for (uint32_t i = 0, n = population_count(record.mask); i < n; ++i)
    f(trace::phase_event(record.more()[i]));
}

/// The phase under way is over, not before the one that came before it.
NW_HD inline void end_phase(MbarrierState& m) {
  const uint32_t k = m.phase & 1, before = m.over_at[k ^ 1];
  m.over_at[k] = m.at[k] > before ? m.at[k] : before;
  m.come[k] = m.awaited[k] = m.at[k] = 0;
  m.phase += 1;
}

/// An event has come, or does so for certain at cycle `at`. Programs that wait for each phase
/// before they arrive for the one after the next have none of a later phase; of others the older
/// phases are then taken to be over. `alone`: what other blocks tell does not come.
NW_HD inline void take_event(MbarrierState& m, const trace::PhaseEvent& e, uint32_t at,
                             bool alone) {
  if (e.phase < m.phase) return;
  while (e.phase > m.phase + (alone && e.others ? 0 : 1)) end_phase(m);
  const uint32_t k = e.phase & 1;
  m.come[k] += 1;
  if (at > m.at[k]) m.at[k] = at;
  if (e.events != 0) m.awaited[k] = e.events;
  while (m.awaited[m.phase & 1] != 0 && m.come[m.phase & 1] >= m.awaited[m.phase & 1]) end_phase(m);
}

/// The cycle at which `phases` of an mbarrier were over, all of which are; of those before the last
/// two it is not kept, and the older one's of these stands for it.
NW_HD inline uint32_t were_over_at(const MbarrierState& m, uint32_t phases) {
  return phases == 0 ? 0 : m.over_at[(m.phase == phases ? m.phase - 1 : m.phase) & 1];
}

template <class V>
NW_HD inline MbarrierState* mbarriers_of(const V& v, uint32_t block) {
  return v.s.mbarriers.in(v.base) + block * trace::kMaxMbarriers;
}

/// Are all phases over for which the warp waits? Traces that were cut lack what ended them.
template <class V>
NW_HD NW_CALLED bool phases_are_over(const V& v, uint32_t warp) {
  const Warp& w = v.warps[warp];
  const WarpCopies& c = v.s.warp_copies.in(v.base)[warp];
  if (v.system.image.launches[v.blocks[w.block_slot].launch].cut) return true;
  const MbarrierState* const all = mbarriers_of(v, w.block_slot);
  const bool alone = !hears_others(v, w.block_slot);
  bool over = true;
  each_event({v.words(w), c.wait_record, c.wait_mask}, [&](const trace::PhaseEvent& e) {
    over &= all[e.mbarrier % trace::kMaxMbarriers].phase >= e.phase || (alone && e.others);
  });
  return over;
}

/// The cycle at which the phases for which the warp waits, and which are over, were so; at least
/// `now`.
template <class V>
NW_HD NW_CALLED uint32_t phases_over_at(const V& v, uint32_t warp, uint32_t now) {
  const Warp& w = v.warps[warp];
  const WarpCopies& c = v.s.warp_copies.in(v.base)[warp];
  const MbarrierState* const all = mbarriers_of(v, w.block_slot);
  uint32_t at = now;
  each_event({v.words(w), c.wait_record, c.wait_mask}, [&](const trace::PhaseEvent& e) {
    const MbarrierState& m = all[e.mbarrier % trace::kMaxMbarriers];
    if (m.phase < e.phase) return;  // it is not waited for
    const uint32_t over_at = were_over_at(m, e.phase);
    if (over_at > at) at = over_at;
  });
  return at;
}

/// The warp issues a try: these are the phases for which it waits.
template <class V>
NW_HD NW_CALLED void begin_wait(V& v, uint32_t warp, const Access& access) {
  WarpCopies& c = v.s.warp_copies.in(v.base)[warp];
  c.wait_pc = v.warps[warp].at.pc;
  c.wait_record = access.record;
  c.wait_mask = access.mask;
}

/// The warp has tried, and finds its phases over, or those that are over at a later cycle: then it
/// goes on, and its predicate is there at `ready`, or after one more look.
template <class V>
NW_HD NW_CALLED void end_wait(V& v, uint32_t warp, uint32_t ready, uint32_t now) {
  const uint32_t over_at = phases_over_at(v, warp, now);
  const uint32_t looked = over_at + v.p.shared_latency;
  if (over_at > now && looked > ready) ready = looked;
  WarpCopies& c = v.s.warp_copies.in(v.base)[warp];
  const ImageInstr& in = v.instr(c.wait_pc);
  c.wait_mask = 0;
  v.s.waiting.clear(warp);
  uint32_t* slots = v.slots(warp);
  for (uint32_t i = 0; i < in.num_dsts; ++i) slots[in.slots[i]] = ready;
  enter_phase(v, warp, Phase::kRunning);
  continue_warp(v, warp, now, over_at + 1);
}

/// An event arrives at an mbarrier of a thread block. Returns whether a phase is over by that.
template <class V>
NW_HD NW_CALLED bool arrive_at_phase(V& v, uint32_t block, const trace::PhaseEvent& e,
                                     uint32_t at) {
  MbarrierState& m = mbarriers_of(v, block)[e.mbarrier % trace::kMaxMbarriers];
  const uint32_t before = m.phase;
  take_event(m, e, at, !hears_others(v, block));
  return m.phase != before;
}

/// Phases of a block's mbarriers are over.
template <class V>
NW_HD NW_CALLED void wake_for_phases(V& v, uint32_t block, uint32_t now) {
  // Estimated: who wakes looks at the mbarrier once more.
  const auto waiting = v.s.waiting & v.blocks[block].warps;
  waiting.each([&](uint32_t warp) {
    if (phases_are_over(v, warp)) end_wait(v, warp, now + v.p.shared_latency, now);
  });
}

/// The events of a record have arrived at mbarriers of a thread block, or do so for certain at
/// cycle `at`. Other blocks are told elsewhere of those that arrive at theirs.
template <class V>
NW_HD NW_CALLED void arrive_at_phases(V& v, uint32_t block, trace::RecordView events, uint32_t at,
                                      uint32_t now) {
  bool ended = false;
  each_event(events, [&](const trace::PhaseEvent& e) {
    if (e.block == 0) ended |= arrive_at_phase(v, block, e, at);
  });
  if (ended) wake_for_phases(v, block, now);
}

/// Another block of the cluster tells an mbarrier of the block `to` something: `word` is a
/// phase_word(). A block that has ended needs no word; a block that has not begun gets none, since
/// a sender has seen the mbarrier made, which takes longer than the blocks of a cluster begin
/// apart.
template <class V>
NW_HD NW_CALLED void arrive_from_other(V& v, uint64_t word, ClusterMember to, uint32_t now) {
  const uint32_t block = slot_of_rank(v, to.cluster, to.rank);
  NW_ASSERT(to.rank < kMaxClusterBlocks);
  if (block == v.p.num_blocks || !v.copies()) return;
  if (arrive_at_phase(v, block, trace::phase_event(word), now)) wake_for_phases(v, block, now);
}

/// The try of a warp that waits has been made, and would be answered at `ready`.
template <class V>
NW_HD NW_CALLED void try_phases(V& v, uint32_t warp, uint32_t ready, uint32_t now) {
  v.warps[warp].loads = static_cast<uint8_t>(v.warps[warp].loads - 1);
  if (phases_are_over(v, warp)) {
    end_wait(v, warp, ready, now);
  } else {
    v.s.waiting.set(warp);
  }
}

}  // namespace nearwarp::sm
