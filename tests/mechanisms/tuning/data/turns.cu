// Loops in which threads take elements of an array in turns: what can be restructured, and what must
// not be.

// All threads of the grid.
extern "C" __global__ void squares(const unsigned* in, unsigned* out, unsigned n) {
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = in[i] * in[i];
}

// In place, with a signed index and a number for the block's size.
extern "C" __global__ void halves(float* data, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 64 * gridDim.x) data[i] = data[i] * 0.5f;
}

// The threads of a block, and a branch in the loop.
extern "C" __global__ void odd_of_block(const unsigned* in, unsigned* counts, unsigned n) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    const unsigned v = in[i];
    if (v & 1) atomicAdd(counts + (v >> 1 & 63), 1u);
  }
}

// Counters of the block, in shared memory, of its own part of the array.
extern "C" __global__ void counts_of_block(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned counts[64];
  if (threadIdx.x < 64) counts[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(counts + (in[i] & 63), 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(out + threadIdx.x, counts[threadIdx.x]);
}

// Sums of threads, whichever elements they have.
extern "C" __global__ void sum_of_all(const unsigned* in, unsigned* out, unsigned n) {
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += in[i];
  atomicAdd(out, sum);
}

// --- must not be ---

extern "C" __global__ void float_sum(const float* in, float* out, unsigned n) {
  float sum = 0;
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += in[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Every round reads what the one before has written.
extern "C" __global__ void shifts(unsigned* data, unsigned n) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) data[i + 1] = data[i];
}

extern "C" __global__ void who_was_it(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned thread = threadIdx.x;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i] + thread;
}

extern "C" __global__ void last_index(const unsigned* in, unsigned* out, unsigned n) {
  unsigned i = threadIdx.x;
#pragma unroll 1
  for (; i < n; i += blockDim.x) atomicAdd(out, in[i]);
  out[1 + threadIdx.x] = i;
}

extern "C" __global__ void other_step(const unsigned* in, unsigned* out, unsigned n) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += 2 * blockDim.x) out[i] = in[i];
}

extern "C" __global__ void waits(const unsigned* in, unsigned* out, unsigned n) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    out[i] = in[i];
    __syncthreads();
  }
}

extern "C" __global__ void stops(const unsigned* in, unsigned* out, unsigned n) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    if (in[i] == 0) break;
    out[i] = in[i];
  }
}

// A thread reads behind the loop what it has written in it.
extern "C" __global__ void reads_back(const unsigned* in, unsigned* out, unsigned n) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i] + 1;
  out[threadIdx.x] = out[threadIdx.x] * 2;
}

// Every thread takes one, whether or not there is one.
extern "C" __global__ void at_least_once(const unsigned* in, unsigned* out, unsigned n) {
  unsigned i = threadIdx.x;
#pragma unroll 1
  do {
    atomicAdd(out, in[i]);
    i += blockDim.x;
  } while (i < n);
}
