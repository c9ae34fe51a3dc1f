// The values that mbarriers of a cluster's blocks are told in a trace.
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

MbarrierStory::Mbarrier& MbarrierStory::mbarrier(Name name) {
  std::vector<Mbarrier>& all = blocks_[name.rank].mbarriers;
  if (name.number >= all.size()) all.resize(name.number + 1);
  return all[name.number];
}

MbarrierStory::Phase& MbarrierStory::phase(Name name, uint32_t phase) {
  std::vector<Phase>& all = mbarrier(name).phases;
  if (phase >= all.size()) all.resize(phase + 1);
  return all[phase];
}

struct MbarrierStory::Visit {
  MbarrierStory& story;
  uint32_t rank;
  uint32_t mask = 0;
  uint64_t box_bytes = 0;
  bool box_ends = false;  // its end has begun; there may be several, of which some leave nothing
  std::vector<Name> told = {};  // by the box

  void warp(uint64_t, uint32_t) { end_box(); }
  void run(uint32_t block, uint32_t, uint32_t run_mask) {
    mask = run_mask;
    box_ends = box_ends || story.ends_box_[block];
  }
  void end_box() {
    if (told.size() > 1) story.together_.push_back(told);
    told.clear();
    box_bytes = 0;
    box_ends = false;
  }
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    const Instruction& in = story.kernel_.instructions[instruction];
    if (in.op == Opcode::kTensorLoad && box_ends) end_box();
    if (in.op == Opcode::kTensorLoad) box_bytes += 16 * static_cast<uint64_t>(std::popcount(lanes));
    if (in.op == Opcode::kSt && in.mod.mode == 1) {
      uint64_t address[32] = {};
      trace::read_record(words, ~uint64_t{0}, lanes, address);
      std::vector<uint64_t>& made = story.blocks_[rank].made;
      for (uint32_t m = lanes; m != 0; m &= m - 1) {
        const uint64_t at = address[std::countr_zero(m)] & (trace::kSharedWindow - 1);
        if (std::find(made.begin(), made.end(), at) == made.end()) made.push_back(at);
      }
    }
    if (in.op != Opcode::kAtom || in.mod.atomic != ptx::AtomicOp::kArrive) return;
    const auto events = static_cast<uint32_t>(std::popcount(lanes));
    for (uint32_t i = 0; i < events; ++i) {
      const trace::PhaseEvent e = trace::phase_event(words[1 + i]);
      const Name name{e.block == 0 ? rank : e.block - 1, e.mbarrier};
      if (name.rank >= story.blocks_.size()) continue;
      Phase& p = story.phase(name, e.phase);
      if (in.mod.mode == 1) {
        p.bytes += box_bytes;
        told.push_back(name);
      } else {
        p.arrivals += lanes_of_event(i, events, mask);
      }
    }
  }
};

void MbarrierStory::read(const std::vector<RecordedBlock>& cluster) {
  blocks_.assign(cluster.size(), {});
  together_.clear();
  for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
    Visit visit{*this, rank};
    walk_.walk(*cluster[rank].chunk, cluster[rank].block, cluster[rank].block + 1, visit);
    visit.end_box();
  }
  find_places();
}

/// Recordings do not say where an mbarrier lies. Each gets the first place that is free in its
/// block, and those that have to lie alike the first that is so in all of theirs.
void MbarrierStory::find_places() {
  std::vector<std::vector<bool>> used(blocks_.size());
  const auto is_free = [&](Name n, uint32_t place) {
    return place >= used[n.rank].size() || !used[n.rank][place];
  };
  const auto settle = [&](const std::vector<Name>& names) {
    uint32_t place = kNone;
    for (const Name& n : names)
      if (mbarrier(n).place != kNone) place = mbarrier(n).place;
    if (place == kNone) {
      place = 0;
      while (!std::all_of(names.begin(), names.end(), [&](Name n) { return is_free(n, place); }))
        ++place;
    }
    for (const Name& n : names) {
      if (mbarrier(n).place != kNone || !is_free(n, place)) continue;
      mbarrier(n).place = place;
      used[n.rank].resize(std::max<size_t>(used[n.rank].size(), place + 1));
      used[n.rank][place] = true;
    }
  };
  for (const std::vector<Name>& names : together_) settle(names);
  for (uint32_t rank = 0; rank < blocks_.size(); ++rank)
    for (uint32_t n = 0; n < blocks_[rank].mbarriers.size(); ++n) settle({{rank, n}});
}

uint64_t MbarrierStory::offset_of(uint32_t rank, uint32_t number) const {
  // Mbarriers whose making is not in the trace lie where nothing else does.
  constexpr uint64_t kElsewhere = uint64_t{1} << 20;
  const OfBlock& block = blocks_[rank];
  const uint32_t place =
      number < block.mbarriers.size() ? block.mbarriers[number].place : trace::kMaxMbarriers;
  return place < block.made.size() ? block.made[place] : kElsewhere + 8 * uint64_t{place};
}

uint32_t MbarrierStory::number_at(uint32_t rank, uint64_t offset) const {
  for (uint32_t n = 0; n < blocks_[rank].mbarriers.size(); ++n)
    if (offset_of(rank, n) == offset) return n;
  return kNone;
}

uint32_t MbarrierStory::count_of(uint32_t rank, uint32_t number) const {
  const std::vector<Mbarrier>& all = blocks_[rank].mbarriers;
  return number < all.size() && !all[number].phases.empty()
             ? std::max(1u, all[number].phases.front().arrivals)
             : 1;
}

uint64_t MbarrierStory::take_bytes(uint32_t rank, uint32_t number, uint32_t at) {
  Phase& p = phase({rank, number}, at);
  if (p.taken) return 0;
  p.taken = true;
  return p.bytes;
}

}  // namespace nearwarp::sass
