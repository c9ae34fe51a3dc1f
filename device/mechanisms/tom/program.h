// A program as TOM knows it: the offloading metadata table (TOM, sections 4.2 and 6.6), and which
// instruction belongs to which of its entries. Side tables by instruction and basic block.
#pragma once

#include "device/mechanisms/tuning/shared_rows.h"
#include "device/sm/trace_cursor.h"

namespace nearwarp::tom {

inline constexpr uint16_t kNoCandidate = 0xffff;

/// One entry of the offloading metadata table.
struct Candidate {
  uint32_t begin = 0;      ///< first instruction
  uint32_t threshold = 0;  ///< conditional candidates: least number of iterations; 0: no condition
  uint16_t live_in_bytes = 0;          ///< per thread
  uint16_t live_out_bytes = 0;         ///< per thread
  uint8_t saves_tx = 0, saves_rx = 0;  ///< the 2-bit tag
  uint16_t kernel = 0;
  uint8_t order = 0;       ///< among its kernel's candidates, counted up to 63
  bool has_heads = false;  ///< a loop of it is known
  /// The conditional candidate that it is a block of; offered where that is not long enough.
  uint16_t outer = kNoCandidate;
  /// Tuned offloading: the shared array that goes with it, in bytes, and in rows of the banks.
  tuning::SharedKind shared = tuning::SharedKind::kNone;
  uint16_t shared_rows = 0;
  uint32_t shared_bytes = 0;
};

/// The tables, read-only.
struct ProgramTables {
  const Candidate* candidates = nullptr;
  /// By instruction; kNoCandidate: none. Those that are blocks of others are in `inner_of`.
  const uint16_t* candidate_of = nullptr;
  /// By basic block: iterations of its candidate's loop that one execution stands for.
  const uint16_t* weight = nullptr;
  /// By instruction: a round begins, which is an instance; nullptr: no instance is a round.
  const uint8_t* begins_round = nullptr;
  const uint16_t* inner_of = nullptr;  ///< as candidate_of; nullptr: there are none

  NW_HD NW_INLINE uint16_t candidate_at(uint32_t pc) const { return candidate_of[pc]; }
  /// Does a candidate begin at this instruction?
  NW_HD NW_INLINE bool begins(uint32_t pc) const {
    const uint16_t id = candidate_of[pc];
    return id != kNoCandidate && candidates[id].begin == pc;
  }
  /// The candidate within another one that begins at this instruction; kNoCandidate: none does.
  NW_HD NW_INLINE uint16_t inner_beginning(uint32_t pc) const {
    if (inner_of == nullptr) return kNoCandidate;
    const uint16_t id = inner_of[pc];
    return id != kNoCandidate && candidates[id].begin == pc ? id : kNoCandidate;
  }
  /// Is the instruction part of candidate `id`?
  NW_HD NW_INLINE bool is_in(uint32_t pc, uint16_t id) const {
    return candidate_of[pc] == id || (inner_of != nullptr && inner_of[pc] == id);
  }
  NW_HD NW_INLINE bool round_begins(uint32_t pc) const {
    return begins_round != nullptr && begins_round[pc] != 0;
  }
  /// Does an instance begin at this instruction, to which a warp comes from outside of instances?
  NW_HD NW_INLINE bool instance_begins(uint32_t pc) const {
    const bool rounds = begins_round != nullptr && candidate_of[pc] != kNoCandidate &&
                        candidates[candidate_of[pc]].has_heads;
    return rounds ? begins_round[pc] != 0 : begins(pc);
  }
};

/// How many iterations of candidate `id` lie ahead of `c`, counted up to `enough`. The hardware
/// would compare the loop bound's register (TOM, section 4.2); the trace holds no registers, but
/// the number of iterations that follow is the same fact (deviation 26 in
/// tests/validation/DEVIATIONS.md).
NW_HD inline uint32_t iterations_ahead(sm::Cursor c, const sm::WarpTrace& trace,
                                       const ProgramTables& tables, uint16_t id, uint32_t enough) {
  const auto pass_record = [&](uint32_t pc) {
    const sm::ImageInstr& in = trace.image.instrs[pc];
    if (in.flags & sm::kHasRecord)
      c.trace_pos = sm::read_access(trace.words, c.trace_pos, c.mask, in.flags & sm::kGuarded).next;
  };
  uint32_t iterations = 0;
  while (c.pc != sm::kEndOfTrace && tables.candidate_at(c.pc) == id) {
    const sm::ImageBlock& b = trace.image.blocks[c.block];
    if (c.pc == b.first) iterations += tables.weight[c.block];
    if (iterations >= enough) return iterations;
    if (b.records == 0) {  // nothing to skip: take the rest of the run at once
      iterations += tables.weight[c.block] * c.repeats;
      c.repeats = 0;
      c.pc = c.end - 1;
    } else {
      for (; c.pc + 1 != c.end; ++c.pc) pass_record(c.pc);
      pass_record(c.pc);
    }
    sm::advance(c, trace);
  }
  return iterations;
}

}  // namespace nearwarp::tom
