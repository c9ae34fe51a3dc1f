// Writing memory records of a warp's trace; the interpreter writes the control words itself.
#pragma once

#include <cstdint>

#include "device/core/macros.h"
#include "device/trace/format.h"

namespace nearwarp::trace {

/// Most words one memory instruction can add: mask, record, and an address for each lane.
inline constexpr uint32_t kMaxRecordWords = 2 + 32;

/// The second word of a kTiles record if the 32 places are rows of 2^kShift with equal steps; else
/// 0, which no such word is.
template <uint32_t kShift, class T>
NW_HD NW_INLINE uint64_t find_rows(const T* place) {
  constexpr uint32_t kColumns = 1u << kShift;
  const T step = place[1] - place[0];
  const T row = place[kColumns] - place[0];
  // Irregular accesses fail here at once.
  if (static_cast<T>(place[kColumns + 1] - place[kColumns]) != step) return 0;
  T differs = 0;
  for (uint32_t i = 0; i < 32; ++i)
    differs |= place[i] ^ static_cast<T>(place[0] + step * static_cast<T>(i % kColumns) +
                                         row * static_cast<T>(i / kColumns));
  if (differs != 0) return 0;
  // The steps were found modulo the width of T; the record's are signed and must not wrap.
  const int64_t lane_step = static_cast<int64_t>(place[1]) - static_cast<int64_t>(place[0]);
  const int64_t distance = static_cast<int64_t>(place[kColumns]) - static_cast<int64_t>(place[0]);
  if (lane_step < kMinStride || lane_step > kMaxStride || distance < -(int64_t{1} << 31) ||
      distance >= int64_t{1} << 31 ||
      static_cast<int64_t>(place[31]) - static_cast<int64_t>(place[0]) !=
          lane_step * (kColumns - 1) + distance * (32 / kColumns - 1))
    return 0;
  return tile_word(static_cast<int32_t>(distance), static_cast<int>(lane_step), kShift);
}

/// The second word for rows of 16, else of 8; else 0.
template <class T>
NW_HD NW_INLINE uint64_t find_tiles(const T* place) {
  const uint64_t tile = find_rows<4>(place);
  return tile != 0 ? tile : find_rows<3>(place);
}

/// How the addresses of lanes lie to each other.
struct Spread {
  uint64_t least, most;
  bool strided;  ///< every lane's is that of the first one, and so many steps: if so, nothing else
};
/// The spread of the lanes of `mask`, of which `first` is the lowest. `stride` is from lane to
/// lane, if a record can have it.
NW_HD NW_INLINE Spread spread_of(uint32_t mask, const uint64_t* address, uint32_t first,
                                 int64_t stride, bool fits) {
  const uint64_t origin = address[first];
  Spread s{origin, origin, fits};
  if (mask == 0xffffffffu) {  // for a CPU's vectors
    uint64_t differs = 0;
    for (uint32_t i = 0; i + 1 < 32; ++i)
      differs |= (address[i + 1] - address[i]) ^ static_cast<uint64_t>(stride);
    s.strided = fits && differs == 0;
    if (s.strided) return s;
    for (uint32_t i = 0; i < 32; ++i) {
      s.least = address[i] < s.least ? address[i] : s.least;
      s.most = address[i] > s.most ? address[i] : s.most;
    }
    return s;
  }
  for (uint32_t m = mask & (mask - 1); m != 0; m &= m - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
    const uint64_t a = address[lane];
    s.strided &= a == origin + static_cast<uint64_t>(stride * static_cast<int64_t>(lane - first));
    s.least = a < s.least ? a : s.least;
    s.most = a > s.most ? a : s.most;
  }
  return s;
}

/// Append the distances of lanes' addresses from the least, two to a word, low half first; returns
/// the number of words.
NW_HD NW_INLINE uint32_t write_distances(uint64_t* out, uint32_t mask, const uint64_t* address,
                                         uint64_t least) {
  if (mask == 0xffffffffu) {
    for (uint32_t i = 0; i < 16; ++i)
      out[i] = (address[2 * i] - least) | (address[2 * i + 1] - least) << 32;
    return 16;
  }
  uint32_t n = 0;
  for (uint32_t m = mask; m != 0;) {
    uint64_t word = address[__builtin_ctz(m)] - least;
    m &= m - 1;
    if (m != 0) {
      word |= (address[__builtin_ctz(m)] - least) << 32;
      m &= m - 1;
    }
    out[n++] = word;
  }
  return n;
}

/// Append the record of an access by the lanes of `mask` (not 0) to `address[lane]`; returns the
/// number of words. Strided form if it fits, else tiles, else distances from the least address,
/// else addresses.
NW_HD inline uint32_t write_record(uint64_t* out, uint32_t mask, const uint64_t* address) {
  uint32_t rest = mask;
  const uint32_t first = static_cast<uint32_t>(__builtin_ctz(rest));
  rest &= rest - 1;
  const uint64_t origin = address[first];
  if (rest == 0) {
    out[0] = memory_record(origin, 0);
    return 1;
  }
  const uint32_t second = static_cast<uint32_t>(__builtin_ctz(rest));
  const int64_t difference = static_cast<int64_t>(address[second] - origin);
  const int64_t gap = static_cast<int64_t>(second - first);
  const int64_t stride = gap == 1 ? difference : difference / gap;
  const bool fits = stride * gap == difference && stride >= kMinStride && stride <= kMaxStride;
  const Spread spread = spread_of(mask, address, first, stride, fits);
  const uint64_t least = spread.least;
  if (spread.strided) {
    out[0] = memory_record(origin - static_cast<uint64_t>(stride * static_cast<int64_t>(first)),
                           static_cast<int>(stride));
    return 1;
  }
  if (mask == 0xffffffffu) {
    if (const uint64_t tile = find_tiles(address); tile != 0) {
      out[0] = memory_record(origin, kTiles);
      out[1] = tile;
      return 2;
    }
  }
  if (spread.most - least > 0xffffffffu) {
    uint32_t n = 1;
    out[0] = memory_record(least, kAddresses);
    for (uint32_t m = mask; m != 0; m &= m - 1) out[n++] = address[__builtin_ctz(m)];
    return n;
  }
  out[0] = memory_record(least, kDeltas);
  return 1 + write_distances(out + 1, mask, address, least);
}

}  // namespace nearwarp::trace
