// y = A x with A by rows: a warp goes along a row, a line of it per round, and adds up its lanes' sums.
extern "C" __global__ void gemv(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* data = a + static_cast<size_t>(row) * columns;
  float sum = 0.0f;
  for (int i = lane; i < columns; i += 32) sum += data[i] * x[i];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) y[row] = sum;
}
