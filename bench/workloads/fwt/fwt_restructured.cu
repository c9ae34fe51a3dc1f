// FWT whose loop over all elements, the multiplication in the middle, takes consecutive elements for
// each warp, begun in different rounds (pim-tuning, section 3.2). Elements do not meet there: nothing
// is laid out anew. The other kernels are those of fwt.cu.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

constexpr int kBlock = 256;
constexpr int kMaxSegment = 2048;

namespace {

// Two radix-2 steps at once, of distance 2 * stride and stride.
__device__ __forceinline__ void butterfly(float* data, int at, int stride) {
  const float x0 = data[at], x1 = data[at + stride];
  const float x2 = data[at + 2 * stride], x3 = data[at + 3 * stride];
  const float a0 = x0 + x2, a1 = x1 + x3, a2 = x0 - x2, a3 = x1 - x3;
  data[at] = a0 + a1;
  data[at + stride] = a0 - a1;
  data[at + 2 * stride] = a2 + a3;
  data[at + 3 * stride] = a2 - a3;
}

// First element of butterfly number `i` of a step.
__device__ __forceinline__ int first_of(int i, int stride) {
  const int low = i & (stride - 1);
  return ((i - low) << 2) + low;
}

}  // namespace

extern "C" __global__ void fwt_global(float* data, int stride, int num_butterflies) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < num_butterflies) butterfly(data, first_of(i, stride), stride);
}

// All remaining steps of a segment of 2^log2_segment elements per block.
extern "C" __global__ void fwt_shared(float* data, int log2_segment) {
  __shared__ float segment[kMaxSegment];
  const int size = 1 << log2_segment;
  float* mine = data + blockIdx.x * size;
  for (int i = threadIdx.x; i < size; i += kBlock) segment[i] = mine[i];
  int stride = size >> 2;
  for (; stride > 0; stride >>= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < size / 4; i += kBlock)
      butterfly(segment, first_of(i, stride), stride);
  }
  __syncthreads();
  if (log2_segment & 1) {
    for (int i = threadIdx.x; i < size / 2; i += kBlock) {
      const float x = segment[2 * i], y = segment[2 * i + 1];
      segment[2 * i] = x + y;
      segment[2 * i + 1] = x - y;
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < size; i += kBlock) mine[i] = segment[i];
}

// The number of elements is a multiple of the number of threads.
extern "C" __global__ void fwt_modulate_consecutive(float* data, const float* kernel, unsigned n,
                                                    float scale) {
  const unsigned rounds = n / (blockDim.x * gridDim.x);
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const unsigned begin = warp * rounds * 32 + threadIdx.x % 32;
  unsigned at = first_round(warp, rounds);
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned i = begin + at * 32;
    data[i] *= kernel[i] * scale;
    at = at + 1 < rounds ? at + 1 : 0;
  }
}
