// Trip counts of natural loops: which register steps, from where, to what bound; and which two
// loops are the pieces belong to one source loop that nvcc unrolled.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"

namespace nearwarp::compiler {

/// A sum of registers times coefficients plus a constant.
struct LinearSum {
  std::map<RegId, int64_t> terms;  ///< no zero coefficients
  int64_t constant = 0;

  void add(const LinearSum& other, int64_t factor);
  bool operator==(const LinearSum&) const = default;
};

/// Definitions of each register, in instruction order.
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
/// that compute counters and addresses; widening conversions keep the value.
std::optional<LinearSum> linear_definition(const Instruction& instruction);

/// How often a loop runs, in terms of the values that its registers have when control enters it:
/// max(1, ceil(numerator / step) + extra).
struct LoopTrips {
  bool known = false;
  LinearSum numerator;
  int64_t step = 1;
  RegId step_reg = kNone;
  int64_t extra = 0;
  RegId induction = kNone;
  BlockId count_block = kNone;  ///< executed once per trip
};

/// Analyse one loop; `known` is false where the loop has several exits or latches, or does not
/// count with a plain addition towards an invariant bound.
LoopTrips loop_trips(const Kernel& kernel, const Definitions& definitions, uint32_t loop);

/// A source loop that nvcc unrolled: a main loop, and what is left of the iterations in a second
/// loop or in copies of the body, each behind a comparison of the remainder with a constant.
/// trips(main) * unroll + executions of the rest are the source's iterations.
struct UnrolledLoop {
  uint32_t main = kNone;
  uint32_t remainder = kNone;                ///< the second loop; kNone if there are copies
  std::vector<std::vector<BlockId>> copies;  ///< blocks of each copy, in order; sorted
  uint32_t unroll = 1;
  /// The `and` instruction that takes the remainder of the iterations; its operand is their count.
  InstrId split = kNone;
};
std::vector<UnrolledLoop> unrolled_loops(const Kernel& kernel, const Definitions& definitions,
                                         const std::vector<LoopTrips>& trips);

/// Where a candidate begins and what it holds, for questions about values at its entry.
struct CandidateScope {
  std::vector<bool> contains;  ///< by block
  BlockId entry = kNone;
  InstrId first = 0;  ///< first instruction; only earlier ones of `entry` are outside

  bool has(const Definitions& definitions, InstrId instruction) const {
    const BlockId block = definitions.block(instruction);
    return block != kNone && contains[block] && (block != entry || instruction >= first);
  }
};

/// The value of `reg` just before instruction `at` of the scope as a sum of values at the scope's
/// entry; nothing if it is no such sum or may change while the candidate runs. Definitions inside
/// `excluded_loop` come after `at` and do not reach it (kNone: no such loop).
std::optional<LinearSum> value_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, RegId reg, InstrId at,
                                        uint32_t excluded_loop);

/// The trip count of `loop` in values at the scope's entry.
std::optional<TripCount> trips_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, const LoopTrips& trips,
                                        uint32_t loop);
/// The source iterations of an unrolled loop in values at the scope's entry.
std::optional<TripCount> trips_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, const UnrolledLoop& unrolled);

/// The constant that a trip count is, if it is one.
std::optional<int64_t> static_trips(const TripCount& count);

}  // namespace nearwarp::compiler
