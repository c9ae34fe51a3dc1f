// out[row][lane] = sum of what a lane reads of its row: each warp streams a row, a line per round.
extern "C" __global__ void row_sum(const int* matrix, int* out, int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const int* data = matrix + static_cast<size_t>(row) * columns;
  int sum = 0;
  for (int i = lane; i < columns; i += 32) sum += data[i];
  out[row * 32 + lane] = sum;
}
