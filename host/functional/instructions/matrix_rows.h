// ldmatrix and stmatrix: the distribution of 8 x 8 matrices of 16-bit elements over the lanes. Rows
// have 16 bytes; lane 8i + r has the address of row r of matrix i. Register i of a lane has
// elements 2 (lane mod 4) and the next of row lane / 4 of matrix i, or of its transpose. Source:
// PTX ISA 9.0, ldmatrix.
#pragma once

#include <cstdint>
#include <cstring>

#include "host/functional/instructions/lanes.h"

namespace nearwarp::exec {

inline constexpr uint32_t kRowOfMatrixBytes = 16;

/// Gives lanes without a row the addresses of the first lanes, so that no further banks are
/// accessed.
NW_HD NW_INLINE void repeat_rows(const MemDesc& desc, uint64_t (&address)[kLanes]) {
  const uint32_t rows = 8u * desc.matrices;
  for (uint32_t i = rows; i < kLanes; ++i) address[i] = address[i % rows];
}

/// Register `matrix` of `lane` after a load. row_of(lane) points to the row of a lane; nullptr
/// stands for a row of zeros.
template <class RowOf>
NW_HD NW_INLINE uint32_t dealt_word(const MemDesc& desc, uint32_t matrix, uint32_t lane,
                                    const RowOf& row_of) {
  uint32_t word = 0;
  const uint32_t pair = lane % 4, line = lane / 4;
  if (desc.transposed == 0) {
    const uint8_t* const row = row_of(8 * matrix + line);
    if (row != nullptr) std::memcpy(&word, row + 4 * pair, sizeof(word));
    return word;
  }
  for (uint32_t e = 0; e < 2; ++e) {
    const uint8_t* const row = row_of(8 * matrix + 2 * pair + e);
    uint16_t half = 0;
    if (row != nullptr) std::memcpy(&half, row + 2 * line, sizeof(half));
    word |= uint32_t{half} << 16 * e;
  }
  return word;
}

/// Collects from the lanes' registers the bytes of the row whose address `lane` has.
NW_HD inline void collect_row(const Warp& warp, const MemDesc& desc, uint32_t lane, uint8_t* to) {
  const uint32_t row_number = lane % (8u * desc.matrices), matrix = row_number / 8;
  const uint32_t* const registers = row<uint32_t>(warp.rows, desc.rows[matrix]);
  for (uint32_t c = 0; c < 8; ++c) {
    const uint32_t line = desc.transposed != 0 ? c : row_number % 8;
    const uint32_t place = desc.transposed != 0 ? row_number % 8 : c;
    const auto half = static_cast<uint16_t>(registers[4 * line + place / 2] >> 16 * (place % 2));
    std::memcpy(to + 2 * c, &half, sizeof(half));
  }
}

}  // namespace nearwarp::exec
