// Reading the memory records of a warp's trace.
#pragma once

#include <cstdint>

#include "device/core/macros.h"
#include "device/trace/format.h"

namespace nearwarp::trace {

/// Decode the record at `words` for the lanes of `mask` into address[lane]; returns the number of
/// words it takes. `available` words may be read; 0 is returned if the record needs more.
NW_HD inline uint32_t read_record(const uint64_t* words, uint64_t available, uint32_t mask,
                                  uint64_t* address) {
  if (available == 0) return 0;
  const uint64_t record = words[0];
  const uint32_t lanes = static_cast<uint32_t>(__builtin_popcount(mask));
  const uint32_t extra = record_extra_words(record, lanes);
  if (extra + uint64_t{1} > available) return 0;
  const uint64_t base = record_base(record);
  const int stride = record_stride(record);
  uint32_t n = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1, ++n) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
    if (stride == kDeltas)
      address[lane] = base + static_cast<uint32_t>(words[1 + n / 2] >> (32 * (n & 1)));
    else if (stride == kAddresses)
      address[lane] = words[1 + n];
    else if (stride == kTiles)
      address[lane] = (base + tile_distance(words[1], lane)) & kAddressMask;
    else
      address[lane] = (base + static_cast<uint64_t>(int64_t{stride} * lane)) & kAddressMask;
  }
  return 1 + extra;
}

}  // namespace nearwarp::trace
