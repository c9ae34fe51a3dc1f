// x1 += A y1, x2 += A^T y2, after PolyBench-GPU's MVT: a thread per row, then a thread per column.
// The sums grow in global memory: nothing says that the arrays do not overlap, so every round
// stores.

extern "C" __global__ void mvt_rows(const float* a, float* x1, const float* y1, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < n; ++j) x1[i] += a[i * n + j] * y1[j];
}

extern "C" __global__ void mvt_columns(const float* a, float* x2, const float* y2, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < n; ++j) x2[i] += a[j * n + i] * y2[j];
}
