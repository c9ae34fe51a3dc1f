// Lane groups: the primitives against which what a device's warps do around components' steps is
// written.
//
// On a GPU the lanes of a warp go through them at the same time: WarpGroup. In an emulated device
// they are loops, in order (HostGroup) or in a scrambled one (ShuffledGroup), which must not show.
// Ownership: every word belongs to one lane (the i that each() hands out) or to the leader; nothing
// is read-modified-written by several lanes.
#pragma once

#include <cstdint>

#include "device/core/lanes.h"

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#endif

namespace nearwarp::kernels {

/// Lanes of a warp.
inline constexpr uint32_t kLanesOfGroup = 32;

/// One lane that does the work of all, one after the other.
struct HostGroup {
  /// f(i) for each i in [0, n); iterations must be independent.
  template <class F>
  NW_HD NW_INLINE void each(uint32_t n, F&& f) const {
    lanes::each(n, f);
  }
  /// Bit mask of the i in [0, n), n <= 64, for which pred(i).
  template <class F>
  NW_HD NW_INLINE uint64_t ballot(uint32_t n, F&& pred) const {
    return lanes::ballot(n, pred);
  }
  /// Minimum of the 32-bit key(i) over [0, n); 0xffffffff for n == 0.
  template <class F>
  NW_HD NW_INLINE uint32_t minimum(uint32_t n, F&& key) const {
    return lanes::minimum(n, key);
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
  /// Code that one lane alone runs (state that belongs to the leader).
  template <class F>
  NW_HD NW_INLINE void leader(F&& f) const {
    f();
  }
  /// Runs f in the leader alone, and every lane gets its result (an integer of at most 64 bits).
  template <class F>
  NW_HD NW_INLINE auto leader_value(F&& f) const {
    return f();
  }
  /// f(i) for each set bit i of `bits`, in any order: each by one lane alone, lanes at the
  /// same time where there are any.
  template <class F>
  NW_HD NW_INLINE void each_alone(uint64_t bits, F&& f) const {
    lanes::each_bit(bits, f);
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
  uint32_t minimum(uint32_t n, F&& key) const {
    uint32_t least = 0xffffffffu;
    each(n, [&](uint32_t i) {
      const uint32_t k = key(i);
      least = k < least ? k : least;
    });
    return least;
  }
  template <class F>
  uint64_t filter(uint64_t bits, F&& keep) const {
    uint64_t kept = 0;
    each_bit(bits, [&](uint32_t i) { kept |= static_cast<uint64_t>(keep(i) ? 1 : 0) << i; });
    return kept;
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
    each_bit(bits, f);
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
      if (bits >> i & 1) f(i);
    tile.sync();
  }
  __device__ __forceinline__ uint32_t least_of_lanes(uint32_t own) const {
    return cooperative_groups::reduce(tile, own, cooperative_groups::less<uint32_t>());
  }
  __device__ __forceinline__ void sync() const { tile.sync(); }
};
#endif

}  // namespace nearwarp::kernels
