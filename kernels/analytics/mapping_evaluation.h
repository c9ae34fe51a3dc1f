// One candidate instance's accesses judged under every mapping of lines to stacks.
#pragma once

#include "device/core/address_map.h"
#include "device/sm/coalescer.h"
#include "kernels/analytics/instances.h"

namespace nearwarp::analytics {

/// The mappings that are compared: 0 to kNumMappings - 1 take consecutive bits of the line address
/// from that bit on, the last one is the machine's own.
inline constexpr uint32_t kBaseline = kNumMappings;
inline constexpr uint32_t kNumCompared = kNumMappings + 1;

struct MappingParams {
  LineGrid grid;
  AddressMap baseline;  ///< its number of stacks is that of all mappings
};

/// Lines [first, end) that belong to the same allocations.
struct LineRange {
  LineAddr first = 0, end = 0;
};

/// Ranges by address, disjoint, and which of them have been accessed.
struct RangeTable {
  const LineRange* ranges = nullptr;
  uint32_t count = 0;
  uint8_t* touched = nullptr;
};

/// Sets touched[] for the range of each line. Threads that come to the same range write the same.
struct RangeMarker {
  RangeTable table;
  LineRange last = {};

  NW_HD NW_INLINE void operator()(LineAddr line) {
    if (line >= last.first && line < last.end) return;
    uint32_t low = 0, high = table.count;  // the last range that begins at or before the line
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (table.ranges[middle].first <= line ? low : high) = middle;
    }
    if (high == 0 || line < table.ranges[low].first || line >= table.ranges[low].end) return;
    last = table.ranges[low];
    table.touched[low] = 1;
  }
};

/// The findings for instances [0, stride), an array by instance for each item.
struct InstanceResults {
  uint32_t stride = 0;
  uint32_t* accesses = nullptr;  ///< cache lines touched, each memory instruction by itself
  uint32_t* at_destination =
      nullptr;                 ///< [kNumCompared][stride]: of these, in the first one's stack
  uint16_t* stacks = nullptr;  ///< [kNumCompared][stride]: bit s: stack s is touched
};

/// Adds up the lines of one instance. Rows are padded to whole vectors.
struct MappingCounter {
  static constexpr uint32_t kRow = 16;
  static_assert(kNumMappings <= kRow);

  const TraceSpan& traces;
  const MappingParams& params;
  RangeMarker mark;
  uint32_t mask = 0;
  uint32_t accesses = 0;
  uint32_t base_destination = 0, base_at = 0, base_stacks = 0;
  uint32_t destination[kRow] = {}, at[kRow] = {}, stacks[kRow] = {};
  sm::LineList lines = {};

  NW_HD void operator()(uint32_t, const Access& a) {
    sm::coalesce(a.in(traces.words), params.grid, lines);
    if (accesses == 0) set_destination(lines.line[0]);
    accesses += lines.count;
    for (uint32_t k = 0; k < lines.count; ++k) add(lines.line[k]);
  }

 private:
  NW_HD NW_INLINE void set_destination(LineAddr line) {
    base_destination = params.baseline.stack_of(line);
    for (uint32_t m = 0; m < kRow; ++m) destination[m] = line >> m & mask;
  }
  NW_HD NW_INLINE void add(LineAddr line) {
#pragma omp simd
    for (uint32_t m = 0; m < kRow; ++m) {
      const uint32_t stack = line >> m & mask;
      at[m] += stack == destination[m] ? 1 : 0;
      stacks[m] |= 1u << stack;
    }
    const uint32_t stack = params.baseline.stack_of(line);
    base_at += stack == base_destination ? 1 : 0;
    base_stacks |= 1u << stack;
    mark(line);
  }
};

/// Evaluate the instance that begins at begins[i].
struct EvaluateInstance {
  TraceSpan traces;
  MappingParams params;
  RangeTable ranges;
  const Cursor* begins = nullptr;
  InstanceResults out;

  NW_HD void operator()(uint32_t i) const {
    Cursor c = begins[i];
    MappingCounter count{traces, params, {ranges}};
    count.mask = static_cast<uint32_t>(low_bits(params.baseline.stack_bits));
    pass_instance(traces, c, candidate_of_instance(traces, c), count);
    out.accesses[i] = count.accesses;
    for (uint32_t m = 0; m < kNumMappings; ++m) {
      out.at_destination[m * out.stride + i] = count.at[m];
      out.stacks[m * out.stride + i] = static_cast<uint16_t>(count.stacks[m]);
    }
    out.at_destination[kBaseline * out.stride + i] = count.base_at;
    out.stacks[kBaseline * out.stride + i] = static_cast<uint16_t>(count.base_stacks);
  }
};

/// Element i of an array of results.
template <class T>
struct Element {
  const T* of = nullptr;
  NW_HD uint64_t operator()(uint32_t i) const { return of[i]; }
};

/// Numbers of instances that touch 2 pair + 1 stacks (low half) and 2 pair + 2 (high half); sums
/// over fewer than 2^32 instances do not run over.
struct StackCounts {
  const uint16_t* stacks = nullptr;
  uint32_t pair = 0;
  NW_HD uint64_t operator()(uint32_t i) const {
    const uint32_t n = population_count(stacks[i]) - 1;
    return n / 2 == pair ? uint64_t{1} << (32 * (n % 2)) : 0;
  }
};

}  // namespace nearwarp::analytics
