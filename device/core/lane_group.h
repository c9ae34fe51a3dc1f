// Lane groups: the primitives against which every component's step function is written.
//
// On the CPU, and in a lane of a GPU, which steps a component by itself, the primitives are loops;
// the CPU's compiler turns them into vector code. Ownership: every word belongs to one lane (the i
// that each() hands out) or to the leader; nothing is read-modified-written by several lanes. A
// loop cannot notice a breach, so tests use ShuffledGroup, which visits lanes in a scrambled order.
// What a warp of a GPU does around the steps is written against the same primitives: WarpGroup.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/core/macros.h"

#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif
#if defined(__CUDACC__)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#endif

namespace nearwarp {

NW_HD inline uint32_t count_trailing_zeros(uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__ffsll(static_cast<long long>(bits)) - 1);
#else
  return static_cast<uint32_t>(__builtin_ctzll(bits));
#endif
}
NW_HD inline uint32_t count_leading_zeros(uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__clzll(static_cast<long long>(bits)));
#else
  return static_cast<uint32_t>(__builtin_clzll(bits));
#endif
}
NW_HD inline uint32_t population_count(uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__popcll(bits));
#else
  return static_cast<uint32_t>(__builtin_popcountll(bits));
#endif
}
/// The lowest `n` bits set, n in [0, 64].
NW_HD constexpr uint64_t low_bits(uint32_t n) {
  return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

/// The same in 32 bits, n in [0, 32].
NW_HD constexpr uint32_t low_bits32(uint32_t n) {
  return static_cast<uint32_t>((uint64_t{1} << n) - 1);
}
/// Are two bits set, or more?
NW_HD constexpr bool has_several(uint64_t bits) { return (bits & (bits - 1)) != 0; }

inline constexpr uint32_t kLanesOfGroup = 32;
inline constexpr uint32_t kNoLane = 0xffffffffu;

/// The CPU's group: lanes are loop iterations, vectorised by `omp simd` where that helps. In device
/// code it is a thread that works alone.
struct HostGroup {
  /// f(i) for each i in [0, n); iterations must be independent.
  template <class F>
  NW_HD NW_INLINE void each(uint32_t n, F&& f) const {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#else
#pragma omp simd
#endif
    for (uint32_t i = 0; i < n; ++i) f(i);
  }
  /// f(i) for each i in [0, n), in any order, with bodies that branch or call.
  template <class F>
  NW_HD NW_INLINE void each_scalar(uint32_t n, F&& f) const {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (uint32_t i = 0; i < n; ++i) f(i);
  }
  /// f(i) for each i in [0, n) whose flag is 1 and not 0, in any order. `flags` is readable up to
  /// the next multiple of 8.
  template <class F>
  NW_HD NW_INLINE void each_flagged(const uint8_t* flags, uint32_t n, F&& f) const {
    for (uint32_t at = 0; at < n; at += 8) {
      uint64_t eight;
      memcpy(&eight, flags + at, 8);
      if (n - at < 8) eight &= low_bits((n - at) * 8);
      for (; eight != 0; eight &= eight - 1) f(at + count_trailing_zeros(eight) / 8);
    }
  }
  /// f(i) for each set bit i of `bits`.
  template <class F>
  NW_HD NW_INLINE void each_bit(uint64_t bits, F&& f) const {
    for (; bits != 0; bits &= bits - 1) f(count_trailing_zeros(bits));
  }
  /// Bit mask of the i in [0, n), n <= 64, for which pred(i).
  template <class F>
  NW_HD NW_INLINE uint64_t ballot(uint32_t n, F&& pred) const {
#if defined(__AVX2__) && !defined(__CUDACC__)
    // Compilers do not find the instruction that gathers eight lanes' bits.
    uint64_t all = 0;
    uint32_t at = 0;
    for (; at + 8 <= n; at += 8) {
      alignas(32) uint32_t eight[8];
#pragma omp simd
      for (uint32_t i = 0; i < 8; ++i) eight[i] = pred(at + i) ? 0xffffffffu : 0;
      const __m256 lanes = _mm256_load_ps(reinterpret_cast<const float*>(eight));
      all |= uint64_t{static_cast<uint32_t>(_mm256_movemask_ps(lanes))} << at;
    }
    if (at + 4 <= n) {
      alignas(16) uint32_t four[4];
#pragma omp simd
      for (uint32_t i = 0; i < 4; ++i) four[i] = pred(at + i) ? 0xffffffffu : 0;
      const __m128 lanes = _mm_load_ps(reinterpret_cast<const float*>(four));
      all |= uint64_t{static_cast<uint32_t>(_mm_movemask_ps(lanes))} << at;
      at += 4;
    }
    for (; at < n; ++at) all |= uint64_t{static_cast<bool>(pred(at))} << at;
    return all;
#else
    uint64_t bits = 0;
    uint32_t low = 0, high = 0;
    const uint32_t n_low = n < 32 ? n : 32;
#pragma omp simd reduction(| : low)
    for (uint32_t i = 0; i < n_low; ++i) low |= static_cast<uint32_t>(pred(i)) << i;
    bits = low;
    if (n > 32) {
#pragma omp simd reduction(| : high)
      for (uint32_t i = 32; i < n; ++i) high |= static_cast<uint32_t>(pred(i)) << (i - 32);
      bits |= uint64_t{high} << 32;
    }
    return bits;
#endif
  }
  /// Some i in [0, n) satisfies pred(i)?
  template <class F>
  NW_HD NW_INLINE bool any(uint32_t n, F&& pred) const {
    uint32_t found = 0;
#pragma omp simd reduction(| : found)
    for (uint32_t i = 0; i < n; ++i) found |= static_cast<uint32_t>(pred(i));
    return found != 0;
  }
  /// Least i in [0, n) for which pred(i); kNoLane if there is none.
  template <class F>
  NW_HD NW_INLINE uint32_t first(uint32_t n, F&& pred) const {
    for (uint32_t at = 0; at < n; at += 64) {
      const uint32_t m = n - at < 64 ? n - at : 64;
      const uint64_t bits = ballot(m, [&](uint32_t i) { return pred(at + i); });
      if (bits != 0) return at + count_trailing_zeros(bits);
    }
    return kNoLane;
  }
  /// Minimum of the 32-bit key(i) over [0, n); 0xffffffff for n == 0.
  template <class F>
  NW_HD NW_INLINE uint32_t minimum(uint32_t n, F&& key) const {
    uint32_t least = 0xffffffffu;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#else
#pragma omp simd reduction(min : least)
#endif
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t k = key(i);
      least = k < least ? k : least;
    }
    return least;
  }
  /// Least i with the minimal key over [0, n); kNoLane for n == 0 or if every key is 0xffffffff.
  template <class F>
  NW_HD NW_INLINE uint32_t arg_min(uint32_t n, F&& key) const {
    const uint32_t least = minimum(n, key);
    if (least == 0xffffffffu) return kNoLane;
    return first(n, [&](uint32_t i) { return key(i) == least; });
  }
  /// Least set bit of `bits` with the minimal key; kNoLane if bits == 0.
  template <class F>
  NW_HD NW_INLINE uint32_t arg_min_bits(uint64_t bits, F&& key) const {
    uint32_t best = kNoLane, least = 0xffffffffu;
    for (uint64_t b = bits; b != 0; b &= b - 1) {
      const uint32_t i = count_trailing_zeros(b);
      const uint32_t k = key(i);
      if (best == kNoLane || k < least) {
        best = i;
        least = k;
      }
    }
    return best;
  }
  /// The bits of `bits` for which keep(i); keep may change what lane i owns.
  template <class F>
  NW_HD NW_INLINE uint64_t filter(uint64_t bits, F&& keep) const {
    uint64_t kept = 0;
    for (uint64_t b = bits; b != 0; b &= b - 1) {
      const uint32_t i = count_trailing_zeros(b);
      kept |= static_cast<uint64_t>(keep(i) ? 1 : 0) << i;
    }
    return kept;
  }
  /// out(i, sum of value(j) for j < i) for i in [0, n); returns the sum of all.
  template <class V, class F>
  NW_HD NW_INLINE uint32_t exclusive_scan(uint32_t n, V&& value, F&& out) const {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t v = value(i);
      out(i, sum);
      sum += v;
    }
    return sum;
  }
  /// Code that one lane alone runs (state that belongs to the leader).
  template <class F>
  NW_HD NW_INLINE void leader(F&& f) const {
    f();
  }
  /// The same, and every lane gets what it returns (an integer of at most 64 bits).
  template <class F>
  NW_HD NW_INLINE auto leader_value(F&& f) const {
    return f();
  }
  /// f(a group, i) for each set bit i of `bits`, in any order: each by one lane alone, lanes at the
  /// same time where there are any.
  template <class F>
  NW_HD NW_INLINE void each_alone(uint64_t bits, F&& f) const {
    for (; bits != 0; bits &= bits - 1) f(*this, count_trailing_zeros(bits));
  }
  /// The least of what the lanes have.
  NW_HD NW_INLINE uint32_t least_of_lanes(uint32_t own) const { return own; }
  /// Make earlier writes of any lane visible to every lane.
  NW_HD NW_INLINE void sync() const {}
};

