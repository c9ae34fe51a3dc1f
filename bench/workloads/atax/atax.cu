// y = A^T (A x), after PolyBench-GPU's ATAX: a thread per row, then a thread per column. The sums
// grow in global memory: nothing says that the arrays do not overlap, so every round stores.

extern "C" __global__ void atax_rows(const float* a, const float* x, float* tmp, int rows,
                                     int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  for (int j = 0; j < columns; ++j) tmp[i] += a[i * columns + j] * x[j];
}

extern "C" __global__ void atax_columns(const float* a, const float* tmp, float* y, int rows,
                                        int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  for (int i = 0; i < rows; ++i) y[j] += a[i * columns + j] * tmp[i];
}
