// Attention in the shape that is written for Hopper (sm_90a): a warp group fetches tiles of keys and
// values by tensor copies, and two others multiply them with their queries, with a softmax between the
// products that keeps the largest score so far.
#include <cuda_fp16.h>

#include <cstdint>

#include "tests/runtime/breadth/tiles.cuh"

namespace {

constexpr int kWidth = 64, kKeys = 64, kQueries = 128, kStages = 2;  // of a head; of a tile
constexpr int kTile = kKeys * kWidth * 2, kQueryTile = kQueries * kWidth * 2;  // bytes

#define R4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
#define SUMS                                                                             \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "    \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "

/// 64 queries by 64 keys, both in shared memory.
__device__ void scores(float (&d)[32], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " SUMS "%32, %33, p, 1, 1, 0, 0;\n}"
      : R16(0), R16(16)
      : "l"(a), "l"(b), "r"(add));
}
/// 64 rows of weights, in registers, by 64 columns of values.
__device__ void mix(float (&d)[32], const unsigned (&a)[4], unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " SUMS
      "{%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
      : R16(0), R16(16)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void finish() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__device__ float power_of_2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ unsigned packed(float low, float high) {
  const __half2 h = __floats2half2_rn(low, high);
  unsigned bits;
  memcpy(&bits, &h, sizeof(bits));
  return bits;
}

}  // namespace

/// out = softmax(scale q k^T) v of one head in blocks of 128 queries; values lie by columns, so that
/// those of a column follow one another. `scale` is that of exponents of 2.
extern "C" __global__ void __launch_bounds__(384)
    attention(const __grid_constant__ Map q, const __grid_constant__ Map k,
              const __grid_constant__ Map v, float* out, int tiles, float scale) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ alignas(8) unsigned long long full[kStages], empty[kStages], queries;
  const unsigned first = shared_at(memory), stages = first + kQueryTile;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      begin(shared_at(&full[s]), 1);
      begin(shared_at(&empty[s]), 2);
    }
    begin(shared_at(&queries), 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      expect(shared_at(&queries), kQueryTile);
      load(first, &q, 0, blockIdx.x * kQueries, shared_at(&queries));
      for (int t = 0; t < tiles; ++t) {
        const int s = t % kStages;
        if (t >= kStages) wait(shared_at(&empty[s]), (t / kStages - 1) & 1);
        const unsigned barrier = shared_at(&full[s]), to = stages + s * 2 * kTile;
        expect(barrier, 2 * kTile);
        load(to, &k, 0, t * kKeys, barrier);
        load(to + kTile, &v, t * kKeys, 0, barrier);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const unsigned own = first + (group - 1) * kQueryTile / 2;
  float sums[32], largest[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};
  for (float& x : sums) x = 0;
  wait(shared_at(&queries), 0);
  for (int t = 0; t < tiles; ++t) {
    const int s = t % kStages;
    wait(shared_at(&full[s]), t / kStages & 1);
    const unsigned from = stages + s * 2 * kTile;
    float score[32];
    for (float& x : score) x = 0;
    fence();
    for (int i = 0; i < 4; ++i)
      scores(score, descriptor(own + 32 * i), descriptor(from + 32 * i), i > 0);
    finish();
    // A thread has two rows, eight apart; four threads share them.
    for (int row = 0; row < 2; ++row) {
      float most = largest[row];
      for (int i = 0; i < 16; ++i) most = fmaxf(most, score[i / 2 * 4 + row * 2 + i % 2]);
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      const float shrink = power_of_2((largest[row] - most) * scale);
      largest[row] = most;
      total[row] *= shrink;
      for (int i = 0; i < 16; ++i) {
        const int at = i / 2 * 4 + row * 2 + i % 2;
        score[at] = power_of_2((score[at] - most) * scale);
        total[row] += score[at];
        sums[at] *= shrink;
      }
    }
    unsigned weights[4][4];
    for (int i = 0; i < 16; ++i) {
      weights[i / 4][i % 4] = packed(score[2 * i], score[2 * i + 1]);
      asm volatile("" : "+r"(weights[i / 4][i % 4]));  // packed by now, not behind the fence
    }
    fence();
    for (int i = 0; i < 4; ++i) mix(sums, weights[i], descriptor(from + kTile + 32 * i));
    finish();
    if (threadIdx.x % 128 == 0) arrive(shared_at(&empty[s]));
  }
  const int thread = threadIdx.x % 128;
  for (int row = 0; row < 2; ++row) {
    total[row] += __shfl_xor_sync(~0u, total[row], 1);
    total[row] += __shfl_xor_sync(~0u, total[row], 2);
    const int query = blockIdx.x * kQueries + (group - 1) * 64 + thread / 32 * 16 +
                      thread % 32 / 4 + 8 * row;
    for (int i = 0; i < 16; ++i)
      out[query * kWidth + i / 2 * 8 + thread % 4 * 2 + i % 2] =
          sums[i / 2 * 4 + row * 2 + i % 2] / total[row];
  }
}