/// HostGroup with the lanes visited in a scrambled order, to catch breaches of ownership.
struct ShuffledGroup {
  uint32_t seed = 1;

  NW_INLINE uint32_t pick(uint32_t i, uint32_t n) const {
    // An affine walk: odd stride, coprime with n after adjustment by reflection.
    return seed % 2 == 0 ? n - 1 - i : (i + seed % n) % n;
  }
  template <class F>
  void each(uint32_t n, F&& f) const {
    for (uint32_t i = 0; i < n; ++i) f(pick(i, n));
  }
  template <class F>
  void each_scalar(uint32_t n, F&& f) const {
    each(n, f);
  }
  template <class F>
  void each_flagged(const uint8_t* flags, uint32_t n, F&& f) const {
    each(n, [&](uint32_t i) {
      if (flags[i] != 0) f(i);
    });
  }
  template <class F>
  void each_bit(uint64_t bits, F&& f) const {
    uint32_t order[64];
    uint32_t n = 0;
    for (; bits != 0; bits &= bits - 1) order[n++] = count_trailing_zeros(bits);
    for (uint32_t i = 0; i < n; ++i) f(order[pick(i, n)]);
  }
  template <class F>
  uint64_t ballot(uint32_t n, F&& pred) const {
    uint64_t bits = 0;
    each(n, [&](uint32_t i) { bits |= static_cast<uint64_t>(pred(i) ? 1 : 0) << i; });
    return bits;
  }
  template <class F>
  bool any(uint32_t n, F&& pred) const {
    bool found = false;
    each(n, [&](uint32_t i) { found |= static_cast<bool>(pred(i)); });
    return found;
  }
  template <class F>
  uint32_t first(uint32_t n, F&& pred) const {
    uint32_t least = kNoLane;
    each(n, [&](uint32_t i) {
      if (pred(i) && i < least) least = i;
    });
    return least;
  }
  template <class F>
  uint32_t minimum(uint32_t n, F&& key) const {
    uint32_t least = 0xffffffffu;
    each(n, [&](uint32_t i) {
      const uint32_t k = key(i);
      least = k < least ? k : least;
    });
    return least;
  }
  template <class F>
  uint32_t arg_min(uint32_t n, F&& key) const {
    const uint32_t least = minimum(n, key);
    if (least == 0xffffffffu) return kNoLane;
    return first(n, [&](uint32_t i) { return key(i) == least; });
  }
  template <class F>
  uint32_t arg_min_bits(uint64_t bits, F&& key) const {
    uint32_t best = kNoLane, least = 0xffffffffu;
    each_bit(bits, [&](uint32_t i) {
      const uint32_t k = key(i);
      if (best == kNoLane || k < least || (k == least && i < best)) {
        best = i;
        least = k;
      }
    });
    return best;
  }
  template <class F>
  uint64_t filter(uint64_t bits, F&& keep) const {
    uint64_t kept = 0;
    each_bit(bits, [&](uint32_t i) { kept |= static_cast<uint64_t>(keep(i) ? 1 : 0) << i; });
    return kept;
  }
  template <class V, class F>
  uint32_t exclusive_scan(uint32_t n, V&& value, F&& out) const {
    uint32_t values[64] = {};
    each(n, [&](uint32_t i) { values[i] = value(i); });
    uint32_t before[64] = {};
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
      before[i] = sum;
      sum += values[i];
    }
    each(n, [&](uint32_t i) { out(i, before[i]); });
    return sum;
  }
  template <class F>
  void leader(F&& f) const {
    f();
  }
  template <class F>
  auto leader_value(F&& f) const {
    return f();
  }
  template <class F>
  void each_alone(uint64_t bits, F&& f) const {
    each_bit(bits, [&](uint32_t i) { f(*this, i); });
  }
  uint32_t least_of_lanes(uint32_t own) const { return own; }
  void sync() const {}
};

