// Small hand-made programs: instruction tables, basic blocks, and the traces of their warps.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "device/mechanisms/tom/program.h"
#include "device/mechanisms/tuning/rounds.h"
#include "device/sm/kernel_image.h"
#include "device/trace/format.h"
#include "device/trace/writer.h"

namespace nearwarp::testing {

inline constexpr uint64_t kBase = uint64_t{1} << 32;  ///< device address of line 0
inline constexpr uint32_t kFull = 0xffffffffu;
inline constexpr uint32_t kSmRegisters = 40320;  ///< divisible by 1 to 10

/// An instruction. `dst`: slot of its destination; none if negative. `srcs`: slots of its sources.
inline sm::ImageInstr instr(sm::Unit unit, sm::Action action, uint32_t latency, uint32_t interval,
                            int dst, std::initializer_list<int> srcs) {
  sm::ImageInstr in;
  in.unit = unit;
  in.action = action;
  in.latency = static_cast<uint16_t>(latency);
  in.interval = static_cast<uint8_t>(interval);
  if (dst >= 0) in.slots[in.num_slots++] = static_cast<uint16_t>(dst);
  in.num_dsts = in.num_slots;
  for (const int s : srcs) {
    bool there = false;
    for (uint32_t i = 0; i < in.num_slots; ++i) there |= in.slots[i] == s;
    if (!there) in.slots[in.num_slots++] = static_cast<uint16_t>(s);
  }
  return in;
}
inline sm::ImageInstr alu(int dst, std::initializer_list<int> srcs, uint32_t latency = 4,
                          uint32_t interval = 1, sm::Unit unit = sm::Unit::kSp) {
  return instr(unit, sm::Action::kCompute, latency, interval, dst, srcs);
}
inline sm::ImageInstr memory(sm::Action action, int dst, std::initializer_list<int> srcs,
                             uint32_t lane_bytes = 4, bool guarded = false) {
  sm::ImageInstr in = instr(sm::Unit::kLsu, action, 1, 1, dst, srcs);
  in.flags = sm::kHasRecord;
  in.set_energy_class(sm::EnergyClass::kMemory);
  if (guarded) in.flags |= sm::kGuarded;
  in.lane_bytes = static_cast<uint8_t>(lane_bytes);
  return in;
}
inline sm::ImageInstr load(int dst, std::initializer_list<int> srcs = {}) {
  return memory(sm::Action::kLoad, dst, srcs);
}
inline sm::ImageInstr store(std::initializer_list<int> srcs = {}) {
  return memory(sm::Action::kStore, -1, srcs);
}
inline sm::ImageInstr branch(std::initializer_list<int> srcs = {}) {
  sm::ImageInstr in = alu(-1, srcs);
  in.flags = sm::kBranch;
  in.set_energy_class(sm::EnergyClass::kControl);
  return in;
}
inline sm::ImageInstr control(sm::Action action, uint32_t barrier = 0, uint32_t warps = 0) {
  sm::ImageInstr in = instr(sm::Unit::kControl, action, 1, 1, -1, {});
  in.lane_bytes = static_cast<uint8_t>(barrier);
  in.set_number(warps);
  return in;
}
inline sm::ImageInstr exit_instr() { return control(sm::Action::kExit); }

/// Basic blocks of one kernel (more kernels may be added by hand) and its launches.
struct Program {
  std::vector<sm::ImageInstr> instrs;
  std::vector<sm::ImageBlock> blocks;
  std::vector<sm::KernelInfo> kernels{{0, 32}};
  std::vector<sm::LaunchInfo> launches;
  // TOM's side tables; complete once all blocks are there.
  std::vector<tom::Candidate> candidates;
  std::vector<uint16_t> candidate_of, weight;
  std::vector<uint16_t> inner_of;  ///< empty without inner()
  std::vector<uint16_t> head_of;   ///< tuned offloading's; complete likewise
  std::vector<tuning::LoopHead> heads;

