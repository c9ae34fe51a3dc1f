// Sectors of a cache's line: the ones that are there, the ones that memory has older, and the words
// that have been written, so that a sector that is written piece by piece becomes readable with its
// last word. Beside a tag store (tag_store.h), under the same index.
//
// Source: GPGPU-Sim 4.2, sectored caches with "lazy fetch on read" [Khairy et al., "Accel-Sim",
// ISCA 2020, section on the memory system].
#pragma once

#include "device/core/bits.h"

namespace nearwarp::cache {

struct LineSectors {
  uint8_t readable = 0;  ///< sectors, as bits: all their data is here
  /// Sectors, as bits: written here. An L1 that keeps what is written to local memory counts whole
  /// lines, 1 or 0.
  uint8_t dirty = 0;
  uint16_t mshr = 0;  ///< of an L1: where its sectors come, while some do
  /// 1: the twin may have a copy, where an L2 has two halves (l2_halves.h).
  uint32_t copied = 0;
  uint64_t written = 0;  ///< words of four bytes, as bits
};

/// The sectors of `want` whose data is not here. `present`: the line has a way.
NW_HD NW_INLINE uint32_t missing_sectors(const LineSectors& line, bool present, uint32_t want) {
  return present ? want & ~uint32_t{line.readable} : want;
}

/// Words of the line are written, which lie in `sectors`, of `words_each` words. Those of them are
/// readable of which every word has been written.
NW_HD inline void write_words(LineSectors& line, uint32_t sectors, uint64_t words,
                              uint32_t words_each) {
  line.written |= words;
  const uint64_t all = low_bits(words_each);
  uint32_t whole = 0;
  for (uint32_t rest = sectors; rest != 0; rest &= rest - 1) {
    const uint32_t k = count_trailing_zeros(rest);
    if ((line.written >> (k * words_each) & all) == all) whole |= 1u << k;
  }
  line.readable = static_cast<uint8_t>(line.readable | whole);
}

}  // namespace nearwarp::cache
