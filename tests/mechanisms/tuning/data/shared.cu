// Kernels whose loops use shared arrays: accumulators and tables that may go along with an offloaded
// warp, and what looks like them and is none.

constexpr int kBins = 256;
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * 32;

// A counter per value for each warp: a warp touches 1024 of 4096 bytes.
extern "C" __global__ void counts_of_warps(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned counts[kWarps * kBins];
  for (int i = threadIdx.x; i < kWarps * kBins; i += kThreads) counts[i] = 0;
  __syncthreads();
  unsigned* mine = counts + threadIdx.x / 32 * kBins;
  for (unsigned i = threadIdx.x; i < n; i += kThreads) atomicAdd(mine + (in[i] & 0xff), 1u);
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}

// One for the block.
extern "C" __global__ void counts_of_block(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned counts[kBins];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads) atomicAdd(counts + (in[i] >> 25), in[i]);
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}

// Without atomics: each thread has counters of its own.
extern "C" __global__ void counts_of_threads(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned counts[16 * kThreads];
  for (int k = 0; k < 16; ++k) counts[k * kThreads + threadIdx.x] = 0;
  for (unsigned i = threadIdx.x; i < n; i += kThreads)
    counts[(in[i] & 15) * kThreads + threadIdx.x] += in[i] >> 4;
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}

// Bits that were seen.
extern "C" __global__ void bits_seen(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned bits[64];
  if (threadIdx.x < 64) bits[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads)
    atomicOr(bits + (in[i] >> 5 & 63), 1u << (in[i] & 31));
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = bits[threadIdx.x];
}

// A table of which every warp may read anything.
extern "C" __global__ void looks_up(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned table[kBins];
  table[threadIdx.x] = in[threadIdx.x] * 3;
  table[threadIdx.x + kThreads] = in[threadIdx.x] * 5;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += kThreads) sum += table[in[i] & 0xff];
  out[threadIdx.x] = sum;
}

// --- near misses ---

// Zero is not what a minimum begins with.
extern "C" __global__ void minima(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned least[kBins];
  least[threadIdx.x] = ~0u;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads) atomicMin(least + (in[i] & 127), in[i]);
  __syncthreads();
  out[threadIdx.x] = least[threadIdx.x];
}

// The value before each addition is read.
extern "C" __global__ void tickets(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned next[kBins];
  next[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads) out[i] = atomicAdd(next + (in[i] & 127), 1u);
}

// The sum is read beside the update.
extern "C" __global__ void saturates(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned counts[16 * kThreads];
  for (int k = 0; k < 16; ++k) counts[k * kThreads + threadIdx.x] = 0;
  for (unsigned i = threadIdx.x; i < n; i += kThreads) {
    unsigned* one = counts + (in[i] & 15) * kThreads + threadIdx.x;
    if (*one < 100) *one += in[i] >> 4;
  }
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}

// Sums of floating-point numbers depend on the order.
extern "C" __global__ void float_sums(const float* in, float* out, unsigned n) {
  __shared__ float sums[kBins];
  sums[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads)
    atomicAdd(sums + (__float_as_uint(in[i]) & 127), in[i]);
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x];
}

// Two operations on one array.
extern "C" __global__ void adds_and_flips(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned values[kBins];
  values[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads) {
    atomicAdd(values + (in[i] & 127), 1u);
    atomicXor(values + (in[i] >> 7 & 127), in[i]);
  }
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

// Two arrays.
extern "C" __global__ void two_arrays(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned counts[kBins], sums[kBins];
  counts[threadIdx.x] = sums[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads) {
    atomicAdd(counts + (in[i] & 127), 1u);
    atomicAdd(sums + (in[i] & 127), in[i]);
  }
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x] + sums[threadIdx.x];
}

// A table that is written, too.
extern "C" __global__ void replaces(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned last[16 * kThreads];
  for (int k = 0; k < 16; ++k) last[k * kThreads + threadIdx.x] = 0;
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += kThreads) {
    unsigned* one = last + (in[i] & 15) * kThreads + threadIdx.x;
    sum += *one;
    *one = in[i];
  }
  out[threadIdx.x] = sum;
}

// Its size is the launch's.
extern "C" __global__ void dynamic_counts(const unsigned* in, unsigned* out, unsigned n) {
  extern __shared__ unsigned counts[];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += kThreads) atomicAdd(counts + (in[i] & 127), 1u);
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x];
}

// Others may change it while it is read.
extern "C" __global__ void volatile_table(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ volatile unsigned table[kBins];
  table[threadIdx.x] = in[threadIdx.x] * 3;
  __syncthreads();
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += kThreads) sum += table[in[i] & 127];
  out[threadIdx.x] = sum;
}
