// Programs for Hopper: products of warp groups with pruned weights.
#include <cuda_fp16.h>

#include "tests/suite/program.h"

using namespace suite;

namespace {

constexpr int kRows = 128, kColumns = 64, kInner = 256;  // of weights; of activations; what is summed over
constexpr int kTile = 128;                               // of kInner: 64 weights that are there, 128 bytes

__device__ unsigned shared_at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

/// Rows of 128 bytes, swizzled by 128.
__device__ unsigned long long descriptor(unsigned at) {
  return (at & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define R4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
template <int kSelector>
__device__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b, unsigned where) {
  asm volatile(
      "wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, %34, %35, 1, "
      "1, 1, 0, 0;"
      : R16(0), R16(16)
      : "l"(a), "l"(b), "r"(where), "n"(kSelector));
}

/// 64 rows of `to` a block. weights: of each row the half that is there. places: for 16 of kInner, 4 times 4 bits that say
/// which two of four are.
__global__ void __launch_bounds__(128) pruned_product(const __half* weights, const unsigned short* places,
                                                      const __half* activations, float* to) {
  __shared__ __align__(1024) unsigned char a[64 * 128], b[2][kColumns * 128];
  const int row = blockIdx.x * 64, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float d[32] = {};
  for (int k = 0; k < kInner; k += kTile) {
    for (int i = threadIdx.x; i < 64 * 8; i += 128) {
      const int r = i / 8, piece = i % 8;
      *reinterpret_cast<uint4*>(a + r * 128 + (piece ^ r % 8) * 16) =
          *reinterpret_cast<const uint4*>(weights + (row + r) * (kInner / 2) + k / 2 + piece * 8);
    }
    for (int i = threadIdx.x; i < kColumns * 16; i += 128) {
      const int r = i / 16, piece = i % 16;
      *reinterpret_cast<uint4*>(b[piece / 8] + r * 128 + (piece % 8 ^ r % 8) * 16) =
          *reinterpret_cast<const uint4*>(activations + r * kInner + k + piece * 8);
    }
    // Two of four threads say where the weights of one step are, the other two of the next: the selector picks them.
    unsigned where[2];
    for (int s = 0; s < 2; ++s) {
      const unsigned short* const p =
          places + (row + warp * 16 + lane / 4) * (kInner / 16) + k / 16 + s * 4 + lane / 2 % 2 * 2 + lane % 2;
      where[s] = p[0] | p[8 * (kInner / 16)] << 16;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      multiply<0>(d, descriptor(shared_at(a) + s * 64), descriptor(shared_at(b[s])), where[s]);
      multiply<1>(d, descriptor(shared_at(a) + s * 64 + 32), descriptor(shared_at(b[s]) + 64), where[s]);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  for (int e = 0; e < 32; ++e)
    to[(row + warp * 16 + lane / 4 + e / 2 % 2 * 8) * kColumns + lane % 4 * 2 + e % 2 + e / 4 * 8] = d[e];
}

}  // namespace

/// The two largest of every four weights are kept; the product is compared with that of the pruned matrix.
PROGRAM(pruned_weights) {
  const std::vector<float> w = numbers(kRows * kInner, 3), x = numbers(kColumns * kInner, 4);
  std::vector<__half> weights, activations;
  std::vector<unsigned short> places(kRows * kInner / 16);
  std::vector<float> pruned(kRows * kInner), want(kRows * kColumns);
  for (const float v : x) activations.push_back(__float2half(v - 0.5f));
  for (int q = 0; q < kRows * kInner / 4; ++q) {
    int first = 0, second = 1;
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j)
        if (std::fabs(w[4 * q + i] - 0.5f) + std::fabs(w[4 * q + j] - 0.5f) >
            std::fabs(w[4 * q + first] - 0.5f) + std::fabs(w[4 * q + second] - 0.5f))
          first = i, second = j;
    for (const int i : {first, second}) {
      weights.push_back(__float2half(w[4 * q + i] - 0.5f));
      pruned[4 * q + i] = __half2float(weights.back());
    }
    places[q / 4] |= static_cast<unsigned short>((first | second << 2) << q % 4 * 4);
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int k = 0; k < kInner; ++k) sum += double(pruned[i * kInner + k]) * __half2float(activations[j * kInner + k]);
      want[i * kColumns + j] = float(sum);
    }
  float* const to = device<float>(kRows * kColumns);
  pruned_product<<<kRows / 64, 128>>>(upload(weights), upload(places), upload(activations), to);
  return compare("product", download(to, kRows * kColumns), want, 1e-5);
}
