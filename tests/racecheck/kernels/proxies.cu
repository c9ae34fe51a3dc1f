// (sm_90a) Bulk copies and products of what threads have written, with fences and without.
#include "tests/runtime/breadth/tiles.cuh"

namespace {

__device__ void put(unsigned at, unsigned value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}
__device__ void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void copy_in(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ void copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace

/// A line is written by 32 threads and stored by a bulk copy of one of another warp. `fences`: 0
/// none, 1 each thread behind its write, 2 the thread that stores, 3 each thread before its write,
/// 4 as 1 but for global memory alone, 5 as 1 for all memory.
extern "C" __global__ void store_written(float* out, int fences) {
  __shared__ alignas(128) unsigned char line[128];
  const unsigned at = shared_at(line);
  if (threadIdx.x < 32) {
    if (fences == 3) fence_shared();
    put(at + threadIdx.x * 4, threadIdx.x);
    if (fences == 1) fence_shared();
    if (fences == 4) asm volatile("fence.proxy.async.global;" ::: "memory");
    if (fences == 5) asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    if (fences == 2) fence_shared();
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(out),
        "r"(at)
        : "memory");
  }
}

/// Factors are copied by cp.async, or written by a warp that tells an mbarrier so (`told`); then
/// they are multiplied. `fences`: 0 none, 1 behind the copies, or the writes, 2 before them.
extern "C" __global__ void __launch_bounds__(256)
    multiply_written(const unsigned* in, float* out, int told, int fences) {
  __shared__ alignas(1024) unsigned char a[8192], b[1024];
  __shared__ alignas(8) unsigned long long full;
  const unsigned first = shared_at(a), second = shared_at(b), barrier = shared_at(&full);
  if (threadIdx.x == 0) begin(barrier, 128);
  __syncthreads();
  if (threadIdx.x >= 128) {
    const unsigned thread = threadIdx.x - 128;
    if (fences == 2) fence_shared();
    for (unsigned i = thread * 16; i < 8192 + 1024; i += 128 * 16) {
      const unsigned to = i < 8192 ? first + i : second + i - 8192;
      if (!told)
        copy_in(to, in + i / 4);
      else
        for (unsigned j = 0; j < 16; j += 4) put(to + j, 0);
    }
    if (!told) copies_done();
    if (fences == 1) fence_shared();
    if (told) arrive(barrier);
  }
  if (!told) __syncthreads();
  if (threadIdx.x >= 128) return;
  if (told) wait(barrier, 0);
  float d[4] = {0, 0, 0, 0};
  fence_products();
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(descriptor(first)), "l"(descriptor(second))
      : "memory");
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}

namespace {

enum class Which {
  kFine,
  kNoneAtAll,
  kFirstOnly,    ///< sums are scaled, and added to without another fence
  kScaled,       ///< as that, with the fence
  kTooEarly,     ///< a factor is computed behind the fence
  kMovedFactor,  ///< as that, and then copied
  kConstant,     ///< a sum is put to 0 behind the fence
};

#define SUMS "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
template <Which kWhich>
__device__ void multiply(float* out) {
  __shared__ alignas(1024) unsigned char b[1024];
  for (unsigned i = threadIdx.x * 4; i < 1024; i += 512) put(shared_at(b) + i, 0);
  fence_shared();
  __syncthreads();
  float d[4];
  unsigned a[4];
  for (int i = 0; i < 4; ++i)
    asm volatile("cvt.rn.f32.u32 %0, %1;" : "=f"(d[i]) : "r"(threadIdx.x + i));
  for (int i = 0; i < 4; ++i)
    asm volatile("add.u32 %0, %1, %2;" : "=r"(a[i]) : "r"(threadIdx.x), "r"(i));
  const auto product = [&] {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, "
        "1, 1, 1, 0;"
        : SUMS
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor(shared_at(b))));
  };
  const auto done = [] {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  };
  if (kWhich != Which::kNoneAtAll) fence_products();
  if (kWhich == Which::kTooEarly) asm volatile("xor.b32 %0, %0, 1;" : "+r"(a[2]));
  if (kWhich == Which::kMovedFactor) {
    unsigned other;
    asm volatile("xor.b32 %0, %1, 1;" : "=r"(other) : "r"(a[2]));
    asm volatile("mov.b32 %0, %1;" : "=r"(a[2]) : "r"(other));
  }
  if (kWhich == Which::kConstant) asm volatile("mov.f32 %0, 0f00000000;" : "=f"(d[1]));
  product();
  product();
  done();
  if (kWhich == Which::kFirstOnly || kWhich == Which::kScaled) {
    asm volatile("mul.f32 %0, %0, 0f40000000;" : "+f"(d[3]));
    if (kWhich == Which::kScaled) fence_products();
    product();
    done();
  }
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}

}  // namespace

#define MULTIPLY(NAME, WHICH) \
  extern "C" __global__ void __launch_bounds__(128) NAME(float* out) { multiply<Which::WHICH>(out); }
MULTIPLY(fine, kFine)
MULTIPLY(none_at_all, kNoneAtAll)
MULTIPLY(first_only, kFirstOnly)
MULTIPLY(scaled, kScaled)
MULTIPLY(too_early, kTooEarly)
MULTIPLY(moved_factor, kMovedFactor)
MULTIPLY(constant, kConstant)
