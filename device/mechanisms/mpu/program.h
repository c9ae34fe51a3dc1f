// A program's registers and instructions on an MPU, as the device knows them.
#pragma once

#include "device/core/macros.h"
#include "device/core/types.h"

namespace nearwarp::mpu {

/// The kind of an operation, for the offload engine.
enum class Kind : uint8_t {
  kAny,  ///< either part of the pipeline can execute it
  kFar,  ///< of the far-bank operation set
  // These begin in the load-store unit:
  kLoad,
  kStore,
  kAtomic,  ///< reductions, too
  kShared,  ///< it accesses shared memory that is near the banks
};

/// The place that the compiler or the policy wants for an instruction of Kind::kAny.
enum class Hint : uint8_t { kNone, kNear, kFar };

/// An instruction as the offload engine knows it. Sets of registers are bits over
/// ImageInstr::slots.
struct InstrPlace {
  Kind kind = Kind::kFar;
  Hint hint = Hint::kNone;
  bool guarded = false;  ///< lanes may keep the old values of its destinations
  uint8_t reserved = 0;
  uint16_t reads = 0;       ///< registers that it reads
  uint16_t stored = 0;      ///< registers with the values that a store writes
  uint16_t wide = 0;        ///< registers of 64 bits
  uint16_t predicates = 0;  ///< registers of a bit for each lane
  uint16_t scalars = 0;     ///< registers that are the same in all lanes, and move as one value
};

}  // namespace nearwarp::mpu
