// Product of a sparse matrix in compressed rows and a vector, a thread per row.
extern "C" __global__ void spmv(const int* row_start, const int* columns, const float* values,
                                const float* x, float* y, int num_rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= num_rows) return;
  const int end = row_start[row + 1];
  float sum = 0.0f;
  for (int e = row_start[row]; e < end; ++e) sum += values[e] * x[columns[e]];
  y[row] = sum;
}
