// Kernels with known races, each beside the same without: argument `fixed` chooses (a template, so
// that each has code of its own).

// A tile is transposed; without the barrier, warps read what others have not written yet.
template <bool kFixed>
__device__ void transpose(float* out, const float* in) {
  __shared__ float tile[32][33];
  for (int j = threadIdx.y; j < 32; j += blockDim.y)
    tile[j][threadIdx.x] = in[j * 32 + threadIdx.x];
  if (kFixed) __syncthreads();
  for (int j = threadIdx.y; j < 32; j += blockDim.y)
    out[j * 32 + threadIdx.x] = tile[threadIdx.x][j];
}
extern "C" __global__ void transpose_race(float* out, const float* in) {
  transpose<false>(out, in);
}
extern "C" __global__ void transpose_clean(float* out, const float* in) {
  transpose<true>(out, in);
}

// A tree in shared memory; without the barrier in the loop, steps overtake each other.
template <bool kFixed>
__device__ void reduce(int* out, const int* in) {
  __shared__ int sums[256];
  const unsigned t = threadIdx.x;
  sums[t] = in[t];
  __syncthreads();
  for (unsigned s = 128; s > 0; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    if (kFixed) __syncthreads();
  }
  if (t == 0) *out = sums[0];
}
extern "C" __global__ void reduce_race(int* out, const int* in) { reduce<false>(out, in); }
extern "C" __global__ void reduce_clean(int* out, const int* in) { reduce<true>(out, in); }

// One warp alone: its lanes must wait for one another too.
template <bool kFixed>
__device__ void reduce_warp(int* out, const int* in) {
  __shared__ int sums[64];
  const unsigned t = threadIdx.x;
  sums[t] = in[t];
  sums[t + 32] = in[t + 32];
  if (kFixed) __syncwarp();
#pragma unroll
  for (unsigned s = 32; s > 0; s /= 2) {
    const int sum = t < s ? sums[t] + sums[t + s] : 0;
    if (kFixed) __syncwarp();
    if (t < s) sums[t] = sum;
    if (kFixed) __syncwarp();
  }
  if (t == 0) *out = sums[0];
}
extern "C" __global__ void warp_race(int* out, const int* in) { reduce_warp<false>(out, in); }
extern "C" __global__ void warp_clean(int* out, const int* in) { reduce_warp<true>(out, in); }

// The last block adds up what the others left: their writes must be visible first.
template <int kFence>  // 0 none, 1 of the block, 2 of the device
__device__ void last_block(int* out, int* partial, unsigned* done, const int* in) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    if (kFence == 1) __threadfence_block();
    if (kFence == 2) __threadfence();
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int sum = 0;
#pragma unroll 1
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
  *out = sum;
}
extern "C" __global__ void last_block_race(int* out, int* partial, unsigned* done, const int* in) {
  last_block<0>(out, partial, done, in);
}
extern "C" __global__ void last_block_narrow(int* out, int* partial, unsigned* done,
                                             const int* in) {
  last_block<1>(out, partial, done, in);
}
extern "C" __global__ void last_block_clean(int* out, int* partial, unsigned* done, const int* in) {
  last_block<2>(out, partial, done, in);
}

// All threads write; one tells, after a barrier - or without it.
template <bool kFixed>
__device__ void tell_for_all(int* data, int* flag, int* out) {
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = static_cast<int>(t);
    __threadfence();
    if (kFixed) __syncthreads();
    if (t == 0) atomicExch(flag, 1);
  } else {
    if (t == 0)
      while (atomicAdd(flag, 0) == 0) {
      }
    __syncthreads();
    out[t] = data[blockDim.x - 1 - t];
  }
}
extern "C" __global__ void tell_race(int* data, int* flag, int* out) {
  tell_for_all<false>(data, flag, out);
}
extern "C" __global__ void tell_clean(int* data, int* flag, int* out) {
  tell_for_all<true>(data, flag, out);
}

// Blocks count values in one table.
extern "C" __global__ void histogram_race(int* bins, const int* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  ++bins[in[i]];
}
extern "C" __global__ void histogram_clean(int* bins, const int* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&bins[in[i]], 1);
}

// Neighbours in words of four bytes: no race, though the words are shared.
extern "C" __global__ void bytes_clean(char* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<char>(threadIdx.x);
}
extern "C" __global__ void bytes_race(char* out) {
  out[threadIdx.x + blockIdx.x] = static_cast<char>(blockIdx.x);
}

// All set the same flag to the same value, or to different ones.
extern "C" __global__ void flag_same(int* flag, const int* in) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] >= 0) *flag = 7;
}
extern "C" __global__ void flag_different(int* flag) { *flag = static_cast<int>(threadIdx.x); }

