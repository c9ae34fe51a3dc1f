// Where a matrix of wgmma lies in shared memory.
#pragma once

#include <cstdint>

#include "host/functional/instructions/tensor_map.h"

namespace nearwarp::exec {

/// PTX ISA 9.0, section 9.7.15.5.1.2.2: of 64 bits, addresses in units of 16 bytes.
struct MatrixDescriptor {
  uint64_t start, leading, stride;
  uint32_t phase;
  Swizzle swizzle;
  explicit MatrixDescriptor(uint64_t v)
      : start((v & 0x3fff) << 4),
        leading((v >> 16 & 0x3fff) << 4),
        stride((v >> 32 & 0x3fff) << 4),
        phase(static_cast<uint32_t>(v >> 49 & 7)),
        swizzle(kSwizzles[v >> 62]) {}
  static constexpr Swizzle kSwizzles[] = {Swizzle::kNone, Swizzle::k128B, Swizzle::k64B,
                                          Swizzle::k32B};
  /// A matrix that lies along k has 16 bytes `piece` of row (or column) `line` here. Pieces that a
  /// row of the swizzle does not hold are `leading` further on.
  uint64_t along_k(uint32_t line, uint32_t piece) const {
    return place(uint64_t{line % 8} * swizzle_bytes(swizzle) + line / 8 * stride + in_row(piece) +
                 beyond(piece) * leading);
  }
  /// One that lies across has 16 bytes `piece` of lines, at number k, here.
  uint64_t across(uint32_t piece, uint32_t k) const {
    if (swizzle == Swizzle::kNone) return place(piece * stride + k / 8 * leading + k % 8 * 16);
    return place(in_row(piece) + beyond(piece) * leading +
                 uint64_t{k % 8} * swizzle_bytes(swizzle) + k / 8 * stride);
  }
  /// A piece lies so far in its row of the swizzle, and so many rows precede it.
  uint64_t in_row(uint32_t piece) const { return piece * 16 & (swizzle_bytes(swizzle) - 1); }
  uint64_t beyond(uint32_t piece) const { return piece >> static_cast<uint32_t>(swizzle); }
  uint64_t place(uint64_t offset) const { return swizzled(swizzle, start + offset, phase); }
};

}  // namespace nearwarp::exec
