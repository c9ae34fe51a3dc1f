// The memory map analyzer in an SM (TOM, section 4.3, step 3), and how the learning phase ends.
//
// During the learning phase every candidate instance whose condition holds is followed from its
// first instruction to its last: each line that it touches is placed under every mapping. A
// complete instance is reported to the front end, which adds up, and stops all SMs when it has seen
// enough. An SM that is told to stop issues nothing more, waits for its memory operations, and says
// so.
#pragma once

#include "device/offload/map_analyzer_state.h"
#include "device/sm/timer_wheel.h"

namespace nearwarp::offload {

/// Note which entry of the memory allocation table holds `line`.
template <class V>
NW_HD inline void touch_range(V& v, LineAddr line) {
  AnalyzerState& a = v.s.offload.analyzer;
  const LineRange* ranges = a.ranges.in(v.base);
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
  a.touched.in(v.base)[a.last_range] = 1;
}

/// One line of an analysed instance.
template <class V>
NW_HD inline void analyze_line(V& v, uint32_t warp, LineAddr line) {
  AnalyzerEntry& e = v.s.offload.analyzer.entries.in(v.base)[warp];
  const uint32_t mask = static_cast<uint32_t>(low_bits(v.p.map.baseline.stack_bits));
  if (e.accesses == 0) {
    e.destinations = 0;
    for (uint32_t m = 0; m < kNumMappings; ++m)
      e.destinations |= uint64_t{line >> m & mask} << (4 * m);
  }
  e.accesses += 1;
  for (uint32_t m = 0; m < kNumMappings; ++m)
    e.at_destination[m] += (line >> m & mask) == (e.destinations >> (4 * m) & 15) ? 1 : 0;
  touch_range(v, line);
}

/// All accesses of the warp's instance have been seen.
template <class V>
NW_HD inline void finish_instance(V& v, uint32_t warp) {
  AnalyzerState& a = v.s.offload.analyzer;
  AnalyzerEntry& e = a.entries.in(v.base)[warp];
  if (e.accesses == 0) {
    e.state = InstanceState::kIdle;
    return;
  }
  e.state = InstanceState::kReporting;
  a.reporting |= sm::bit(warp);
}

/// The warp comes to a candidate. Returns false if its last instance has not been reported yet: it
/// has to wait.
template <class V>
NW_HD inline bool open_instance(V& v, uint32_t warp) {
  auto& w = v.warps[warp];
  AnalyzerEntry& e = v.s.offload.analyzer.entries.in(v.base)[warp];
  if (e.state != InstanceState::kIdle) return false;
  const sm::Candidate& c = v.system.image.candidates[w.candidate];
  if (c.threshold != 0 && sm::iterations_ahead(w.at, v.words(w), v.system.image, w.first_block,
                                               w.candidate, c.threshold) < c.threshold)
    return true;
  e = AnalyzerEntry{};
  e.state = InstanceState::kOpen;
  w.analyzed = true;
  v.s.offload.candidates.in(v.base)[w.candidate].learning += 1;
  return true;
}

/// The warp has left its candidate.
template <class V>
NW_HD inline void close_instance(V& v, uint32_t warp) {
  auto& w = v.warps[warp];
  AnalyzerEntry& e = v.s.offload.analyzer.entries.in(v.base)[warp];
  w.analyzed = false;
  if (v.s.offload.analyzer.mode == SmMode::kNormal) {  // the learning phase ended meanwhile
    e.state = InstanceState::kIdle;
    return;
  }
  if (e.pending != 0) {
    e.state = InstanceState::kClosing;
  } else {
    finish_instance(v, warp);
  }
}

/// A memory instruction of the warp's instance has been issued.
template <class V>
NW_HD inline void expect_access(V& v, uint32_t warp) {
  v.s.offload.analyzer.entries.in(v.base)[warp].pending += 1;
}

/// All its lines have been seen.
template <class V>
NW_HD inline void access_seen(V& v, uint32_t warp) {
  AnalyzerEntry& e = v.s.offload.analyzer.entries.in(v.base)[warp];
  e.pending -= 1;
  if (e.pending == 0 && e.state == InstanceState::kClosing) finish_instance(v, warp);
}

/// Nothing is under way in a stopping SM, and nothing is left to be reported.
template <class V>
NW_HD inline bool is_quiet(const V& v) {
  const auto& s = v.s;
  if (s.lsu_count != 0 || s.free_loads != low_bits(v.p.load_entries) ||
      s.offload.analyzer.reporting != 0)
    return false;
  for (uint32_t i = 0; i < sm::kEpochs; ++i)
    if (s.epoch_stores[i] != 0) return false;
  return true;
}

/// Has the SM anything to tell the front end about the learning phase?
template <class V>
NW_HD inline bool wants_to_report(const V& v) {
  const AnalyzerState& a = v.s.offload.analyzer;
  return a.reporting != 0 || (a.mode == SmMode::kStopping && is_quiet(v));
}

/// The message for the front end; only if wants_to_report().
template <class V>
NW_HD inline Packet take_report(V& v) {
  AnalyzerState& a = v.s.offload.analyzer;
  if (a.reporting == 0) {
    a.mode = SmMode::kStopped;
    Packet p;
    p.kind = PacketKind::kStopped;
    return p;
  }
  const uint32_t warp = count_trailing_zeros(a.reporting);
  a.reporting &= a.reporting - 1;
  AnalyzerEntry& e = a.entries.in(v.base)[warp];
  const Packet p = pack_report(e);
  e.state = InstanceState::kIdle;
  return p;
}

/// Data is in the GPU's memory now, under its final mapping: drop what caches and the TLB hold.
template <class V>
NW_HD inline void resume(V& v) {
  v.s.offload.analyzer.mode = SmMode::kNormal;
  cache::l1_flush(v.p.l1, v.s.l1, v.base);
  sm::tlb_flush(v.p.tlb, v.s.tlb, v.base);
}

}  // namespace nearwarp::offload
