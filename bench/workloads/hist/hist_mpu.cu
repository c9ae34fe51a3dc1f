// Histogram of the low bytes of words, counters of each block in shared memory: for cores below banks of their
// own (bench/workloads/common/mpu_layout.h). partial[half][block][128 bins].

constexpr int kThreads = 128;

extern "C" __global__ void hist_mpu(const unsigned* words, unsigned* partial, int n) {
  __shared__ unsigned counts[2][kThreads];
  counts[0][threadIdx.x] = counts[1][threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 4
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
    atomicAdd(&counts[0][0] + (words[i] & 0xff), 1u);
  __syncthreads();
#pragma unroll
  for (int half = 0; half < 2; ++half)
    partial[(half * gridDim.x + blockIdx.x) * kThreads + threadIdx.x] = counts[half][threadIdx.x];
}

// A block per half of the bins.
extern "C" __global__ void hist_merge_mpu(const unsigned* partial, unsigned* histogram, int blocks) {
  unsigned sum = 0;
#pragma unroll 8
  for (int b = 0; b < blocks; ++b)
    sum += partial[(blockIdx.x * blocks + b) * kThreads + threadIdx.x];
  histogram[blockIdx.x * kThreads + threadIdx.x] = sum;
}
