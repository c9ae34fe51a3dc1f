// Kernels that stream through arrays with one simple operation each: what LLC-Compute and
// Omni-Compute offload. A. Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA
// 2019, table 3; TRIAD after SHOC.

extern "C" __global__ void copy_array(const float* a, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i];
}

extern "C" __global__ void add_arrays(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void normalize(const float* a, float* c, float scale, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] * scale;
}

extern "C" __global__ void triad(const float* a, const float* b, float* c, float s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + s * b[i];
}

// How many elements of two strings differ, per thread; the caller adds up.
extern "C" __global__ void compare_strings(const unsigned* a, const unsigned* b, unsigned* counts,
                                           int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = gridDim.x * blockDim.x;
  unsigned count = 0;
#pragma unroll 1
  for (int i = first; i < n; i += step) count += a[i] != b[i] ? 1 : 0;
  counts[first] = count;
}

// How many elements are zero.
extern "C" __global__ void count_zeros(const unsigned* a, unsigned* counts, int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = gridDim.x * blockDim.x;
  unsigned count = 0;
#pragma unroll 1
  for (int i = first; i < n; i += step) count += a[i] == 0 ? 1 : 0;
  counts[first] = count;
}
