// Operations at mbarriers, and their events in traces: in which phase something arrives, and for
// which phase a warp waits.
#include <cstring>

#include "device/trace/format.h"
#include "host/functional/instructions/atomic.h"
#include "host/functional/instructions/memory.h"

namespace nearwarp::exec {

namespace {

/// Turns of others in which a try waits before it fails.
constexpr uint32_t kMostTries = 64;

/// Counts of the mbarrier at a place in the shared memory of the block or of another one
/// of its cluster; nullptr: there are none. `block`: as in PhaseEvent.
MbarrierPhases* phases_of(const Context& ctx, const uint8_t* host, uint32_t* block) {
  if (ctx.phases_at == 0) return nullptr;
  uint8_t* window = ctx.shared;
  *block = 0;
  const auto offset_in = [&] { return static_cast<uint64_t>(host - window); };
  while (offset_in() >= ctx.phases_at) {
    if (*block == ctx.cluster_blocks) return nullptr;
    window = ctx.cluster_shared[(*block)++];
  }
  const uint64_t offset = offset_in();
  auto* const all = reinterpret_cast<MbarrierPhases*>(window + ctx.phases_at);
  MbarrierPhases& p = all[offset / 8];
  MbarrierPhases& count = all[ctx.phases_at / 8];
  if (p.number == 0 && count.phase < trace::kMaxMbarriers)
    p.number = static_cast<uint8_t>(++count.phase);
  return p.number != 0 ? &p : nullptr;
}

/// The events of one instruction: those of its lanes that are alike are one.
class Events {
 public:
  /// Returns where it is kept.
  uint32_t add(const MbarrierPhases& p, uint32_t block, bool* is_new) {
    const uint64_t word =
        trace::phase_word({p.number - 1u, p.phase, 0, block, p.others_before != 0});
    for (uint32_t i = 0; i < count_; ++i) {
      if (words_[i] != word) continue;
      *is_new = false;
      return i;
    }
    *is_new = true;
    words_[count_] = word;
    return count_++;
  }
  void end_phase(uint32_t i, uint32_t events) {
    trace::PhaseEvent e = trace::phase_event(words_[i]);
    e.events = events;
    words_[i] = trace::phase_word(e);
  }
  void write(Warp& warp) const {
    if (warp.trace == nullptr) return;
    uint64_t* out = warp.trace + warp.trace_size;
    *out++ = count_ == kLanes ? kFullMask : (1u << count_) - 1;
    warp.trace_size += 1;
    if (count_ == 0) return;
    *out++ = trace::memory_record(trace::kSharedWindow, trace::kAddresses);
    std::memcpy(out, words_, count_ * sizeof(uint64_t));
    warp.trace_size += 1 + count_;
  }

 private:
  uint64_t words_[kLanes];
  uint32_t count_ = 0;
};

}  // namespace

bool arrive_at_mbarriers(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  Events events;
  if (mask != 0) {
    ctx.polled = true;
    ResolvedAccess access;
    if (!resolve(ctx, warp, desc, op, mask, access)) return false;
    const auto* const change = row<uint64_t>(warp.rows, desc.operand_b);
    for_each_lane(mask, [&](uint32_t lane) {
      uint64_t old;
      std::memcpy(&old, access.host[lane], sizeof(old));
      const uint64_t now = arrive(old, change[lane]);
      std::memcpy(access.host[lane], &now, sizeof(now));
      if (desc.has_result != 0) row<uint64_t>(warp.rows, op.d)[lane] = old;
      uint32_t block = 0;
      MbarrierPhases* const p = phases_of(ctx, access.host[lane], &block);
      if (p == nullptr) return;
      bool is_new;
      const uint32_t event = events.add(*p, block, &is_new);
      if (is_new && p->events < trace::kMostPhaseEvents) ++p->events;
      if (block != 0) p->others = 1;
      if ((old ^ now) >> MbarrierWord::kPhaseShift == 0) return;
      events.end_phase(event, p->events);
      ++p->phase;
      p->events = 0;
      p->others_before = p->others;
      p->others = 0;
    });
    ctx.stored = true;
  }
  events.write(warp);
  return true;
}

Status wait_for_phases(Context& ctx, Warp& warp, const Op& op, uint32_t mask, uint32_t passed) {
  if (passed != mask && warp.tries < kMostTries) {
    ++warp.tries;
    if (warp.trace == nullptr) return Status::kTries;
    // The block's control word is taken back: a place without one is that of the last.
    uint64_t& last = warp.trace[warp.trace_last];
    if (trace::control_repeats(last) > 1) {
      last -= uint64_t{1} << 52;
    } else {
      last = 0;
      warp.trace_size = warp.trace_last;
    }
    return Status::kTries;
  }
  warp.tries = 0;
  Events events;
  if (passed != 0) {
    ResolvedAccess access;
    if (!resolve(ctx, warp, ctx.memory[op.c], op, passed, access)) return Status::kFault;
    for_each_lane(passed, [&](uint32_t lane) {
      uint32_t block = 0;
      const MbarrierPhases* const p = phases_of(ctx, access.host[lane], &block);
      bool is_new;
      if (p != nullptr && block == 0) events.add(*p, 0, &is_new);
    });
  }
  events.write(warp);
  return Status::kExited;  // nothing that run_warp() looks at
}

}  // namespace nearwarp::exec
