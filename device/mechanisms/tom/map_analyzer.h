// The memory map analyzer in an SM (TOM, section 4.3, step 3), and how the learning phase ends.
//
// During the learning phase the analyzer follows every candidate instance whose condition holds
// from its first instruction to its last, and computes the stack of each line that the instance
// touches under every mapping. It reports complete instances to the front end, which adds them up
// and stops all SMs when it has seen enough. An SM that is told to stop issues nothing more, waits
// for its memory operations to end, and reports that it stands still.
#pragma once

#include "device/cache/l1_cache.h"
#include "device/mechanisms/tom/sm_state.h"
#include "device/sm/mechanisms.h"
#include "device/sm/tlb.h"

namespace nearwarp::tom {

/// Is this the learning phase, in which data is still in the CPU's memory?
template <class O>
NW_HD NW_INLINE bool is_learning(const O& o) {
  return o.s.analyzer.mode != SmMode::kNormal;
}

/// Note which entry of the memory allocation table holds `line`.
template <class O>
NW_HD inline void touch_range(O& o, LineAddr line) {
  AnalyzerState& a = o.s.analyzer;
  const LineRange* ranges = a.ranges.in(o.v.base);
  if (a.ranges.count == 0) return;
  if (line < ranges[a.last_range].first || line >= ranges[a.last_range].end) {
    uint32_t low = 0, high = a.ranges.count;  // the last range that begins at or before the line
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (ranges[middle].first <= line ? low : high) = middle;
    }
    if (line < ranges[low].first || line >= ranges[low].end) return;
    a.last_range = low;
  }
  a.touched.in(o.v.base)[a.last_range] = 1;
}

template <class O>
NW_HD inline AnalyzerEntry& entry_of(O& o, uint32_t warp) {
  return o.s.analyzer.entries.in(o.v.base)[warp];
}

/// Count a line of the warp's instance under every mapping. The first line's stack is the one to
/// which the instance would be offloaded (its destination).
template <class O>
NW_HD inline void analyze_line(O& o, uint32_t warp, LineAddr line) {
  AnalyzerEntry& e = entry_of(o, warp);
  const uint32_t mask = static_cast<uint32_t>(low_bits(o.v.p.map.baseline.stack_bits));
  if (e.accesses == 0) {
    e.destinations = 0;
    for (uint32_t m = 0; m < kNumMappings; ++m)
      e.destinations |= uint64_t{line >> m & mask} << (4 * m);
  }
  e.accesses += 1;
  for (uint32_t m = 0; m < kNumMappings; ++m)
    e.at_destination[m] += (line >> m & mask) == (e.destinations >> (4 * m) & 15) ? 1 : 0;
  touch_range(o, line);
}

/// All accesses of the warp's instance have been seen.
template <class O>
NW_HD inline void finish_instance(O& o, uint32_t warp) {
  AnalyzerEntry& e = entry_of(o, warp);
  if (e.accesses == 0) {
    e.state = InstanceState::kIdle;
    return;
  }
  e.state = InstanceState::kReporting;
  o.s.analyzer.reporting |= sm::bit(warp);
  o.v.s.wants_control = static_cast<uint8_t>(o.v.s.wants_control | o.bit);
}

/// Is the warp's last instance not reported yet, so that the next one has to wait?
template <class O>
NW_HD NW_INLINE bool is_reporting(O& o, uint32_t warp) {
  return entry_of(o, warp).state != InstanceState::kIdle;
}

/// Begin to analyse an instance: the warp has come to a candidate. Requires !is_reporting().
template <class O>
NW_HD NW_APART inline void open_instance(O& o, uint32_t warp) {
  WarpSide& t = o.s.warps.in(o.v.base)[warp];
  AnalyzerEntry& e = entry_of(o, warp);
  e = AnalyzerEntry{};
  e.state = InstanceState::kOpen;
  t.analyzed = true;
  o.s.candidates.in(o.v.base)[t.candidate].learning += 1;
}

/// End the warp's instance: the warp has left its candidate. Accesses may still be under way.
template <class O>
NW_HD NW_APART inline void close_instance(O& o, uint32_t warp) {
  AnalyzerEntry& e = entry_of(o, warp);
  o.s.warps.in(o.v.base)[warp].analyzed = false;
  if (o.s.analyzer.mode == SmMode::kNormal) {  // the learning phase ended meanwhile
    e.state = InstanceState::kIdle;
    return;
  }
  if (e.pending != 0) {
    e.state = InstanceState::kClosing;
  } else {
    finish_instance(o, warp);
  }
}

