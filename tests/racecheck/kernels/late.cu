// (sm_90a) Products of warp groups and bulk copies out of shared memory, waited for and not.
#include "tests/runtime/breadth/tiles.cuh"

namespace {

/// 64 by 8 numbers: a and b from shared memory, in rows of 128 bytes.
__device__ void product(float (&d)[4], unsigned a, unsigned b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(descriptor(a)), "l"(descriptor(b)));
}
/// a from registers.
__device__ void product(float (&d)[4], unsigned (&a)[4], unsigned b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, "
      "1, 1, 1, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor(b)));
}
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
__device__ void put(unsigned at, unsigned value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}
__device__ void fill(unsigned at, unsigned bytes) {
  for (unsigned i = threadIdx.x * 4; i < bytes; i += blockDim.x * 4) put(at + i, 0);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

enum Which {
  kFine,
  kFactorsTooEarly,   // before the wait
  kOtherGroupsStage,  // the stage of a product that was waited for, with one under way
  kNewestStage,       // the stage of the one under way
  kByAnotherGroup,    // after the wait of a group that has told nobody
  kToldByOneWarp,     // after the wait, and one of its warps has told
  kNotCommitted,
  kResultsTooEarly,
  kResultsAreCopied,
  kFactorsInRegisters,
  kFactorsAgain,  // the registers of a are multiplied by something else
};

/// Two warp groups; the first one multiplies.
template <Which kWhich>
__device__ void multiply(float* out) {
  __shared__ alignas(1024) unsigned char a[2][8192], b[2][1024];
  __shared__ alignas(8) unsigned long long told;
  const unsigned first = shared_at(a), second = shared_at(b), barrier = shared_at(&told);
  if (threadIdx.x == 0) begin(barrier, 1);
  fill(first, sizeof(a));
  fill(second, sizeof(b));
  if (threadIdx.x >= 128) {
    if (kWhich == kToldByOneWarp) wait(barrier, 0);
    if (kWhich == kToldByOneWarp || kWhich == kByAnotherGroup) {
      if (kWhich == kByAnotherGroup)
        for (int i = 0; i < 100; ++i) asm volatile("nanosleep.u32 100;");
      put(first + (threadIdx.x - 128) * 4, 1);
    }
    return;
  }
  float d[4] = {0, 0, 0, 0};
  unsigned held[4] = {threadIdx.x, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  if (kWhich == kFactorsInRegisters || kWhich == kFactorsAgain) {
    product(d, held, second);
    if (kWhich == kFactorsAgain) product(d, held, second + 1024);
    commit();
    if (kWhich == kFactorsInRegisters) asm volatile("add.u32 %0, %0, 1;" : "+r"(held[1]));
    wait_for_products<0>();
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3] + static_cast<float>(held[1]);
    return;
  }
  product(d, first, second);
  if (kWhich == kNotCommitted) {
    wait_for_products<0>();
    put(second, 1);
  }
  commit();
  if (kWhich == kFactorsTooEarly) put(second, 1);
  if (kWhich == kResultsTooEarly) asm volatile("add.f32 %0, %0, %0;" : "+f"(d[0]));
  if (kWhich == kResultsAreCopied) {
    float e[4];
    for (int i = 0; i < 4; ++i) asm volatile("mov.f32 %0, %1;" : "=f"(e[i]) : "f"(d[i]));
    product(e, first + 32, second + 32);
    commit();
    for (int i = 0; i < 4; ++i) asm volatile("mov.f32 %0, %1;" : "=f"(d[i]) : "f"(e[i]));
  }
  if (kWhich == kOtherGroupsStage || kWhich == kNewestStage) {
    product(d, first + 8192, second + 1024);
    commit();
    wait_for_products<1>();
    __syncwarp();
    const unsigned stage = kWhich == kNewestStage ? 1 : 0;
    if (threadIdx.x == 32) put(second + stage * 1024, 1);
  }
  wait_for_products<0>();
  if (kWhich == kFine && threadIdx.x == 96) put(second, 1);
  if (kWhich == kToldByOneWarp && threadIdx.x == 64) arrive(barrier);
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

}  // namespace

#define MULTIPLY(NAME, WHICH) \
  extern "C" __global__ void __launch_bounds__(256) NAME(float* out) { multiply<WHICH>(out); }
MULTIPLY(fine, kFine)
MULTIPLY(factors_too_early, kFactorsTooEarly)
MULTIPLY(other_groups_stage, kOtherGroupsStage)
MULTIPLY(newest_stage, kNewestStage)
MULTIPLY(by_another_group, kByAnotherGroup)
MULTIPLY(told_by_one_warp, kToldByOneWarp)
MULTIPLY(not_committed, kNotCommitted)
MULTIPLY(results_too_early, kResultsTooEarly)
MULTIPLY(results_are_copied, kResultsAreCopied)
MULTIPLY(factors_in_registers, kFactorsInRegisters)
MULTIPLY(factors_again, kFactorsAgain)

/// A line is stored by a bulk copy, and written again. `waits`: 0 not at all, 1 until it has been
/// read, 2 until it is over, 3 without having committed it; `all`: then other threads write it.
extern "C" __global__ void store(float* out, int waits, int all) {
  __shared__ alignas(128) unsigned char line[128];
  const unsigned at = shared_at(line);
  fill(at, sizeof(line));
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(out), "r"(at)
                 : "memory");
    if (waits != 3) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (waits == 1) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    if (waits >= 2) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  if (all) __syncthreads();
  if (threadIdx.x == (all ? 32 : 0)) put(at, 1);
}
