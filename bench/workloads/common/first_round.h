// Index randomisation of restructured kernels, for the device and for the reference on the CPU.
#pragma once

#ifdef __CUDACC__
#define NW_WORKLOAD_BOTH __host__ __device__ __forceinline__
#else
#define NW_WORKLOAD_BOTH constexpr
#endif

namespace nearwarp::workloads {

/// Round in which a warp begins a loop of so many. Warps whose parts of an array are a multiple of
/// the L2's sets apart would otherwise all be at the same set (pim-tuning, section 3.2.2).
/// Fibonacci hashing: the multiplier is 2^32 over the golden ratio (Knuth, TAOCP 3, 6.4).
NW_WORKLOAD_BOTH unsigned first_round(unsigned warp, unsigned rounds) {
  return ((warp * 2654435769u) >> 12) % rounds;
}

}  // namespace nearwarp::workloads
