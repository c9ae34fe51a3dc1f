// Bit masks that several lanes of one group change, and words that several components write.
//
// Lanes may only set bits of a common word, and clear bits that no other lane changes: then the
// order in which they do so does not matter.
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp {

/// Set `bits` in a word in which other lanes of the group set bits, too. On the CPU a group is one
/// thread.
NW_HD NW_INLINE void add_bits(uint64_t* word, uint64_t bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(bits));
#else
  *word |= bits;
#endif
}

/// Clear `bits` in a word in which other lanes clear other bits.
NW_HD NW_INLINE void take_bits(uint64_t* word, uint64_t bits) {
#if defined(__CUDA_ARCH__)
  atomicAnd(reinterpret_cast<unsigned long long*>(word), ~static_cast<unsigned long long>(bits));
#else
  *word &= ~bits;
#endif
}

/// Set a flag that other lanes may set, too, and that no lane clears meanwhile.
NW_HD NW_INLINE void set_flag(uint8_t* flag) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile uint8_t*>(flag) = 1;
#else
  *flag = 1;
#endif
}

/// Read a word that several SMs write, all of them the same value, before any of them reads it.
NW_HD NW_INLINE uint32_t load_shared_word(const uint32_t* word) {
#if defined(__CUDA_ARCH__)
  return *word;
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}
NW_HD NW_INLINE void store_shared_word(uint32_t* word, uint32_t value) {
#if defined(__CUDA_ARCH__)
  *word = value;
#else
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
#endif
}

}  // namespace nearwarp
