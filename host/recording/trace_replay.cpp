// Walks the traces of a recording.
#include "host/recording/trace_replay.h"

#include <fmt/format.h>

#include <vector>

#include "device/trace/reader.h"
#include "host/core/error.h"

namespace nearwarp::runtime {

ChunkReplay::ChunkReplay(const compiler::Kernel& kernel, const TraceVisitor& visitor)
    : kernel_(kernel), visitor_(visitor) {
  for (const compiler::Block& b : kernel.blocks) {
    BlockShape& shape = shapes_.emplace_back();
    shape.count = b.count;
    for (uint32_t i = b.first; i < b.first + b.count; ++i)
      if (leaves_record(kernel.instructions[i])) shape.memory.push_back(i);
  }
}

void ChunkReplay::fail(const char* what) const {
  throw Error(fmt::format("a trace of kernel {} {}", kernel_.name, what));
}

void ChunkReplay::walk(const TraceChunk& chunk) {
  for (uint32_t b = 0; b < chunk.num_blocks; ++b) {
    for (uint32_t w = 0; w < chunk.warps_per_block; ++w) {
      const size_t index = size_t{b} * chunk.warps_per_block + w;
      if (visitor_.warp) visitor_.warp(uint64_t{chunk.first_block} + b, w);
      walk_warp(chunk.words.data() + chunk.warp_offset[index],
                chunk.warp_offset[index + 1] - chunk.warp_offset[index]);
    }
  }
  counts_.blocks += chunk.num_blocks;
}

void ChunkReplay::walk_warp(const uint64_t* words, uint64_t n) {
  uint64_t at = 0;
  for (;;) {
    if (at >= n) fail("has no end");
    const uint64_t control = words[at++];
    const uint32_t mask = trace::control_mask(control);
    if (mask == 0) break;
    const uint32_t block = trace::control_block(control);
    if (block >= shapes_.size()) fail("names a basic block that does not exist");
    for (uint32_t r = 0; r < trace::control_repeats(control); ++r)
      at = block_run(words, n, at, block, mask);
  }
  if (at != n) fail("goes on after its end");
}

uint64_t ChunkReplay::block_run(const uint64_t* words, uint64_t n, uint64_t at, uint32_t block,
                                uint32_t mask) {
  const BlockShape& shape = shapes_[block];
  counts_.warp_instructions += shape.count;
  counts_.thread_instructions +=
      uint64_t{shape.count} * static_cast<uint32_t>(__builtin_popcount(mask));
  if (visitor_.run) visitor_.run({block, mask});
  for (const uint32_t id : shape.memory) {
    uint32_t lanes = mask;
    if (kernel_.instructions[id].guard != compiler::kNone) {
      if (at >= n) fail("ends inside a record");
      lanes = static_cast<uint32_t>(words[at++]);
      if ((lanes & ~mask) != 0) fail("has a guarded access by inactive lanes");
      if (lanes == 0) continue;
    }
    uint64_t address[32] = {};
    const uint32_t used = trace::read_record(words + at, n - at, lanes, address);
    if (used == 0) fail("ends inside a record");
    at += used;
    ++counts_.accesses;
    if (visitor_.access) visitor_.access({id, lanes, address});
  }
  return at;
}

bool leaves_record(const compiler::Instruction& in) {
  using ptx::Opcode;
  using ptx::Space;
  const bool memory = in.op == Opcode::kLd || in.op == Opcode::kLdu || in.op == Opcode::kSt ||
                      in.op == Opcode::kAtom || in.op == Opcode::kRed || in.op == Opcode::kTex ||
                      in.op == Opcode::kSuld || in.op == Opcode::kSust;
  const bool fixed = in.mod.space == Space::kParam && in.address.base == compiler::kNone;
  return memory && !fixed;
}

TraceCounts replay(const Recording& recording, uint32_t launch, const TraceVisitor& visitor) {
  const LaunchRecord& record = recording.launches.at(launch);
  const compiler::Kernel& kernel = *recording.kernels.at(record.kernel);
  ChunkReplay walk(kernel, visitor);
  for (uint32_t c = 0; c < record.num_chunks; ++c) {
    const auto chunk = recording.traces.chunk(record.first_chunk + c);
    if (chunk->first_block != walk.counts().blocks)
      throw Error("the trace chunks of a launch are not in order");
    walk.walk(*chunk);
  }
  return walk.counts();
}

TraceCounts validate(const Recording& recording) {
  TraceCounts total;
  for (uint32_t i = 0; i < recording.launches.size(); ++i) {
    const LaunchRecord& record = recording.launches[i];
    const TraceCounts c = replay(recording, i);
    if (c.blocks != record.blocks_recorded || c.warp_instructions != record.warp_instructions ||
        c.thread_instructions != record.thread_instructions)
      throw Error(fmt::format(
          "launch {} recorded {} blocks, {} warp- and {} thread-instructions, "
          "its traces have {}, {} and {}",
          i, record.blocks_recorded, record.warp_instructions, record.thread_instructions, c.blocks,
          c.warp_instructions, c.thread_instructions));
    total.blocks += c.blocks;
    total.warp_instructions += c.warp_instructions;
    total.thread_instructions += c.thread_instructions;
    total.accesses += c.accesses;
  }
  if (total.warp_instructions != recording.warp_instructions ||
      total.thread_instructions != recording.thread_instructions)
    throw Error("the recording's instruction counts differ from its traces");
  return total;
}

}  // namespace nearwarp::runtime