// Two buffers in turn: one barrier a step suffices; with one buffer it does not.
template <int kBuffers>
__device__ void buffers(int* out, const int* in, int steps) {
  __shared__ int tile[2][128];
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (int s = 0; s < steps; ++s) {
    int* const now = tile[s % kBuffers];
    now[t] = in[s * 128 + static_cast<int>(t)];
    __syncthreads();
    sum += now[127 - t];
  }
  out[t] = sum;
}
extern "C" __global__ void buffers_race(int* out, const int* in, int steps) {
  buffers<1>(out, in, steps);
}
extern "C" __global__ void buffers_clean(int* out, const int* in, int steps) {
  buffers<2>(out, in, steps);
}

// Warps hand over through named barriers: the producer arrives, the consumer waits.
template <bool kFixed>
__device__ void named(int* out) {
  __shared__ int data[32];
  const unsigned t = threadIdx.x;
  if (t < 32) {
    data[t] = static_cast<int>(t);
    if (kFixed)
      asm volatile("barrier.cta.arrive 1, 64;" ::: "memory");
    else
      asm volatile("barrier.cta.arrive 2, 64;" ::: "memory");
  } else {
    if (kFixed) asm volatile("barrier.cta.sync 1, 64;" ::: "memory");
    out[t - 32] = data[63 - t];
  }
}
extern "C" __global__ void named_race(int* out) { named<false>(out); }
extern "C" __global__ void named_clean(int* out) { named<true>(out); }

// A flag between the warps of a block: released and acquired, or written as any variable.
template <bool kFixed>
__device__ void flag_in_block(int* out) {
  __shared__ int data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&flag));
  if (threadIdx.x == 0) {
    data = out[1];
    if (kFixed)
      asm volatile("st.release.cta.shared.s32 [%0], 1;" ::"r"(at) : "memory");
    else
      asm volatile("st.relaxed.cta.shared.s32 [%0], 1;" ::"r"(at) : "memory");
  } else if (threadIdx.x == 32) {
    int ready = 0;
    while (ready == 0)
      asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(ready) : "r"(at) : "memory");
    *out = data;
  }
}
extern "C" __global__ void flag_race(int* out) { flag_in_block<false>(out); }
extern "C" __global__ void flag_clean(int* out) { flag_in_block<true>(out); }

// Prefix sums by decoupled look-back: each block adds what the block before it has published.
template <bool kFixed>
__device__ void look_back(int* status, int* sums, int* out, const int* in) {
  __shared__ int before;
  const unsigned b = blockIdx.x;
  if (threadIdx.x == 0) {
    int sum = 0;
    if (b != 0) {
      while (*static_cast<volatile int*>(status + b - 1) == 0) {
      }
      __threadfence();
      sum = sums[b - 1];
    }
    before = sum;
    sums[b] = sum + in[b];
    if (kFixed) __threadfence();
    *static_cast<volatile int*>(status + b) = 1;
  }
  __syncthreads();
  out[b * blockDim.x + threadIdx.x] = before + static_cast<int>(threadIdx.x);
}
extern "C" __global__ void look_back_race(int* status, int* sums, int* out, const int* in) {
  look_back<false>(status, sums, out, in);
}
extern "C" __global__ void look_back_clean(int* status, int* sums, int* out, const int* in) {
  look_back<true>(status, sums, out, in);
}

// Each block overwrites what the block before it has read: it must wait until that is done. That
// a block has read needs no fence.
template <bool kFixed>
__device__ void in_place(volatile int* status, int* data) {
  const unsigned b = blockIdx.x, t = threadIdx.x;
  const int v = data[b * blockDim.x + t];
  __syncthreads();
  if (t == 0) {
    if (kFixed && b != 0)
      while (status[b - 1] == 0) {
      }
    status[b] = 1;
  }
  __syncthreads();
  if (b != 0) data[(b - 1) * blockDim.x + t] = v;
}
extern "C" __global__ void in_place_race(int* status, int* data) { in_place<false>(status, data); }
extern "C" __global__ void in_place_clean(int* status, int* data) { in_place<true>(status, data); }

// All lanes of a warp keep a count in one place: the same values, but each reads before it writes.
template <bool kFixed>
__device__ void together(int* out, int steps) {
  __shared__ int count;
  count = steps;
  for (int s = 0; s < steps; ++s) {
    asm volatile("" ::: "memory");  // it stays in memory
    const int now = count;
    if (kFixed) __syncwarp();
    count = now + 1;
    if (kFixed) __syncwarp();
  }
  asm volatile("" ::: "memory");
  out[threadIdx.x] = count;
}
extern "C" __global__ void together_race(int* out, int steps) { together<false>(out, steps); }
extern "C" __global__ void together_clean(int* out, int steps) { together<true>(out, steps); }
