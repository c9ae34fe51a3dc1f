// The loops of offloading candidates for decisions in every round: where a round begins, and which
// registers have to travel when a warp leaves or comes back there.
#pragma once

#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"
#include "host/mechanisms/tom/pass/regions.h"

namespace nearwarp::compiler {

struct CandidateLoop {
  BlockId header = kNone;
  uint32_t loop = kNone;  ///< index into Kernel::loops
  /// Registers that what is left of the candidate wants, special ones included; per lane, as
  /// OffloadCandidate::live_in_bytes.
  uint32_t live_in_bytes = 0;
  /// Registers that the candidate writes and whose values at the header are wanted, there or
  /// later: the others have at home the values that they had when the warp left.
  uint32_t changed_bytes = 0;
};

/// Which of the loops inside a candidate.
enum class LoopChoice : uint8_t {
  kOutermost,  ///< those that no other loop of the candidate encloses
  kInnermost,  ///< those without loops inside
};

/// In the order of their headers.
std::vector<CandidateLoop> loops_of(const Kernel& kernel, const BlockRegisters& registers,
                                    const OffloadCandidate& candidate, LoopChoice choice);

}  // namespace nearwarp::compiler
