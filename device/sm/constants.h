// The constant cache: loads of constants and of a kernel's parameters. Lanes that want several
// lines get one per cycle. A warp goes on to the first instruction that needs the value; where a
// line cannot even be looked up, for want of an MSHR or the like, the load is issued later.
//
// Lines are parts of the machine's: the lowest bits of a number in the cache say which part.
//
// Source: GPGPU-Sim 4.2, load-store unit, constant cache.
#pragma once

#include "device/core/lanes.h"
#include "device/sm/lsu.h"

namespace nearwarp::sm {

/// log2 of the constant cache's lines in one of the machine's.
template <class V>
NW_HD NW_INLINE uint32_t constant_parts(const V& v) {
  return v.p.grid.line_shift - v.p.constants.line_shift;
}

/// The line of a byte of device memory, as the constant cache knows it.
template <class V>
NW_HD inline LineAddr constant_line(const V& v, uint32_t space, uint64_t byte) {
  const auto line = static_cast<LineAddr>(byte >> v.p.grid.line_shift);
  const auto part = static_cast<uint32_t>(byte >> v.p.constants.line_shift);
  const uint32_t shift = constant_parts(v);
  return v.physical(line, space) << shift | (part & ((1u << shift) - 1));
}

enum class Constants : uint8_t {
  kThere,    ///< all lines have been found
  kMissing,  ///< some are on their way; the registers get their values when they come
  kStalled,  ///< not all could be looked up: the warp tries again when some line has come
};

/// The warp's load that misses lines and is not issued yet; kNoLane if it has none.
template <class V>
NW_HD inline uint32_t begun_load(const V& v, uint32_t warp) {
  const auto& c = v.s.constants;
  const LoadEntry* loads = c.loads.in(v.base);
  for (uint64_t used = low_bits(c.loads.count) & ~c.free_loads; used != 0; used &= used - 1) {
    const uint32_t i = count_trailing_zeros(used);
    if (loads[i].warp == warp && !loads[i].issued) return i;
  }
  return kNoLane;
}

/// The warp's load as begun_load() finds it, or a new one; kNoLane if none is free.
template <class V>
NW_HD inline uint32_t constant_load(V& v, uint32_t warp) {
  auto& c = v.s.constants;
  const uint32_t begun = begun_load(v, warp);
  if (begun != kNoLane || c.free_loads == 0) return begun;
  const uint32_t i = count_trailing_zeros(c.free_loads);
  c.free_loads &= c.free_loads - 1;
  c.loads.in(v.base)[i] = LoadEntry{v.warps[warp].at.pc, 0, static_cast<uint8_t>(warp), false};
  v.warps[warp].loads = static_cast<uint8_t>(v.warps[warp].loads + 1);
  return i;
}

/// Look up the next line of the warp's load. Returns false if that is impossible now.
template <class V>
NW_HD inline bool look_up_constant(V& v, uint32_t warp, LineAddr line, uint32_t now) {
  auto& c = v.s.constants;
  const cache::L1Params& p = v.p.constants.cache;
  if (!cache::l1_touch(p, c.cache, v.base, line)) {
    const uint32_t load = constant_load(v, warp);
    if (load == kNoLane) return false;
    uint32_t mshr = 0;
    const cache::L1Load wanted{
        .line = line, .cycle = now, .credits = 1, .entry = static_cast<uint8_t>(load)};
    const auto r = cache::l1_load(p, c.cache, v.base, wanted, mshr);
    if (r == cache::L1Result::kStall) return false;
    if (r == cache::L1Result::kMiss) c.unsent |= bit(mshr);
    LoadEntry& l = c.loads.in(v.base)[load];
    l.remaining = static_cast<uint16_t>(l.remaining + 1);
  }
  v.warps[warp].constant_lines = static_cast<uint8_t>(v.warps[warp].constant_lines + 1);
  return true;
}

/// Look up the lines of the warp's next instruction, from where it has come; their number.
/// kNoLane: not all could be.
template <class V>
NW_HD inline uint32_t look_up_constants(V& v, uint32_t warp, const ImageInstr& in, uint32_t now) {
  const Warp& w = v.warps[warp];
  if ((in.flags & kHasRecord) == 0)
    return look_up_constant(v, warp, constant_line(v, w.space, in.number()), now) ? 1 : kNoLane;
  const uint64_t* words = v.words(w);
  const Access a = read_access(words, w.at.trace_pos, w.at.mask, in.flags & kGuarded);
  const auto line_of = [&](uint32_t lane) {
    return (lane_address(a.in(words), lane) - v.p.grid.device_base) >> v.p.constants.line_shift;
  };
  uint32_t lines = 0;
  for (uint32_t todo = a.mask; todo != 0; ++lines) {  // in the order of their first lanes
    const uint64_t line = line_of(count_trailing_zeros(todo));
    if (lines >= w.constant_lines) {
      const LineAddr wanted = constant_line(v, w.space, line << v.p.constants.line_shift);
      if (!look_up_constant(v, warp, wanted, now)) return kNoLane;
    }
    for (uint32_t rest = todo; rest != 0; rest &= rest - 1)
      if (line_of(count_trailing_zeros(rest)) == line) todo &= ~(rest & (0u - rest));
  }
  return lines;
}

struct ConstantLines {
  Constants result;
  uint32_t lines;  ///< that the instruction takes
};

/// The warp's next instruction loads constants and is to be issued.
template <class V>
NW_HD NW_APART ConstantLines load_constants(V& v, uint32_t warp, const ImageInstr& in,
                                            uint32_t now) {
  auto& c = v.s.constants;
  Warp& w = v.warps[warp];
  uint32_t lines = look_up_constants(v, warp, in, now);
  if (lines == kNoLane) {
    enter_phase(v, warp, Phase::kAtConstant);
    c.stalled.set(warp);
    return {Constants::kStalled, 0};
  }
  w.constant_lines = 0;
  if (lines == 0) lines = 1;  // no lane takes part
  const uint32_t load = begun_load(v, warp);
  if (load == kNoLane) return {Constants::kThere, lines};
  LoadEntry& l = c.loads.in(v.base)[load];
  l.issued = true;
  if (l.remaining != 0) return {Constants::kMissing, lines};
  c.free_loads |= bit(load);  // all have come while it was stalled
  w.loads = static_cast<uint8_t>(w.loads - 1);
  return {Constants::kThere, lines};
}

/// A new kernel begins: its parameters lie where those of the one before did. What is on its way is
/// new enough.
template <class V>
NW_HD inline void forget_constants(V& v) {
  cache::L1State& c = v.s.constants.cache;
  for (uint32_t i = 0; i < c.tags.count; ++i)
    if (c.filling.in(v.base)[i] == 0) c.tags.in(v.base)[i] = kNoLine;
}

/// A line of constants has come.
template <class V>
NW_HD NW_APART inline void on_constants(V& v, uint32_t mshr, uint32_t now) {
  auto& c = v.s.constants;
  const uint8_t* waiting = c.cache.mshr_loads.in(v.base) + mshr * v.p.constants.cache.merges;
  const uint32_t n = c.cache.mshr_count.in(v.base)[mshr];
  for (uint32_t i = 0; i < n; ++i) {
    LoadEntry& l = c.loads.in(v.base)[waiting[i]];
    l.remaining = static_cast<uint16_t>(l.remaining - 1);
    if (l.remaining != 0 || !l.issued) continue;
    c.free_loads |= bit(waiting[i]);
    set_results(v, l.warp, v.instr(l.pc), now + 1);
    operation_ended(v, l.warp, now);
  }
  cache::l1_fill(c.cache, v.base, mshr);
  c.stalled.each([&](uint32_t warp) {
    enter_phase(v, warp, Phase::kRunning);
    schedule(v, warp, now, now + 1);
  });
  c.stalled = {};
}

}  // namespace nearwarp::sm
