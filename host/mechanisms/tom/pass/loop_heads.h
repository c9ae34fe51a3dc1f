// The loops of offloading candidates, for decisions in every round: the instruction with which a
// round begins, and the registers that are sent when a warp is offloaded or returns there.
#pragma once

#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"
#include "host/mechanisms/tom/pass/regions.h"

namespace nearwarp::compiler {

/// A loop inside a candidate. Bytes are per lane, as OffloadCandidate::live_in_bytes.
struct CandidateLoop {
  BlockId header = kNone;
  uint32_t loop = kNone;  ///< index into Kernel::loops
  /// Bytes of the registers that the rest of the candidate reads, special ones included.
  uint32_t live_in_bytes = 0;
  /// Bytes of the registers that the candidate writes and that are live at the header: all others
  /// still have their values in the SM that the warp left.
  uint32_t changed_bytes = 0;
};

/// The loops inside a candidate that are chosen.
enum class LoopChoice : uint8_t {
  kOutermost,  ///< loops that no other loop of the candidate encloses
  kInnermost,  ///< loops without loops inside
};

/// The chosen loops of a candidate, in the order of their headers.
std::vector<CandidateLoop> loops_of(const Kernel& kernel, const BlockRegisters& registers,
                                    const OffloadCandidate& candidate, LoopChoice choice);

}  // namespace nearwarp::compiler
