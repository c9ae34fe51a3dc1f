// (sm_80) Barriers and masks that are misused, and what looks like it and is not; reads of what nobody wrote.

#include <cstdio>

extern "C" {

// --- Barriers ------------------------------------------------------------------------------------

// The halves of a warp have a barrier each.
__global__ void two_barriers(int* o) {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncthreads();
  o[threadIdx.x] = 1;
}

// 8 lanes of each warp come.
__global__ void part_comes(int* o) {
  if (threadIdx.x % 32 < 8) __syncthreads();
  o[threadIdx.x] = 1;
}

// One lane after the other comes to the same one.
__global__ void one_by_one(int* o) {
  for (int i = 0; i < 4; ++i) {
    if (i == threadIdx.x) __syncthreads();
    o[i * 32 + threadIdx.x] = 1;
  }
}

// Each of two warps has a barrier of its own.
__global__ void warps_differ(int* o) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
  o[threadIdx.x] = 1;
}

// Each of two warps has a barrier of the form that need not be the same instruction.
__global__ void warps_differ_unaligned(int* o) {
  if (threadIdx.x < 32)
    asm volatile("barrier.sync 0;" ::: "memory");
  else
    asm volatile("barrier.sync 0;" ::: "memory");
  o[threadIdx.x] = 1;
}

// Each of two warps has a barrier for a number of threads, as warps with roles of their own have it.
__global__ void warps_differ_counted(int* o) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1, 64;" ::: "memory");
  o[threadIdx.x] = 1;
}

// A producer that does not wait, and a consumer that does.
__global__ void arrive_and_sync(int* o) {
  if (threadIdx.x < 32) {
    o[threadIdx.x] = 1;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    o[threadIdx.x] = o[threadIdx.x - 32];
  }
}

// The second warp does not come, and goes on.
__global__ void passes_by(int* o) {
  if (threadIdx.x < 32) __syncthreads();
  o[threadIdx.x] = 1;
}

// Warps have different numbers of iterations, each with a barrier.
__global__ void leaves_early(int* o) {
#pragma unroll 1
  for (int i = threadIdx.x / 32; i < 2; ++i)
    __syncthreads();
  o[threadIdx.x] = 1;
}

// Threads that have ended are not waited for.
__global__ void early_return(int* o, int n) {
  __shared__ int s[128];
  const int i = threadIdx.x;
  if (i >= n) return;
  s[i] = i;
  __syncthreads();
  o[i] = s[n - 1 - i];
}

__global__ void early_return_loop(int* o, int n) {
  __shared__ int s[128];
  const int i = threadIdx.x;
  if (i >= n) return;
  int v = 0;
  for (int k = 0; k < 3; ++k) {
    s[i] = v + i;
    __syncthreads();
    v += s[n - 1 - i];
    __syncthreads();
  }
  o[i] = v;
}

// Where the ways of the lanes meet only at the end, they come to the barrier one after the other.
__global__ void early_return_nested(int* o, int n) {
  __shared__ int s[128];
  const int i = threadIdx.x;
  if (i >= 16) {
    if (i >= n) return;
    s[i] = 1;
  } else {
    s[i] = 2;
  }
  __syncthreads();
  o[i] = s[i];
}

// --- Masks ---------------------------------------------------------------------------------------

__global__ void not_in_mask(int* o) {
  int v = 0;
  if (threadIdx.x >= 16) v = __shfl_sync(0xffffu, threadIdx.x, 3);
  o[threadIdx.x] = v;
}

__global__ void outside_mask(int* o) {
  int v = threadIdx.x;
  if (threadIdx.x < 16) v = __shfl_down_sync(0xffffu, v, 8);
  o[threadIdx.x] = v;
}

// Lanes of 20, from the fifth on, read lanes that have ended, as far as there are any.
__global__ void nobody_there(int* o) {
  if (threadIdx.x >= 20) return;
  o[threadIdx.x] = __shfl_down_sync(~0u, threadIdx.x, 16);
}

// Half of the lanes that the mask names come.
__global__ void half_comes(int* o, int what) {
  int v = threadIdx.x;
  if (threadIdx.x < 16) {
    if (what == 0) v = __shfl_sync(~0u, v, 0);
    if (what == 1) v = __any_sync(~0u, v);
    if (what == 2) v = __match_any_sync(~0u, v);
    if (what == 3) v = __reduce_add_sync(~0u, v);
    if (what == 4) __syncwarp();
  }
  o[threadIdx.x] = v;
}

