// A warp's position in its trace.
#pragma once

#include "device/core/bits.h"
#include "device/sm/kernel_image.h"
#include "device/trace/format.h"

namespace nearwarp::sm {

inline constexpr uint32_t kEndOfTrace = 0xffffffffu;

/// The next instruction that a warp issues, and the rest of its run (repeats of a basic block).
struct Cursor {
  uint32_t pc = kEndOfTrace;  ///< index into the instruction table; kEndOfTrace: none left
  uint32_t end = 0;           ///< one past the basic block's last instruction
  uint32_t mask = 0;          ///< active lanes
  uint32_t trace_pos = 0;     ///< next word of the chunk
  uint32_t block = 0;         ///< index into the block table
  uint32_t repeats = 0;       ///< further executions of the block in this run
};

/// A warp's trace, and the basic blocks that its control words refer to.
struct WarpTrace {
  const uint64_t* words;  ///< the words of the chunk
  const ProgramImage& image;
  uint32_t first_block;  ///< index of the first basic block of the warp's kernel
};

/// Read the next control word, and begin its run.
NW_HD inline void fetch_run(Cursor& c, const uint64_t* words, const ProgramImage& image,
                            uint32_t first_block) {
  const uint64_t w = words[c.trace_pos];
  c.mask = trace::control_mask(w);
  if (c.mask == 0) {
    c.pc = kEndOfTrace;
    return;
  }
  c.trace_pos += 1;
  c.block = first_block + trace::control_block(w);
  c.repeats = trace::control_repeats(w) - 1;
  const ImageBlock& b = image.blocks[c.block];
  c.pc = b.first;
  c.end = b.first + b.count;
}

/// Go on to the next block while the cursor is at the end of one. Blocks may be empty when moves
/// are not charged.
NW_HD inline void settle(Cursor& c, const uint64_t* words, const ProgramImage& image,
                         uint32_t first_block) {
  while (c.pc == c.end) {
    if (c.repeats != 0) {
      c.repeats -= 1;
      c.pc = image.blocks[c.block].first;
      if (c.pc == c.end) c.repeats = 0;
    } else {
      fetch_run(c, words, image, first_block);
      if (c.pc == kEndOfTrace) return;
    }
  }
}

/// Step to the next instruction.
NW_HD inline void advance(Cursor& c, const uint64_t* words, const ProgramImage& image,
                          uint32_t first_block) {
  c.pc += 1;
  settle(c, words, image, first_block);
}

NW_HD inline void advance(Cursor& c, const WarpTrace& t) {
  advance(c, t.words, t.image, t.first_block);
}

/// Go to a warp's first instruction.
NW_HD inline void fetch_first(Cursor& c, const uint64_t* words, const ProgramImage& image,
                              uint32_t first_block) {
  fetch_run(c, words, image, first_block);
  if (c.pc != kEndOfTrace) settle(c, words, image, first_block);
}

/// A memory access as the trace records it.
struct Access {
  uint32_t mask = 0;    ///< lanes that access memory; 0: none, and no record
  uint32_t record = 0;  ///< position of the record word
  uint32_t next = 0;    ///< position of the word after it

  NW_HD NW_INLINE trace::RecordView in(const uint64_t* words) const {
    return {words, record, mask};
  }
};

/// Read the access at word `pos` of a warp with active lanes `mask`. `guarded`: the trace has a
/// mask of its own for the instruction.
NW_HD NW_APART inline Access read_access(const uint64_t* words, uint32_t pos, uint32_t mask,
                                         bool guarded) {
  Access a;
  a.mask = mask;
  if (guarded) a.mask = static_cast<uint32_t>(words[pos++]);
  a.record = pos;
  if (a.mask != 0) pos += 1 + trace::record_extra_words(words[pos], population_count(a.mask));
  a.next = pos;
  return a;
}

}  // namespace nearwarp::sm
