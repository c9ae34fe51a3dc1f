// Facts on an instruction that the decoder keeps for the race detector.
#pragma once

#include <cstdint>

#include "host/functional/instructions/codes.h"
#include "host/functional/instructions/decoded.h"
#include "host/functional/instructions/warp_ops.h"

namespace nearwarp::racecheck {

/// The rules of a memory instruction.
struct AccessRules {
  bool strong = false;  ///< volatile, ordered or atomic
  bool acquire = false, release = false;
  bool block_scope = false;    ///< orders threads of one block only
  bool cluster_scope = false;  ///< of one cluster only
  bool async_copy = false;     ///< the write of a cp.async, or an arrival when such are done
  bool blind = false;          ///< atomic, and the value that was there before is not used
};

/// The rules of what lanes do together, or what orders their accesses.
struct SyncRules {
  exec::CheckedSync what = exec::CheckedSync::kWarp;
  uint32_t instruction = 0;  ///< index of the PTX instruction
  uint16_t operand = 0;      ///< row: the mask of members, or a number
  bool proxy = false;      ///< a fence between shared memory's plain and asynchronous accesses, too
  bool has_mask = false;   ///< `operand` is a mask that the program gives
  bool exchanges = false;  ///< more than waiting: the lanes must execute the same instruction
  bool shuffles = false;   ///< then also:
  exec::Shuffle mode = exec::Shuffle::kIndex;
  uint16_t lane = 0, clamp = 0;  ///< rows: operands b and c of shfl
};

/// An arrival at a barrier of the block.
struct BarrierRules {
  uint32_t number = 0;       ///< of the barrier
  uint32_t instruction = 0;  ///< index of the PTX instruction
  bool waits = false;
  bool aligned = false;  ///< all threads have to execute the same instruction
  bool counted = false;  ///< for a number of threads, not for all of the block
};

}  // namespace nearwarp::racecheck
