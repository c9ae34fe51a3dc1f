// 3 x 3 convolution of tiles of 32 x 32, each for itself with zeros around it, that lie in slices: for cores
// below banks of their own (bench/workloads/common/mpu_layout.h). Weights are in shared memory.

constexpr int kTile = 32;
constexpr int kRows = 4;  // of a slice
constexpr int kThreads = kTile * kRows;
constexpr int kSide = kTile + 2;

extern "C" __global__ void conv_mpu(const float* maps, const float* weights, float* out, int tiles) {
  __shared__ float tile[kSide][kSide], w[9];
  const int column = threadIdx.x % kTile, row = threadIdx.x / kTile;
  if (threadIdx.x < 9) w[threadIdx.x] = weights[threadIdx.x];
  if (threadIdx.x < kSide) {
    tile[0][threadIdx.x] = tile[kSide - 1][threadIdx.x] = 0.0f;
    tile[threadIdx.x][0] = tile[threadIdx.x][kSide - 1] = 0.0f;
  }
#pragma unroll 1
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
#pragma unroll
    for (int s = 0; s < kTile / kRows; ++s)
      tile[s * kRows + row + 1][column + 1] = maps[(s * tiles + t) * kThreads + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kTile / kRows; ++s) {
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < 9; ++i) sum += w[i] * tile[s * kRows + row + i / 3][column + i % 3];
      out[(s * tiles + t) * kThreads + threadIdx.x] = sum;
    }
    __syncthreads();
  }
}
