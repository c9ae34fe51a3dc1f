// Replays the traces of launches to a visitor, and compares their counts with the recording's.
#include "host/recording/trace_replay.h"

#include <fmt/format.h>

#include "device/trace/reader.h"
#include "host/core/error.h"

namespace nearwarp::runtime {

namespace {

/// Passes the events of a walk on to a visitor, with the addresses of all lanes, and counts them.
struct Visit {
  const TraceVisitor& visitor;
  TraceCounts& counts;

  void warp(uint64_t thread_block, uint32_t warp) {
    if (visitor.warp) visitor.warp(thread_block, warp);
  }
  void run(uint32_t block, uint32_t instructions, uint32_t mask) {
    counts.warp_instructions += instructions;
    counts.thread_instructions +=
        uint64_t{instructions} * static_cast<uint32_t>(__builtin_popcount(mask));
    if (visitor.run) visitor.run({block, mask});
  }
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    ++counts.accesses;
    if (!visitor.access) return;
    uint64_t address[32] = {};
    trace::read_record(words, ~uint64_t{0}, lanes, address);
    visitor.access({instruction, lanes, address});
  }
};

}  // namespace

ChunkReplay::ChunkReplay(const compiler::Kernel& kernel, const TraceVisitor& visitor)
    : walk_(kernel), visitor_(visitor) {}

void ChunkReplay::walk(const TraceChunk& chunk) {
  Visit visit{visitor_, counts_};
  walk_.walk(chunk, visit);
  counts_.blocks += chunk.num_blocks;
}

bool names_pieces(const compiler::Instruction& in) {
  return in.op == ptx::Opcode::kTensorLoad || in.op == ptx::Opcode::kTensorStore ||
         in.op == ptx::Opcode::kTensorReduce || in.op == ptx::Opcode::kPhaseWait ||
         (in.op == ptx::Opcode::kAtom && in.mod.atomic == ptx::AtomicOp::kArrive);
}

bool has_mask_word(const compiler::Instruction& in) {
  return in.guard != compiler::kNone || names_pieces(in);
}

bool leaves_record(const compiler::Instruction& in) {
  using ptx::Opcode;
  using ptx::Space;
  const bool memory = in.op == Opcode::kLd || in.op == Opcode::kLdu || in.op == Opcode::kSt ||
                      in.op == Opcode::kAtom || in.op == Opcode::kRed || in.op == Opcode::kTex ||
                      in.op == Opcode::kSuld || in.op == Opcode::kSust || names_pieces(in);
  const bool fixed = in.mod.space == Space::kParam && in.address.base == compiler::kNone;
  return memory && !fixed && !in.implied;
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
