// The study of mappings over one span of traces, as bulk passes:
//   1. per warp: how many instances count; exclusive scan
//   2. per warp: write where its instances begin
//   3. per instance: accesses and stacks under every mapping
//   4. per mapping: sums over instances
#pragma once

#include <algorithm>

#include "kernels/analytics/mapping_evaluation.h"

namespace nearwarp::analytics {

/// Sums over instances. Sums over disjoint sets of instances may be added in any order.
struct MappingTotals {
  uint64_t instances = 0;
  uint64_t accesses = 0;
  uint64_t at_destination[kNumCompared] = {};
  /// [m][n - 1]: instances that touch n stacks under mapping m.
  uint64_t stacks_touched[kNumCompared][kMaxStacks] = {};

  MappingTotals& operator+=(const MappingTotals& other) {
    instances += other.instances;
    accesses += other.accesses;
    for (uint32_t m = 0; m < kNumCompared; ++m) {
      at_destination[m] += other.at_destination[m];
      for (uint32_t n = 0; n < kMaxStacks; ++n) stacks_touched[m][n] += other.stacks_touched[m][n];
    }
    return *this;
  }
};

/// Runs the passes; keeps its buffers from span to span. `tile` instances are evaluated at a time.
template <class Bulk>
class MappingPasses {
 public:
  explicit MappingPasses(Bulk bulk, uint32_t tile = uint32_t{1} << 13) : bulk_(bulk), tile_(tile) {}

  /// Instances of the span that count.
  uint64_t count(const TraceSpan& traces) {
    count_warps(traces);
    return bulk_.sum(traces.num_warps, Element<uint32_t>{bulk_.data(first_)});
  }

  /// Add the first `limit` instances of the span to `totals`; returns how many there were.
  uint64_t study(const TraceSpan& traces, const MappingParams& params, const RangeTable& ranges,
                 uint64_t limit, MappingTotals& totals) {
    const uint32_t n = list(traces, limit);
    accesses_.resize(tile_);
    at_destination_.resize(size_t{kNumCompared} * tile_);
    stacks_.resize(size_t{kNumCompared} * tile_);
    const InstanceResults results{tile_, bulk_.data(accesses_), bulk_.data(at_destination_),
                                  bulk_.data(stacks_)};
    for (uint32_t at = 0; at < n; at += tile_) {
      const uint32_t m = std::min(tile_, n - at);
      bulk_.for_each_index(
          m, EvaluateInstance{traces, params, ranges, bulk_.data(begins_) + at, results});
      add(results, m, uint32_t{1} << params.baseline.stack_bits, totals);
    }
    return n;
  }

 private:
  /// Fill first_ with the number of each warp's instances. (This is a pass of its own, since the
  /// walk needs more registers than a reduction would leave it on a GPU.)
  void count_warps(const TraceSpan& traces) {
    first_.assign(traces.num_warps + 1, 0u);
    bulk_.for_each_index(traces.num_warps, CountInstances{traces, bulk_.data(first_)});
  }

  /// Fill begins_; returns the number of instances, `limit` at most.
  uint32_t list(const TraceSpan& traces, uint64_t limit) {
    count_warps(traces);
    bulk_.exclusive_scan(first_);
    const uint32_t there = first_[traces.num_warps];
    const auto n = static_cast<uint32_t>(std::min<uint64_t>(there, limit));
    if (begins_.size() < n) begins_.resize(n);
    bulk_.for_each_index(traces.num_warps,
                         ListInstances{traces, bulk_.data(first_), n, bulk_.data(begins_)});
    return n;
  }

  void add(const InstanceResults& r, uint32_t n, uint32_t num_stacks, MappingTotals& totals) {
    totals.instances += n;
    totals.accesses += bulk_.sum(n, Element<uint32_t>{r.accesses});
    for (uint32_t m = 0; m < kNumCompared; ++m) {
      const size_t row = size_t{m} * r.stride;
      totals.at_destination[m] += bulk_.sum(n, Element<uint32_t>{r.at_destination + row});
      for (uint32_t pair = 0; 2 * pair < num_stacks; ++pair) {
        const uint64_t both = bulk_.sum(n, StackCounts{r.stacks + row, pair});
        totals.stacks_touched[m][2 * pair] += both & 0xffffffffu;
        totals.stacks_touched[m][2 * pair + 1] += both >> 32;
      }
    }
  }

  Bulk bulk_;
  uint32_t tile_;
  typename Bulk::template Vector<uint32_t> first_, accesses_, at_destination_;
  typename Bulk::template Vector<uint16_t> stacks_;
  typename Bulk::template Vector<Cursor> begins_;
};

}  // namespace nearwarp::analytics
