// The traces of a thread block's warps: their buffers and their limits.
#include <algorithm>

#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"

namespace nearwarp::runtime {

void Executor::begin_traces(Slot& slot) {
  slot.traced_warp_instructions = slot.traced_thread_instructions = 0;
  slot.cut = TraceCut::kNone;
  if (options_.sink == nullptr) return;
  const uint64_t most = options_.trace_limit.thread_instructions;
  const uint64_t together = options_.cooperative ? launch_.grid.count() : options_.cluster.count();
  const uint64_t warps = warps_per_block_ * together;
  const bool wanted = !traces_cut_ && traced_threads_ < most;
  if (wanted) slot.trace_share = (most - traced_threads_ - 1) / warps + 1;
  for (uint32_t w = 0; w < warps_per_block_; ++w) {
    exec::Warp& warp = slot.warps[w];
    slot.traces[w][0] = 0;
    warp.trace = wanted ? slot.traces[w].data() : nullptr;
    warp.trace_capacity = slot.traces[w].size();
    warp.trace_size = 0;
    warp.trace_last = 0;
    slot.traced_threads[w] = 0;
  }
}

void Executor::count_traced(Slot& slot, uint32_t w, uint64_t warp_instructions,
                            uint64_t thread_instructions) {
  slot.traced_warp_instructions += warp_instructions;
  slot.traced_thread_instructions += thread_instructions;
  slot.traced_threads[w] += thread_instructions;
  traced_threads_ += thread_instructions;
}

void Executor::grow_trace(exec::Warp& warp, std::vector<uint64_t>& buffer) {
  // The words of the next basic block are added, so that it fits even into a small buffer.
  buffer.resize(buffer.size() * 2 + kernel_.blocks[warp.block].trace_words);
  warp.trace = buffer.data();
  warp.trace_capacity = buffer.size();
}

/// May the trace of a warp be doubled? The limit is shared equally by all warps with traces in
/// memory.
bool Executor::may_grow(const exec::Warp& warp, const Slot& slot) const {
  if (options_.trace_limit.bytes == ~uint64_t{0}) return true;
  const uint64_t blocks = options_.cooperative ? launch_.grid.count()
                                               : std::max<uint64_t>(resident_.size(), 1) +
                                                     finished_.size() + spare_.size();
  const uint64_t share = options_.trace_limit.bytes / (blocks * slot.warps.size());
  return 2 * warp.trace_capacity * sizeof(uint64_t) <= share;
}

/// Ends the trace of a warp, which continues without one.
void Executor::cut_trace(Slot& slot, uint32_t w, TraceCut why) {
  exec::Warp& warp = slot.warps[w];
  if (warp.trace_size == warp.trace_capacity) grow_trace(warp, slot.traces[w]);
  warp.trace[warp.trace_size++] = 0;
  warp.trace = nullptr;
  slot.cut = why;
  traces_cut_ = true;
}

}  // namespace nearwarp::runtime