#if defined(__CUDACC__)
/// 32 lanes of a CUDA warp: what a warp does around its components' steps.
struct WarpGroup {
  cooperative_groups::thread_block_tile<32> tile;

  template <class F>
  __device__ __forceinline__ void each(uint32_t n, F&& f) const {
    for (uint32_t i = tile.thread_rank(); i < n; i += 32) f(i);
    tile.sync();
  }
  template <class F>
  __device__ __forceinline__ uint64_t ballot(uint32_t n, F&& pred) const {
    const uint32_t rank = tile.thread_rank();
    const uint64_t low = tile.ballot(rank < n && pred(rank));
    const uint64_t high = n > 32 ? tile.ballot(rank + 32 < n && pred(rank + 32)) : 0;
    return low | high << 32;
  }
  template <class F>
  __device__ __forceinline__ uint64_t filter(uint64_t bits, F&& keep) const {
    const uint32_t rank = tile.thread_rank();
    const auto kept = [&](uint32_t i) { return (bits >> i & 1) != 0 && keep(i); };
    const uint64_t low = tile.ballot(kept(rank));
    const uint64_t high = bits >> 32 != 0 ? tile.ballot(kept(rank + 32)) : 0;
    return low | high << 32;
  }
  template <class F>
  __device__ __forceinline__ uint32_t minimum(uint32_t n, F&& key) const {
    uint32_t least = 0xffffffffu;
    for (uint32_t i = tile.thread_rank(); i < n; i += 32) {
      const uint32_t k = key(i);
      least = k < least ? k : least;
    }
    return least_of_lanes(least);
  }
  template <class F>
  __device__ __forceinline__ void leader(F&& f) const {
    tile.sync();  // what the other lanes have read so far is read before the leader changes it
    if (tile.thread_rank() == 0) f();
    tile.sync();
  }
  template <class F>
  __device__ __forceinline__ auto leader_value(F&& f) const {
    tile.sync();  // as in leader()
    decltype(f()) value{};
    if (tile.thread_rank() == 0) value = f();
    tile.sync();  // shuffles do not order memory
    return tile.shfl(value, 0);
  }
  template <class F>
  __device__ __forceinline__ void each_alone(uint64_t bits, F&& f) const {
#pragma unroll 1
    for (uint32_t i = tile.thread_rank(); i < 64; i += 32)
      if (bits >> i & 1) f(HostGroup{}, i);
    tile.sync();
  }
  __device__ __forceinline__ uint32_t least_of_lanes(uint32_t own) const {
    return cooperative_groups::reduce(tile, own, cooperative_groups::less<uint32_t>());
  }
  __device__ __forceinline__ void sync() const { tile.sync(); }
};
#endif

}  // namespace nearwarp
