// Warps that wait for others without saying so: by plain loads, or by the clock. A warp that comes
// back to the state of all its registers without having stored will do so for ever, unless others
// change what it reads: that is polling, however it reads. Where a counter runs along, states never
// repeat; then it only shows that nothing is stored for long.
#include <algorithm>

#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"
#include "host/functional/exec/executor_watch.h"

namespace nearwarp::runtime {

namespace {

constexpr uint32_t kMostSteps = 1024;               // blocks of a loop that is found
constexpr uint64_t kMostLocal = uint64_t{1} << 20;  // bytes of a warp's local memory to compare
constexpr uint64_t kStepsOfAWait = 32;   // a wait ends late by at most one part in so many
constexpr uint64_t kShortestStep = 256;  // ticks of a clock
constexpr uint64_t kLongestWait = uint64_t{1} << 62;  // the same: a century at 1 GHz
constexpr uint64_t kMostSharing = 16;  // resident blocks that endless() takes into account

}  // namespace

/// The warp is at the head of a block and has not stored; `looking`: it was watched in the block
/// before. kLook: one block more.
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

/// All that is resident waits, and some of it by the clock: clocks go on by a small part of the
/// time that has been waited for, so that who waits for long does so in few rounds, and hardly
/// longer than asked for. False if nobody waits for so long: it is something else that is waited
/// for.
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

/// Have the resident blocks executed so much without any change that they never end?
bool Executor::endless() const {
  const uint64_t sharing = std::min<uint64_t>(std::max<size_t>(resident_.size(), 1), kMostSharing);
  return context_.warp_instructions - changed_since_ >
         options_.rules.endless_instructions * sharing;
}

}  // namespace nearwarp::runtime
