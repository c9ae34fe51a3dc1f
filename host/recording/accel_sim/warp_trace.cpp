// Converts the instructions that a warp executed into the simulator's trace of the warp.
#include "host/recording/accel_sim/warp_trace.h"

#include "device/trace/format.h"
#include "device/trace/writer.h"

namespace nearwarp::sass {
namespace {

constexpr size_t kLongestRun = 256;  // most instructions of a basic block

/// Does the instruction at `pc` follow the one at `last`? Instructions are 16 bytes apart; before
/// Volta they are 8 bytes apart, and 16 where a control word lies between them.
bool follows(uint64_t pc, uint64_t last) { return pc - last == 16 || pc - last == 8; }

}  // namespace

void WarpTrace::begin(uint32_t id, uint64_t pc, uint32_t mask, bool counts) {
  // A control word with an empty mask would end the trace, so lane 0 stands for no lane.
  const uint32_t run_mask = mask != 0 ? mask : 1;
  if (!run_.empty() &&
      (run_mask != run_mask_ || !follows(pc, last_pc_) || run_.size() == kLongestRun))
    end_run();
  run_mask_ = run_mask;
  last_pc_ = pc;
  run_.push_back(2 * id + (mask == 0 ? 1 : 0));
  if (!counts) return;
  MachineInstruction& in = kernel_.at(id);
  in.issued += 1;
  in.threads += static_cast<uint64_t>(__builtin_popcount(mask));
}

void WarpTrace::add(uint32_t id, uint64_t pc, uint32_t mask, const uint64_t* address, bool counts) {
  begin(id, pc, mask, counts);
  const MachineInstruction& in = kernel_.at(id);
  if (mask != 0 && in.has_record) add_record(in, mask, address);
  if (in.ends_run) end_run();
}

void WarpTrace::add_events(uint32_t id, uint64_t pc, uint32_t mask, uint32_t count, bool counts) {
  begin(id, pc, mask, counts);
  records_.push_back((uint64_t{1} << count) - 1);
  if (count != 0) records_.push_back(trace::memory_record(trace::kSharedWindow, trace::kAddresses));
  for (uint32_t i = 0; i < count; ++i) {
    pending_.push_back(records_.size());
    records_.push_back(0);
  }
  end_run();
}

void WarpTrace::add_pieces(uint32_t id, uint64_t pc, uint32_t mask, uint32_t count,
                           const uint64_t* address, bool counts) {
  begin(id, pc, mask, counts);
  const auto pieces = static_cast<uint32_t>((uint64_t{1} << count) - 1);
  records_.push_back(pieces);
  if (pieces != 0) {
    const size_t at = records_.size();
    records_.resize(at + trace::kMaxRecordWords);
    records_.resize(at + trace::write_record(records_.data() + at, pieces, address));
  }
  end_run();
}

void WarpTrace::add_record(const MachineInstruction& in, uint32_t mask, const uint64_t* address) {
  if (in.instruction.guard != compiler::kNone) {
    mask &= in.lanes;
    records_.push_back(mask);
    if (mask == 0) return;
  }
  const size_t at = records_.size();
  records_.resize(at + trace::kMaxRecordWords);
  records_.resize(at + trace::write_record(records_.data() + at, mask, address));
}

void WarpTrace::end_run() {
  if (run_.empty()) return;
  const uint32_t block = kernel_.block(run_);
  warp_instructions_ += run_.size();
  thread_instructions_ += run_.size() * static_cast<uint64_t>(__builtin_popcount(run_mask_));
  const uint64_t once = trace::control_word(run_mask_, block, 1);
  bool repeats = false;
  if (last_control_ != kNoControl) {
    const uint64_t last = words_[last_control_];
    const uint32_t times = trace::control_repeats(last);
    repeats = times < trace::kMaxRepeats && last == trace::control_word(run_mask_, block, times);
    if (repeats) words_[last_control_] = trace::control_word(run_mask_, block, times + 1);
  }
  if (!repeats) {
    last_control_ = words_.size();
    words_.push_back(once);
  }
  for (const size_t p : pending_) places_.push_back(words_.size() + p);
  pending_.clear();
  words_.insert(words_.end(), records_.begin(), records_.end());
  run_.clear();
  records_.clear();
}

void WarpTrace::finish() {
  end_run();
  words_.push_back(0);
  last_control_ = kNoControl;
}

}  // namespace nearwarp::sass