  /// Returns the block's number. `iterations`: see tom::ProgramTables::weight.
  uint32_t block(const std::vector<sm::ImageInstr>& of, uint32_t iterations = 0) {
    sm::ImageBlock b;
    b.first = static_cast<uint32_t>(instrs.size());
    b.count = static_cast<uint32_t>(of.size());
    for (const sm::ImageInstr& in : of) {
      if ((in.flags & sm::kHasRecord) != 0) b.records += 1;
      instrs.push_back(in);
    }
    blocks.push_back(b);
    candidate_of.resize(instrs.size(), tom::kNoCandidate);
    head_of.resize(instrs.size(), tuning::kNoHead);
    for (uint32_t i = 0; i < b.count; ++i) instrs[b.first + i].edges = 1;  // TOM is mechanism 0
    weight.push_back(static_cast<uint16_t>(iterations));
    return static_cast<uint32_t>(blocks.size() - 1);
  }
  /// Make the instructions of `of` (block numbers) a candidate that begins with the first of them.
  uint16_t candidate(std::initializer_list<uint32_t> of, const tom::Candidate& properties) {
    const auto id = static_cast<uint16_t>(candidates.size());
    candidates.push_back(properties);
    for (const uint32_t b : of)
      for (uint32_t i = 0; i < blocks[b].count; ++i) candidate_of[blocks[b].first + i] = id;
    candidates.back().begin = blocks[*of.begin()].first;
    instrs[candidates.back().begin].marks = 1;  // TOM is mechanism 0
    return id;
  }
  /// Make `count` instructions of block `b`, from `first` on, a candidate within the one that has
  /// the block; once all blocks are there.
  uint16_t inner(uint32_t b, uint32_t first, uint32_t count, tom::Candidate properties) {
    const auto id = static_cast<uint16_t>(candidates.size());
    inner_of.resize(instrs.size(), tom::kNoCandidate);
    properties.begin = blocks[b].first + first;
    properties.outer = candidate_of[properties.begin];
    candidates.push_back(properties);
    for (uint32_t i = 0; i < count; ++i) inner_of[properties.begin + i] = id;
    instrs[properties.begin].marks = 1;
    return id;
  }
  /// Makes block `b` the head of its candidate's loop, with which rounds begin.
  void loop_head(uint32_t b, const tuning::LoopHead& properties) {
    const uint32_t at = blocks[b].first;
    head_of[at] = static_cast<uint16_t>(heads.size());
    heads.push_back(properties);
    instrs[at].marks = 1;
    candidates[candidate_of[at]].has_heads = true;
  }
  /// Adds a launch that begins when the one before has ended. `blocks_per_sm`: the number of its
  /// blocks whose registers an SM with kSmRegisters can hold.
  void launch(uint32_t num_blocks, uint32_t warps_per_block, uint32_t blocks_per_sm = 8) {
    const auto before = static_cast<uint32_t>(launches.size());
    launch_after(before == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{before - 1},
                 num_blocks, warps_per_block, blocks_per_sm);
  }
  /// Adds a launch that begins when the launches `after` have ended.
  void launch_after(const std::vector<uint32_t>& after, uint32_t num_blocks,
                    uint32_t warps_per_block, uint32_t blocks_per_sm = 8) {
    sm::LaunchInfo info;
    info.num_blocks = num_blocks;
    info.warps_per_block = static_cast<uint16_t>(warps_per_block);
    if (!launches.empty())
      info.first_block = launches.back().first_block + launches.back().num_blocks;
    info.needs = {1, warps_per_block, warps_per_block * 32, kSmRegisters / blocks_per_sm, 0};
    info.waits_for = static_cast<uint32_t>(after.size());
    const auto number = static_cast<uint32_t>(launches.size());
    launches.push_back(info);
    for (const uint32_t b : after) waiting_.emplace_back(b, number);
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    waiting.clear();
    for (sm::LaunchInfo& l : launches) l.num_waiting = 0;
    for (const auto& [b, w] : waiting_) {
      sm::LaunchInfo& l = launches[b];
      if (l.num_waiting++ == 0) l.first_waiting = static_cast<uint32_t>(waiting.size());
      waiting.push_back(w);
    }
  }
  tom::ProgramTables tables() const {
    return {candidates.data(), candidate_of.data(), weight.data(), nullptr,
            inner_of.empty() ? nullptr : inner_of.data()};
  }
  sm::ProgramImage view() const {
    sm::ProgramImage v;
    v.instrs = instrs.data();
    v.blocks = blocks.data();
    v.kernels = kernels.data();
    v.launches = launches.data();
    v.waiting = waiting.data();
    v.num_launches = static_cast<uint32_t>(launches.size());
    return v;
  }

  std::vector<uint32_t> waiting;  ///< sm::ProgramImage::waiting

 private:
  std::vector<std::pair<uint32_t, uint32_t>> waiting_;  // a launch, and one that waits for it
};

/// Traces of thread blocks, warp by warp.
struct Traces {
  std::vector<uint64_t> words;
  std::vector<uint32_t> offsets;      ///< by warp over all blocks
  std::vector<uint32_t> first_warp;   ///< by block
  std::vector<sm::TraceBlock> table;  ///< made by finish()
  bool in_warp = false;

  void begin_block() { first_warp.push_back(static_cast<uint32_t>(offsets.size())); }
  Traces& warp() {
    offsets.push_back(static_cast<uint32_t>(words.size()));
    return *this;
  }
  Traces& run(uint32_t block, uint32_t mask = kFull, uint32_t repeats = 1) {
    words.push_back(trace::control_word(mask, block, repeats));
    return *this;
  }
  /// Lane i accesses byte `offset` + stride * i of device memory (of shared memory: at_shared).
  Traces& at(uint64_t offset, int stride) {
    words.push_back(trace::memory_record(kBase + offset, stride));
    return *this;
  }
  Traces& at_shared(uint64_t offset, int stride) {
    words.push_back(trace::memory_record(offset, stride));
    return *this;
  }
  Traces& addresses(uint32_t mask, const uint64_t* address) {
    uint64_t out[trace::kMaxRecordWords];
    const uint32_t n = trace::write_record(out, mask, address);
    words.insert(words.end(), out, out + n);
    return *this;
  }
  /// The mask word of a guarded access.
  Traces& guard(uint32_t mask) {
    words.push_back(mask);
    return *this;
  }
  Traces& end() {
    words.push_back(0);
    return *this;
  }
  const sm::TraceBlock* finish() {
    table.clear();
    for (const uint32_t w : first_warp) table.push_back({words.data(), offsets.data() + w});
    return table.data();
  }
};

}  // namespace nearwarp::testing
