// How much of memory a lane of an instruction accesses.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

/// Bytes, all elements of a vector together.
inline uint32_t lane_bytes(const Instruction& in) {
  return std::max<uint32_t>(1, ptx::size_of(in.mod.type) * std::max<uint32_t>(in.mod.vector, 1));
}

}  // namespace nearwarp::compiler
