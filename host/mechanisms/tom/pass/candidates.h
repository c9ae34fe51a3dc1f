// Selection of offloading candidates as in TOM (Hsieh et al., ISCA 2016, sections 3.1 and 5.2).
//
// These pieces of code are considered:
//   block   a run of instructions inside one basic block
//   region  a single-entry single-exit piece of control flow: if-then(-else), a loop with the guard
//           in front of it, the main and the remainder loop that unrolling makes of one loop
//   loop    a natural loop with all its nested loops
// A region or loop may begin in the middle of its entry block (the arithmetic in front of a loop
// belongs to it where that makes fewer live-ins) unless that block is a loop's header. Which of
// these kinds are considered is OffloadModel::granularity.
//
// A piece qualifies if it has no barrier, fence or atomic, no access to shared memory (but to one
// array that may be sent along under tuned offloading: OffloadModel::shared), a single exit, and
// if Eq. (3) + (4) is negative, either always or above a trip count that can be computed from
// registers at its entry. Counts are static: an instruction under a branch counts as executed. Of
// the qualifying pieces the disjoint set with the greatest estimated saving is chosen (weighted
// interval scheduling over the instruction order; for this ranking only, loops whose trip count is
// not static are taken to run kPlanningTrips times). So a loop nest is preferred to its inner loop
// if it saves anything, since its registers travel once. With OffloadModel::inner_blocks, blocks of
// a conditional loop that save by themselves are candidates within it, for warps that fail the
// loop's condition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/equations.h"

namespace nearwarp::compiler {

/// Trip count assumed for ranking overlapping pieces where it is not known statically.
inline constexpr int64_t kPlanningTrips = 32;

enum class CandidateKind : uint8_t { kBlock, kRegion, kLoop };

enum class TripKind : uint8_t {
  kNoLoop,       ///< no loop inside
  kStatic,       ///< every decisive loop has a known trip count; always offloaded
  kConditional,  ///< offloaded if `condition` holds
  kUnknown,      ///< trip counts are unknown or not needed: pays with one trip of each loop
};

/// `coefficient` times the value that a register has at the candidate's entry.
struct LinearTerm {
  RegId reg = kNone;
  int64_t coefficient = 1;
};

/// Iterations of one loop: max(1, ceil((sum of terms + constant) / step) + extra).
struct TripCount {
  std::vector<LinearTerm> terms;  ///< empty: a constant
  int64_t constant = 0;
  int64_t step = 1;        ///< > 0
  RegId step_reg = kNone;  ///< if set, the step is this register's value
  int64_t extra = 0;       ///< trips outside of the division; 0 unless step_reg is set
  uint32_t loop = kNone;   ///< index into Kernel::loops (the main loop of an unrolled pair)
};

/// Executions of `block` while the candidate runs, times `iterations_per_execution`, summed over
/// all entries of OffloadCondition::count_blocks, are the iterations that happened.
struct CountBlock {
  BlockId block = kNone;
  uint32_t iterations_per_execution = 1;  ///< 4 for a main loop that nvcc unrolled by four
};

/// "Offload if the product of `factors` is at least `threshold_iterations`."
struct OffloadCondition {
  std::vector<TripCount> factors;    ///< of the decisive loop, then of the loops around it
  int64_t threshold_iterations = 0;  ///< in iterations of the source loop
  std::vector<CountBlock> count_blocks;
};

struct OffloadCandidate {
  uint32_t id = 0;          ///< position in the list, in instruction order
  uint32_t within = kNone;  ///< id of the candidate around it, whose condition must have failed
  CandidateKind kind = CandidateKind::kBlock;
  BlockId entry = kNone;                     ///< block of the first instruction
  InstrId first_instruction = kNone;         ///< may lie inside `entry`
  InstrId last_instruction = kNone;          ///< last in instruction order, inclusive
  std::vector<BlockId> blocks;               ///< sorted; `entry` included, possibly only its end
  InstrId resume_instruction = kNone;        ///< instruction at which the main GPU goes on
  BlockId resume_block = kNone;              ///< block of that; equals `entry` only for kBlock
  InstrId first_memory_instruction = kNone;  ///< first counted access in instruction order

