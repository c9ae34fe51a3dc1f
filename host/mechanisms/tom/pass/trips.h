// Trip counts of natural loops: which register steps, from where, to what bound; and which loops in
// PTX are the parts of one source loop that nvcc unrolled.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"

namespace nearwarp::compiler {

/// A sum of registers times coefficients plus a constant, computed modulo 2^64.
struct LinearSum {
  std::map<RegId, int64_t> terms;  ///< no zero coefficients
  int64_t constant = 0;

  void add(const LinearSum& other, int64_t factor);
  bool operator==(const LinearSum&) const = default;
};

/// The instructions that define each register, in order, and the block of each instruction.
class Definitions {
 public:
  explicit Definitions(const Kernel& kernel);
  const std::vector<InstrId>& of(RegId reg) const { return by_register_[reg]; }
  BlockId block(InstrId instruction) const { return block_[instruction]; }

 private:
  std::vector<std::vector<InstrId>> by_register_;
  std::vector<BlockId> block_;
};

/// An instruction's result as a sum of the registers that it reads, for the integer instructions
/// that compute counters and addresses; nothing for others. Widening conversions keep the value.
std::optional<LinearSum> linear_definition(const Instruction& instruction);

/// The trip count of a loop, computed from values of registers when control enters the loop:
/// max(1, ceil(d / step) + extra), where d is the distance from `first` to `bound` plus
/// `untested` * step.
struct LoopTrips {
  bool known = false;
  LinearSum first;         ///< the first value of the counter that is tested
  LinearSum bound;         ///< what it is compared with
  bool up = true;          ///< the counter grows
  bool inclusive = false;  ///< the loop goes on at the bound itself
  bool until_equal = false;
  ptx::Type type = ptx::Type::kNone;  ///< of the comparison
  bool has_sign = true;               ///< the comparison is one of signed numbers
  int64_t untested = 0;               ///< trips before the first test; in `extra` with a step_reg
  int64_t step = 1;
  RegId step_reg = kNone;
  int64_t extra = 0;
  RegId induction = kNone;
  BlockId count_block = kNone;  ///< executed once per trip
};

/// Analyse one loop; `known` is false where the loop has several exits or latches, or does not
/// count with a plain addition towards an invariant bound.
LoopTrips loop_trips(const Kernel& kernel, const Definitions& definitions, uint32_t loop);

/// A source loop that nvcc unrolled: a main loop, and the remaining iterations in a second loop or
/// in copies of the body, each behind a comparison of the remainder with a constant. The source
/// loop's iterations are trips(main) * unroll + executions of the rest.
struct UnrolledLoop {
  uint32_t main = kNone;
  uint32_t remainder = kNone;                ///< the second loop; kNone if there are copies
  std::vector<std::vector<BlockId>> copies;  ///< blocks of each copy, in order; sorted
  uint32_t unroll = 1;
  /// The instruction (`and` or `rem`) that computes the remainder; its first operand is the number
  /// of iterations.
  InstrId split = kNone;
};
std::vector<UnrolledLoop> unrolled_loops(const Kernel& kernel, const Definitions& definitions,
                                         const std::vector<LoopTrips>& trips);

/// The extent of a candidate: its blocks, and where it is entered.
struct CandidateScope {
  std::vector<bool> contains;  ///< by block
  BlockId entry = kNone;
  InstrId first = 0;  ///< first instruction; earlier ones of block `entry` are outside

  bool has(const Definitions& definitions, InstrId instruction) const {
    const BlockId block = definitions.block(instruction);
    return block != kNone && contains[block] && (block != entry || instruction >= first);
  }
};

/// The value of `reg` just before instruction `at` of the scope, as a linear sum of values at the
/// scope's entry; nothing if it is no such sum or may change while the candidate runs. Definitions
/// inside `excluded_loop` (kNone: no such loop) come after `at` and do not reach it.
std::optional<LinearSum> value_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, RegId reg, InstrId at,
                                        uint32_t excluded_loop);

/// The trip count of `loop`, computed from values at the scope's entry.
std::optional<TripCount> trips_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, const LoopTrips& trips,
                                        uint32_t loop);
/// The iterations of an unrolled loop's source loop, computed from values at the scope's entry.
std::optional<TripCount> trips_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, const UnrolledLoop& unrolled);

/// The value of a trip count that is a constant; nothing for others.
std::optional<int64_t> static_trips(const TripCount& count);

}  // namespace nearwarp::compiler
