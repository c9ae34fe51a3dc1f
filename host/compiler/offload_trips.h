// Trip counts of natural loops: which register steps, from where, to what bound; and which two
// loops are the main and the remainder part of one source loop that nvcc unrolled.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "host/compiler/kernel.h"
#include "host/compiler/offload_candidates.h"

namespace nearwarp::compiler {

/// A sum of registers times coefficients plus a constant.
struct LinearSum {
  std::map<RegId, int64_t> terms;  ///< no zero coefficients
  int64_t constant = 0;

  void add(const LinearSum& other, int64_t factor);
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

/// An unrolled main loop and its remainder. Together they run the source loop's iterations:
/// trips(main) * unroll + trips(remainder).
struct UnrolledPair {
  uint32_t main = kNone;
  uint32_t remainder = kNone;
  uint32_t unroll = 1;
  /// The `and` instruction that takes the remainder of the iterations; its operand is their count.
  InstrId split = kNone;
};
std::vector<UnrolledPair> unrolled_pairs(const Kernel& kernel, const Definitions& definitions,
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
/// The source iterations of an unrolled pair in values at the scope's entry.
std::optional<TripCount> trips_at_entry(const Kernel& kernel, const Definitions& definitions,
                                        const CandidateScope& scope, const UnrolledPair& pair);

/// The constant that a trip count is, if it is one.
std::optional<int64_t> static_trips(const TripCount& count);

}  // namespace nearwarp::compiler