  std::vector<RegId> live_ins, live_outs;  ///< sorted
  SharedUse shared;                        ///< the shared array that is sent along
  /// Special registers read inside (%tid, %ctaid, ...): operands that the block does not generate,
  /// so each counts as one more live-in. Lane numbers and masks are known everywhere.
  std::vector<ptx::SpecialReg> special_live_ins;
  /// Bytes per lane: 4 for a register of up to 32 bits and for a special one, 8 for one of 64, and
  /// 4 for all predicates together.
  uint32_t live_in_bytes = 0, live_out_bytes = 0;

  /// Terms that do not depend on the decisive loop, and what one iteration of it adds (n_ld, n_st).
  OffloadTerms base, per_iteration;
  TripKind trip = TripKind::kNoLoop;
  int64_t iterations = 0;  ///< static trip count, threshold, or 1: `terms`, tx and rx are for it
  OffloadTerms terms;
  Bandwidth tx, rx;                         ///< Eq. (3) and (4)
  bool saves_tx = false, saves_rx = false;  ///< the 2-bit tag: signs of tx and rx
  OffloadCondition condition;               ///< for kConditional
  int64_t planned_saving = 0;  ///< rank among overlapping pieces (ten-thousandths of an address)
};

enum class RefusalReason : uint8_t {
  kSharedMemory,
  // The next four are of tuned offloading.
  kSharedUnknown,  ///< the shared array that is accessed, or its size, is not known
  kSharedSeveral,  ///< more than one shared array is accessed
  kSharedPattern,  ///< the array is used neither as an accumulator nor as a table
  kSharedFull,     ///< the array is larger than a stack SM's shared memory
  kBarrier,
  kAtomic,
  kDivergentExit,   ///< control leaves to more than one place, or a thread exits inside
  kNoMemoryAccess,  ///< nothing to save
  kSavesNothing,    ///< Eq. (3) + (4) is not negative
  kGranularity,     ///< qualifies, but OffloadModel::granularity excludes such pieces
  kOverlap,         ///< qualifies, but overlaps candidates that save more
  kTableFull,       ///< qualifies, but the metadata table has no entry left
};

/// A block or loop that is in no candidate, and why.
struct Refusal {
  CandidateKind kind = CandidateKind::kBlock;
  BlockId block = kNone;  ///< the block, or the loop's header
  RefusalReason reason = RefusalReason::kNoMemoryAccess;
  InstrId instruction = kNone;  ///< the offending instruction, if there is one
  // For kSavesNothing: the terms of the block's best run of instructions, or of the loop.
  OffloadTerms terms;
  Bandwidth tx, rx;
};

struct SelectionResult {
  /// In instruction order; disjoint, but for those that are `within` others, which follow these.
  std::vector<OffloadCandidate> candidates;
  std::vector<Refusal> refusals;  ///< in block order
};

/// Analyse a kernel; candidates and the reasons against everything else.
SelectionResult analyze_offloading(const Kernel& kernel, const OffloadModel& model);

/// The candidates alone.
std::vector<OffloadCandidate> select_candidates(const Kernel& kernel, const OffloadModel& model);

/// True for the accesses that N_LD and N_ST count: global, local and generic ones.
bool is_counted_load(const Instruction& instruction);
bool is_counted_store(const Instruction& instruction);

/// The condition in PTX register names, e.g. "%r15 >= 4" or "(%r6 - %r15) >= 4".
std::string condition_text(const Kernel& kernel, const OffloadCondition& condition);
const char* reason_text(RefusalReason reason);  ///< e.g. "accesses shared memory"

}  // namespace nearwarp::compiler