/// A memory instruction of the warp's instance has been issued.
template <class O>
NW_HD inline void expect_access(O& o, uint32_t warp) {
  AnalyzerEntry& e = entry_of(o, warp);
  e.pending += 1;
  if (!o.p.count_at_begin || e.begun || o.s.analyzer.mode != SmMode::kLearning) return;
  e.begun = true;
  o.s.analyzer.begun = static_cast<uint16_t>(o.s.analyzer.begun + 1);
  o.v.s.wants_control = static_cast<uint8_t>(o.v.s.wants_control | o.bit);
}

/// When instances count from their beginning, report what those that are still open have accessed.
template <class O>
NW_HD inline void gather_open(O& o) {
  AnalyzerState& a = o.s.analyzer;
  a.gathered = 1;
  for (uint32_t i = 0; i < a.entries.count; ++i)
    if (entry_of(o, i).state == InstanceState::kOpen) finish_instance(o, i);
}

/// All lines of one access of the warp's instance have been analysed.
template <class O>
NW_HD inline void access_seen(O& o, uint32_t warp) {
  AnalyzerEntry& e = entry_of(o, warp);
  e.pending -= 1;
  if (e.pending == 0 && e.state == InstanceState::kClosing) finish_instance(o, warp);
}

/// Is nothing under way in a stopping SM, and nothing left to be reported?
template <class O>
NW_HD inline bool is_quiet(const O& o) {
  const auto& s = o.v.s;
  if (s.lsu_count != 0 || s.free_loads != low_bits(o.v.p.load_entries) ||
      o.s.analyzer.reporting != 0)
    return false;
  for (uint32_t i = 0; i < sm::kEpochs; ++i)
    if (s.epoch_stores[i] != 0) return false;
  return !o.v.copies() || s.copies.in(o.v.base)->free_boxes == ~uint32_t{0};
}

/// Has the SM anything to tell the front end about the learning phase?
template <class O>
NW_HD inline bool wants_to_report(const O& o) {
  const AnalyzerState& a = o.s.analyzer;
  return a.begun != 0 || a.reporting != 0 || (a.mode == SmMode::kStopping && is_quiet(o));
}

/// Might wants_to_report() become true without another event in this mechanism? (A stopping SM
/// becomes quiet by itself.)
template <class O>
NW_HD inline bool may_report(const O& o) {
  return o.s.analyzer.begun != 0 || o.s.analyzer.reporting != 0 ||
         o.s.analyzer.mode == SmMode::kStopping;
}

/// The message for the front end; only if wants_to_report().
template <class O>
NW_HD inline Packet take_report(O& o) {
  AnalyzerState& a = o.s.analyzer;
  Packet message;
  if (a.begun != 0) {
    InstanceBegun{a.begun}.put(message);
    a.begun = 0;
    return message;
  }
  if (a.reporting == 0 && o.p.count_at_begin && a.gathered == 0) gather_open(o);
  if (a.reporting == 0) {
    a.mode = SmMode::kStopped;
    message.kind = kLearningStopped;
    return message;
  }
  const uint32_t warp = count_trailing_zeros(a.reporting);
  a.reporting &= a.reporting - 1;
  AnalyzerEntry& e = entry_of(o, warp);
  const Packet p = pack_report(e);
  e.state = InstanceState::kIdle;
  return p;
}

/// Stop issuing instructions: the front end has seen enough instances.
template <class O>
NW_HD inline void stop(O& o) {
  o.s.analyzer.mode = SmMode::kStopping;
  o.v.s.wants_control = static_cast<uint8_t>(o.v.s.wants_control | o.bit);
  o.v.s.halted_by = static_cast<uint8_t>(o.v.s.halted_by | o.bit);
}

/// Go on after the learning phase. Data is in the GPU's memory now, under its final mapping, so the
/// L1 and the TLB are flushed.
template <class O>
NW_HD inline void resume(O& o) {
  auto& v = o.v;
  o.s.analyzer.mode = SmMode::kNormal;
  v.s.halted_by = static_cast<uint8_t>(v.s.halted_by & ~o.bit);
  v.s.counts_accesses = static_cast<uint8_t>(v.s.counts_accesses & ~o.bit);
  cache::l1_flush(v.p.l1, v.s.l1, v.base);
  sm::tlb_flush(v.p.tlb, v.s.tlb, v.base);
}

}  // namespace nearwarp::tom
