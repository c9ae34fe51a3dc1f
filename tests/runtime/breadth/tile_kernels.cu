// Kernels in the shape that is written for tiles: a producer and consumers, clusters (sm_90a).
#include <cstdint>

#include "tests/runtime/breadth/tiles.cuh"

namespace {

constexpr int kRows = 128, kColumns = 128, kRowBytes = 128, kStages = 4;  // of a tile; of its parts
constexpr int kPart = kRows * kRowBytes;

enum class Kind { kF16, kBF16, kE4M3 };

#define R4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
#define PRODUCT(TYPES, TAIL)                                                              \
  asm volatile(                                                                           \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"                                        \
      "wgmma.mma_async.sync.aligned." TYPES                                               \
      " {"                                                                                \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "            \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, " \
      "%64, %65, p, 1, 1" TAIL ";\n}"                                                     \
      : R16(0), R16(16), R16(32), R16(48)                                                 \
      : "l"(a), "l"(b), "r"(add))

template <Kind kKind>
__device__ void product(float (&d)[64], unsigned long long a, unsigned long long b, int add) {
  if constexpr (kKind == Kind::kF16) PRODUCT("m64n128k16.f32.f16.f16", ", 0, 0");
  if constexpr (kKind == Kind::kBF16) PRODUCT("m64n128k16.f32.bf16.bf16", ", 0, 0");
  if constexpr (kKind == Kind::kE4M3) PRODUCT("m64n128k32.f32.e4m3.e4m3", "");
}

/// c = a b^T, a and b by rows of numbers of 8 or 16 bits. A block makes 128 by 128 numbers of c.
/// Its first warp group fetches parts of 128 bytes of the rows of a and b into a ring of stages;
/// two others multiply half of the rows each. Of clusters of 2 by 2 blocks, those that want the
/// same rows fetch half of them each, for both.
template <Kind kKind, bool kTogether = false>
__device__ void gemm(const Map* map_a, const Map* map_b, float* c, int columns, int parts) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ alignas(8) unsigned long long full[kStages], empty[kStages];
  constexpr int kNumbers = kKind == Kind::kE4M3 ? 128 : 64;  // of a part
  const unsigned first = shared_at(stages);
  const int group = threadIdx.x / 128;
  const unsigned x = blockIdx.x % 2, y = blockIdx.y % 2, rank = x + 2 * y;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      begin(shared_at(&full[s]), 1);
      begin(shared_at(&empty[s]), kTogether ? 3 * 2 : 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if constexpr (kTogether) meet_cluster();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      asm volatile("prefetch.tensormap [%0];" ::"l"(map_a));
      for (int part = 0; part < parts; ++part) {
        const int s = part % kStages;
        if (part >= kStages) wait(shared_at(&empty[s]), (part / kStages - 1) & 1);
        const unsigned barrier = shared_at(&full[s]), to = first + s * 2 * kPart;
        expect(barrier, 2 * kPart);
        if constexpr (kTogether) {
          load(to + x * kPart / 2, map_a, part * kNumbers, blockIdx.y * kRows + x * kRows / 2,
               barrier, 3 << 2 * y);
          load(to + kPart + y * kPart / 2, map_b, part * kNumbers,
               blockIdx.x * kColumns + y * kColumns / 2, barrier, 5 << x);
        } else {
          load(to, map_a, part * kNumbers, blockIdx.y * kRows, barrier);
          load(to + kPart, map_b, part * kNumbers, blockIdx.x * kColumns, barrier);
        }
      }
    }
    if constexpr (kTogether) {
      __syncwarp();
      meet_cluster();
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[64];
  for (int i = 0; i < 64; ++i) d[i] = 0;
  for (int part = 0; part < parts; ++part) {
    const int s = part % kStages;
    wait(shared_at(&full[s]), part / kStages & 1);
    const unsigned from = first + s * 2 * kPart;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < kRowBytes; k += 32)
      product<kKind>(d, descriptor(from + (group - 1) * 64 * kRowBytes + k),
                     descriptor(from + kPart + k), part > 0 || k > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (threadIdx.x % 128 == 0) {
      arrive(shared_at(&empty[s]));
      if constexpr (kTogether) {
        arrive(shared_at(&empty[s]), rank ^ 1);
        arrive(shared_at(&empty[s]), rank ^ 2);
      }
    }
  }
  if constexpr (kTogether) meet_cluster();
  const int thread = threadIdx.x % 128;
  const int row = blockIdx.y * kRows + (group - 1) * 64 + thread / 32 * 16 + thread % 32 / 4;
  for (int i = 0; i < 64; ++i)
    c[(row + 8 * (i / 2 % 2)) * columns + blockIdx.x * kColumns + thread % 4 * 2 + i % 2 +
      i / 4 * 8] = d[i];
}

}  // namespace

extern "C" __global__ void __launch_bounds__(384)
    gemm_f16(const __grid_constant__ Map a, const __grid_constant__ Map b, float* c, int columns,
             int parts) {
  gemm<Kind::kF16>(&a, &b, c, columns, parts);
}
extern "C" __global__ void __cluster_dims__(2, 2, 1) __launch_bounds__(384)
    gemm_together(const __grid_constant__ Map a, const __grid_constant__ Map b, float* c,
                  int columns, int parts) {
  gemm<Kind::kF16, true>(&a, &b, c, columns, parts);
}
extern "C" __global__ void __launch_bounds__(384)
    gemm_bf16(const __grid_constant__ Map a, const __grid_constant__ Map b, float* c, int columns,
              int parts) {
  gemm<Kind::kBF16>(&a, &b, c, columns, parts);
}
extern "C" __global__ void __launch_bounds__(384)
    gemm_e4m3(const __grid_constant__ Map a, const __grid_constant__ Map b, float* c, int columns,
              int parts) {
  gemm<Kind::kE4M3>(&a, &b, c, columns, parts);
}

/// Each cluster sums its share of the input: blocks sum theirs, and the first one reads the sums of
/// the others out of their shared memory.
extern "C" __global__ void __cluster_dims__(4, 1, 1)
    cluster_sum(const int* in, int count, long long* out) {
  __shared__ long long sums[8];
  __shared__ long long sum;
  unsigned rank, blocks, cluster;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
  long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    mine += in[i];
  for (int distance = 16; distance > 0; distance /= 2)
    mine += __shfl_down_sync(~0u, mine, distance);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) sum += sums[w];
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  if (rank == 0 && threadIdx.x == 0) {
    long long all = 0;
    for (unsigned other = 0; other < blocks; ++other) {
      unsigned there;
      long long theirs;
      asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_at(&sum)), "r"(other));
      asm volatile("ld.shared::cluster.s64 %0, [%1];" : "=l"(theirs) : "r"(there) : "memory");
      all += theirs;
    }
    out[cluster] = all;
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/// Five points of a plane: a box with its rim comes as one copy, in which what lies beyond the
/// plane is 0, and the result goes back as one. `early`: what the box has is used before it is
/// there.
extern "C" __global__ void stencil(const __grid_constant__ Map in, const __grid_constant__ Map out,
                                   int early) {
  __shared__ alignas(128) float box[18][36];
  __shared__ alignas(128) float result[16][32];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned b = shared_at(&barrier);
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  if (threadIdx.x == 0) {
    begin(b, 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
    expect(b, sizeof(box));
    load(shared_at(box), &in, x0 - 1, y0 - 1, b);
  }
  __syncthreads();
  if (!early) wait(b, 0);
  for (int i = threadIdx.x; i < 512; i += blockDim.x) {
    const int x = i % 32, y = i / 32;
    result[y][x] = box[y + 1][x + 1] * 0.5f +
                   (box[y][x + 1] + box[y + 2][x + 1] + box[y + 1][x] + box[y + 1][x + 2]) * 0.125f;
  }
  if (early) wait(b, 0);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out),
        "r"(x0), "r"(y0), "r"(shared_at(result))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
