// y = A x with A by rows: a warp goes along a row, a line of it per round, and adds up its lanes' sums.
// A block's warps share what they have in common: a tile of x after the other in shared memory.

constexpr int kBlock = 256;
constexpr int kTile = 1024;  // a multiple of 32, so that a lane keeps its columns

extern "C" __global__ void gemv(const float* a, const float* x, float* y, int rows, int columns) {
  __shared__ float tile[kTile];
  const int row = (blockIdx.x * kBlock + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  const float* data = a + static_cast<size_t>(row) * columns;
  float sum = 0.0f;
  for (int begin = 0; begin < columns; begin += kTile) {
    const int size = min(kTile, columns - begin);
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += kBlock) tile[i] = x[begin + i];
    __syncthreads();
    if (row < rows) {
      for (int i = lane; i < size; i += 32) sum += data[begin + i] * tile[i];
    }
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0 && row < rows) y[row] = sum;
}
