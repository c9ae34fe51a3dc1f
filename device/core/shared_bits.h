// Bit masks that several lanes of one group add to.
//
// Adding is the one thing that lanes may do to a common word: the order in which bits are added
// does not show. Taking bits away belongs to one lane, at another time.
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp {

/// Set `bits` in a word that other lanes of the group set bits in too. On the CPU a group is one
/// thread.
NW_HD NW_INLINE void add_bits(uint64_t* word, uint64_t bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(bits));
#else
  *word |= bits;
#endif
}

}  // namespace nearwarp
