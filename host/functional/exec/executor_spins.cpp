// Finds warps that wait for others by plain loads or by the clock. A warp that returns to an
// earlier state of all its registers without having stored will repeat that for ever, unless others
// change the memory that it reads; so it polls. A warp with a running counter never repeats a
// state; it is only noticed because it stores nothing for long.
#include <algorithm>

#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"
#include "host/functional/exec/executor_watch.h"

namespace nearwarp::runtime {

namespace {

constexpr uint32_t kMostSteps = 1024;               // basic blocks of the longest loop to be found
constexpr uint64_t kMostLocal = uint64_t{1} << 20;  // bytes of a warp's local memory to compare
constexpr uint64_t kStepsOfAWait = 32;   // a wait ends late by at most a 32nd of its length
constexpr uint64_t kShortestStep = 256;  // ticks of a clock
constexpr uint64_t kLongestWait = uint64_t{1} << 62;  // ticks: more than a century at 1 GHz
constexpr uint64_t kMostSharing = 16;  // resident blocks that endless() takes into account

}  // namespace

/// Compare a warp that has not stored, at the head of a basic block, with its earlier state.
/// Without `looking`, that state is kept first. kLook: run one more basic block and call again.
Executor::Spin Executor::look_for_spin(const Slot& slot, uint32_t w, bool looking) {
  const exec::Warp& warp = slot.warps[w];
  if (looking) {
    if (context_.stored_locally && watch_->local.empty()) return Spin::kNo;  // too much to compare
    if (watch_->is(warp)) return Spin::kRepeats;
    return ++watch_->steps < kMostSteps ? Spin::kLook : Spin::kNo;
  }
  const uint64_t local = uint64_t{context_.local_bytes} * exec::kLanes;
  if (watch_ == nullptr) watch_ = std::make_unique<Watch>();
  Watch& watch = *watch_;
  watch.warp = warp;
  watch.steps = 0;
  watch.rows.assign(warp.rows, warp.rows + size_t{kernel_.num_rows} * exec::kRowBytes);
  watch.predicates.assign(warp.predicates, warp.predicates + kernel_.num_predicates);
  watch.stack.assign(warp.stack, warp.stack + warp.depth);
  watch.local.assign(warp.local, warp.local + (local > kMostLocal ? 0 : local));
  return Spin::kLook;
}

/// Advance clocks while all resident blocks wait and some of them wait by the clock. The step is a
/// small part of the time waited so far, so that a long wait takes few rounds and is hardly longer
/// than requested. Returns false after kLongestWait: the blocks wait for something else.
bool Executor::pass_time() {
  if (still_since_ != changed_since_) {
    still_since_ = changed_since_;
    passed_ = 0;
  }
  if (passed_ > kLongestWait) return false;
  const uint64_t waited = context_.warp_instructions - changed_since_ + passed_;
  const uint64_t step = std::max(kShortestStep, waited / kStepsOfAWait);
  passed_ += step;
  context_.clock_ahead += step;
  idle_since_ = context_.warp_instructions;
  return true;
}

/// Have the resident blocks executed ExecutionRules::endless_instructions without any change?
bool Executor::endless() const {
  const uint64_t sharing = std::min<uint64_t>(std::max<size_t>(resident_.size(), 1), kMostSharing);
  return context_.warp_instructions - changed_since_ >
         options_.rules.endless_instructions * sharing;
}

}  // namespace nearwarp::runtime
