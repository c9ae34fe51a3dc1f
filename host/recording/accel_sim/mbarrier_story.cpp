// The values that a block's mbarriers are told in a trace.
#include "host/recording/accel_sim/mbarrier_story.h"

#include <algorithm>
#include <bit>

#include "device/trace/reader.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::sass {

using compiler::Instruction;
using ptx::Opcode;

MbarrierStory::MbarrierStory(const compiler::Kernel& kernel, const runtime::ChunkWalk& walk)
    : kernel_(kernel), walk_(walk) {
  for (const compiler::Block& block : kernel.blocks) {
    bool ends = false;
    for (uint32_t i = block.first; i < block.first + block.count; ++i) {
      const Instruction& in = kernel.instructions[i];
      ends = ends || (in.op == Opcode::kAtom && in.mod.atomic == ptx::AtomicOp::kArrive &&
                      in.mod.mode == 1);
    }
    ends_box_.push_back(ends);
  }
}

uint32_t MbarrierStory::lanes_of_event(uint32_t event, uint32_t events, uint32_t mask) {
  const auto lanes = static_cast<uint32_t>(std::popcount(mask));
  return event + 1 < events ? 1 : std::max(lanes, events) - event;
}

MbarrierStory::Phase& MbarrierStory::phase(uint32_t number, uint32_t phase) {
  if (number >= phases_.size()) phases_.resize(number + 1);
  if (phase >= phases_[number].size()) phases_[number].resize(phase + 1);
  return phases_[number][phase];
}

struct MbarrierStory::Visit {
  MbarrierStory& story;
  uint32_t mask = 0;
  uint64_t box_bytes = 0;
  bool box_ends = false;  // its end has begun; there may be several, of which some leave nothing

  void warp(uint64_t, uint32_t) { box_bytes = 0; }
  void run(uint32_t block, uint32_t, uint32_t run_mask) {
    mask = run_mask;
    box_ends = box_ends || story.ends_box_[block];
  }
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    const Instruction& in = story.kernel_.instructions[instruction];
    if (in.op == Opcode::kTensorLoad && box_ends) box_bytes = 0, box_ends = false;
    if (in.op == Opcode::kTensorLoad) box_bytes += 16 * static_cast<uint64_t>(std::popcount(lanes));
    if (in.op == Opcode::kSt && in.mod.mode == 1) {
      uint64_t address[32] = {};
      trace::read_record(words, ~uint64_t{0}, lanes, address);
      for (uint32_t m = lanes; m != 0; m &= m - 1)
        story.made_.push_back(address[std::countr_zero(m)] & (trace::kSharedWindow - 1));
    }
    if (in.op != Opcode::kAtom || in.mod.atomic != ptx::AtomicOp::kArrive) return;
    const auto events = static_cast<uint32_t>(std::popcount(lanes));
    for (uint32_t i = 0; i < events; ++i) {
      const trace::PhaseEvent e = trace::phase_event(words[1 + i]);
      if (e.block != 0) continue;  // another block's story
      Phase& p = story.phase(e.mbarrier, e.phase);
      if (in.mod.mode == 1)
        p.bytes += box_bytes;
      else
        p.arrivals += lanes_of_event(i, events, mask);
    }
  }
};

void MbarrierStory::read(const runtime::TraceChunk& chunk, uint32_t block) {
  phases_.clear();
  made_.clear();
  Visit visit{*this};
  walk_.walk(chunk, block, block + 1, visit);
  // Each once, in the order in which they were made.
  std::vector<uint64_t> once;
  for (const uint64_t at : made_)
    if (std::find(once.begin(), once.end(), at) == once.end()) once.push_back(at);
  made_ = std::move(once);
}

uint64_t MbarrierStory::offset_of(uint32_t number) const {
  // Mbarriers whose making is not in the trace lie where nothing else does.
  constexpr uint64_t kElsewhere = uint64_t{1} << 20;
  return number < made_.size() ? made_[number] : kElsewhere + 8 * uint64_t{number};
}

uint32_t MbarrierStory::number_at(uint64_t offset) const {
  const auto it = std::find(made_.begin(), made_.end(), offset);
  return it == made_.end() ? kNone : static_cast<uint32_t>(it - made_.begin());
}

uint32_t MbarrierStory::count_of(uint32_t number) const {
  return number < phases_.size() && !phases_[number].empty()
             ? std::max(1u, phases_[number].front().arrivals)
             : 1;
}

uint64_t MbarrierStory::take_bytes(uint32_t number, uint32_t at) {
  Phase& p = phase(number, at);
  if (p.taken) return 0;
  p.taken = true;
  return p.bytes;
}

}  // namespace nearwarp::sass
