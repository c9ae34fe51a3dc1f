// Walks the traces of a chunk record by record: what replays, features and warming have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/trace/format.h"
#include "host/functional/compiler/kernel.h"
#include "host/recording/trace_store.h"

namespace nearwarp::runtime {

/// Walks chunks of a kernel, which outlives it.
class ChunkWalk {
 public:
  explicit ChunkWalk(const compiler::Kernel& kernel);

  /// visitor.warp(thread block, warp) at each warp's start; visitor.run(block, its instructions,
  /// mask) for each run of a basic block; visitor.record(instruction, lanes, words) for each memory
  /// record (device/trace/format.h), whose words are all there. Throws nearwarp::Error if the
  /// traces are malformed.
  template <class Visitor>
  void walk(const TraceChunk& chunk, Visitor& visitor) const {
    walk(chunk, 0, ~0u, visitor);
  }
  /// Walks the launch's thread blocks [begin, end) alone.
  template <class Visitor>
  void walk(const TraceChunk& chunk, uint32_t begin, uint32_t end, Visitor& visitor) const {
    const uint32_t first = begin > chunk.first_block ? begin - chunk.first_block : 0;
    const uint32_t last = end > chunk.first_block ? end - chunk.first_block : 0;
    for (uint32_t b = first; b < std::min(last, chunk.num_blocks); ++b)
      for (uint32_t w = 0; w < chunk.warps_per_block; ++w) {
        const size_t index = size_t{b} * chunk.warps_per_block + w;
        visitor.warp(uint64_t{chunk.first_block} + b, w);
        walk_warp(chunk.words.data() + chunk.warp_offset[index],
                  chunk.warp_offset[index + 1] - chunk.warp_offset[index], visitor);
      }
  }

 private:
  struct Memory {
    uint32_t instruction = 0;
    bool guarded = false;
    bool pieces = false;  ///< of a copy, rather than lanes
  };
  struct Shape {
    uint32_t count = 0;           ///< instructions
    uint32_t first = 0, end = 0;  ///< in memory_: those that leave records
  };
  [[noreturn]] void fail(const char* what) const;

  template <class Visitor>
  void walk_warp(const uint64_t* words, uint64_t n, Visitor& visitor) const {
    uint64_t at = 0;
    for (;;) {
      if (at >= n) fail("has no end");
      const uint64_t control = words[at++];
      const uint32_t mask = trace::control_mask(control);
      if (mask == 0) break;
      const uint32_t block = trace::control_block(control);
      if (block >= shapes_.size()) fail("names a basic block that does not exist");
      const Shape& shape = shapes_[block];
      for (uint32_t r = 0; r < trace::control_repeats(control); ++r) {
        visitor.run(block, shape.count, mask);
        for (uint32_t m = shape.first; m < shape.end; ++m)
          at = record(words, n, at, memory_[m], mask, visitor);
      }
    }
    if (at != n) fail("goes on after its end");
  }

  template <class Visitor>
  uint64_t record(const uint64_t* words, uint64_t n, uint64_t at, const Memory& memory,
                  uint32_t mask, Visitor& visitor) const {
    uint32_t lanes = mask;
    if (memory.guarded) {
      if (at >= n) fail("ends inside a record");
      lanes = static_cast<uint32_t>(words[at++]);
      if (!memory.pieces && (lanes & ~mask) != 0) fail("has a guarded access by inactive lanes");
      if (lanes == 0) return at;
    }
    if (at >= n) fail("ends inside a record");
    const uint64_t used =
        1 + trace::record_extra_words(words[at], static_cast<uint32_t>(__builtin_popcount(lanes)));
    if (used > n - at) fail("ends inside a record");
    visitor.record(memory.instruction, lanes, words + at);
    return at + used;
  }

  const compiler::Kernel& kernel_;
  std::vector<Shape> shapes_;
  std::vector<Memory> memory_;
};

}  // namespace nearwarp::runtime
