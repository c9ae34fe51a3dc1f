// A program's registers and instructions on an MPU, as the device knows them.
#pragma once

#include "device/core/macros.h"
#include "device/core/types.h"

namespace nearwarp::mpu {

/// The kind of an operation, for the offload engine.
enum class Kind : uint8_t {
  kAny,   ///< either part of the pipeline can execute it
  kFar,   ///< of the far-bank operation set
  kLoad,  ///< begins in the load-store unit, and so the next two
  kStore,
  kAtomic,  ///< reductions too
  kShared,  ///< accesses a shared memory that is near the banks
};

/// The place for an instruction of Kind::kAny, by the compiler or the policy.
enum class Hint : uint8_t { kNone, kNear, kFar };

/// By instruction. Sets are bits over ImageInstr::slots.
struct InstrPlace {
  Kind kind = Kind::kFar;
  Hint hint = Hint::kNone;
  bool guarded = false;  ///< lanes may keep what they had in its destinations
  uint8_t reserved = 0;
  uint16_t reads = 0;
  uint16_t stored = 0;      ///< of a store: the values
  uint16_t wide = 0;        ///< of 64 bits
  uint16_t predicates = 0;  ///< of a bit for each lane
  uint16_t scalars = 0;     ///< that move as one value, the same in all lanes
};

}  // namespace nearwarp::mpu
