// Fast Walsh-Hadamard transform with the launches of the CUDA SDK's fastWalshTransform: a thread of
// the shared-memory kernel does one radix-4 butterfly per step, and where the kernels read and where
// they write are parameters of their own (the sample gives the same array for both).

namespace {

// The four elements of a butterfly, in place: steps of distance 2 and 1 of their order.
struct Four {
  float a, b, c, d;
};

__device__ __forceinline__ Four transformed(const Four& x) {
  const float ac = x.a + x.c, bd = x.b + x.d, a_c = x.a - x.c, b_d = x.b - x.d;
  return {ac + bd, ac - bd, a_c + b_d, a_c - b_d};
}

__device__ __forceinline__ int first_of(int thread, int stride) {
  const int low = thread & (stride - 1);
  return (thread - low) * 4 + low;
}

}  // namespace

// One radix-4 step over the whole array, a butterfly per thread.
extern "C" __global__ void fwt_original_global(float* out, const float* in, int stride) {
  const int i = first_of(blockIdx.x * blockDim.x + threadIdx.x, stride);
  const Four y =
      transformed({in[i], in[i + stride], in[i + 2 * stride], in[i + 3 * stride]});
  out[i] = y.a;
  out[i + stride] = y.b;
  out[i + 2 * stride] = y.c;
  out[i + 3 * stride] = y.d;
}

// All remaining steps of a segment of 2^log2_segment elements, by a block of a fourth as many threads.
extern "C" __global__ void fwt_original_shared(float* out, const float* in, int log2_segment) {
  extern __shared__ float segment[];
  const int size = 1 << log2_segment;
  const int base = blockIdx.x << log2_segment;
  for (int i = threadIdx.x; i < size; i += blockDim.x) segment[i] = in[base + i];
  for (int stride = size / 4; stride > 0; stride /= 4) {
    const int i = first_of(threadIdx.x, stride);
    __syncthreads();
    const Four y = transformed(
        {segment[i], segment[i + stride], segment[i + 2 * stride], segment[i + 3 * stride]});
    segment[i] = y.a;
    segment[i + stride] = y.b;
    segment[i + 2 * stride] = y.c;
    segment[i + 3 * stride] = y.d;
  }
  if (log2_segment & 1) {
    __syncthreads();
    for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
      const float x = segment[2 * i], y = segment[2 * i + 1];
      segment[2 * i] = x + y;
      segment[2 * i + 1] = x - y;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += blockDim.x) out[base + i] = segment[i];
}

extern "C" __global__ void fwt_original_modulate(float* data, const float* kernel, int n) {
  const float scale = 1.0f / static_cast<float>(n);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    data[i] *= kernel[i] * scale;
}