// The other half has the same with another instruction: enough to wait, not to exchange anything.
__global__ void halves_apart(int* o, int what) {
  int v = threadIdx.x;
  if (threadIdx.x < 16) {
    if (what == 0) v = __shfl_sync(~0u, v, 0);
    if (what == 1) __syncwarp();
    o[32] = 1;
  } else {
    if (what == 0) v = __shfl_sync(~0u, v, 16) + 1;
    if (what == 1) __syncwarp();
    o[33] = 1;
  }
  o[threadIdx.x] = v;
}

// Lanes of one instruction do not agree.
__global__ void masks_differ(int* o) {
  const unsigned mask = threadIdx.x < 16 ? ~0u : 0xffff0000u;
  o[threadIdx.x] = __shfl_sync(mask, threadIdx.x, threadIdx.x);
}

__global__ void early_return_shuffle(int* o, int n) {
  if (threadIdx.x >= n) return;
  o[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
}

__global__ void ballot_shuffle(int* o, int n) {
  const int i = threadIdx.x;
  const unsigned mask = __ballot_sync(~0u, i < n);
  if (i < n)
    o[i] = __shfl_sync(mask, i, 0) + __popc(__match_any_sync(mask, i & 1)) + __any_sync(mask, i);
}

// Tiles of 8 lanes, every other of which does more.
__global__ void tiles(int* o) {
  const unsigned mask = 0xffu << (threadIdx.x & 24);
  int v = threadIdx.x;
  if (threadIdx.x & 8) v += __shfl_down_sync(mask, v, 1, 8);
  for (int step = 4; step > 0; step /= 2) v += __shfl_xor_sync(mask, v, step);
  o[threadIdx.x] = v;
}

// Four copies of a line, and another line.
__global__ void unrolled(int* o) {
  int v = threadIdx.x;
  if (threadIdx.x < 16) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      v += __shfl_sync(0xffffu, v, 20 + i);
    v += __shfl_sync(0xffffu, v, 30);
  }
  o[threadIdx.x] = v;
}

// Four copies of a race.
__global__ void unrolled_race(int* o) {
  __shared__ int s[4 * 64];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    s[i * 64 + threadIdx.x] = threadIdx.x;
  int v = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    v += s[i * 64 + (threadIdx.x ^ 32)];
  o[threadIdx.x] = v;
}

// --- What nobody wrote ---------------------------------------------------------------------------

__global__ void unwritten_shared(int* o) {
  __shared__ int s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
}

__global__ void copy_ints(int* o, const int* p) { o[threadIdx.x] = p[threadIdx.x]; }
__global__ void copy_vectors(int4* o, const int4* p) { o[threadIdx.x] = p[threadIdx.x]; }
__global__ void write_bytes(char* p) { p[4 * threadIdx.x] = 1; }
__global__ void count_up(int* p) { atomicAdd(p + threadIdx.x / 2, 1); }
__global__ void exchange(int* o, int* p, bool look) {
  if (look)
    o[threadIdx.x] = atomicExch(p + threadIdx.x, 1);
  else
    atomicExch(p + threadIdx.x, 1);
}

__device__ int zeros[32];
__constant__ int constants[32] = {1, 2};
__global__ void variables(int* o) {
  o[threadIdx.x] = zeros[threadIdx.x] + constants[threadIdx.x];
}

__global__ void heap(int* o, bool writes) {
  int* const p = static_cast<int*>(malloc(16 * sizeof(int)));
  for (int i = 0; writes && i < 16; ++i) p[i] = i;
  o[threadIdx.x] = p[threadIdx.x % 16];
  free(p);
}

__global__ void async_copy(int* o, const int* p) {
  __shared__ int s[32];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(s + threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(p + threadIdx.x));
  asm volatile("cp.async.wait_all;" ::: "memory");
  o[threadIdx.x] = s[threadIdx.x];
}

__global__ void mbarrier(unsigned long long* o, bool prepared) {
  __shared__ unsigned long long word;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&word));
  if (prepared && threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at));
  __syncthreads();
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(o[threadIdx.x]) : "r"(at) : "memory");
}

__global__ void prints(int* o) { printf("%d %s\n", o[threadIdx.x], "words"); }

// --- Matrices in shared memory ---------------------------------------------------------------------

// Each lane writes the row whose address it gives; others get most of it.
__global__ void rows_of_matrices(int* o, bool with_barrier) {
  __shared__ int4 rows[32];
  rows[threadIdx.x] = make_int4(threadIdx.x, 1, 2, 3);
  if (with_barrier) __syncwarp();
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(rows + threadIdx.x));
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(at)
               : "memory");
  o[threadIdx.x] = a + b + c + d;
}

}  // extern "C"
