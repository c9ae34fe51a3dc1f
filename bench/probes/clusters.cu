// Probe programs for GPUs with clusters (sm_90): chases through another block's shared memory.
#define EIGHT(step) step step step step step step step step

__device__ __forceinline__ int next_of(unsigned at, int p) {
  int next;
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(next) : "r"(at + 4 * p));
  return next;
}
__device__ __forceinline__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
                   "memory");
}
__device__ __forceinline__ unsigned begin(int (&next)[32]) {
  for (int i = 0; i < 32; ++i) next[i] = (i + 1) % 32;
  meet();
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, 1;"
      : "=r"(at)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(next))));
  return at;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) chase_distributed(int rounds, int *out) {
  __shared__ int next[32];
  const unsigned at = begin(next);
  int p = 0;
  if (blockIdx.x == 0) {
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) {
      EIGHT(p = next_of(at, p);)
    }
    *out = p;
  }
  meet();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) chase_distributed_16(int rounds, int *out) {
  __shared__ int next[32];
  const unsigned at = begin(next);
  int p = 0;
  if (blockIdx.x == 0) {
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) {
      EIGHT(p = next_of(at, p); p = next_of(at, p);)
    }
    *out = p;
  }
  meet();
}
