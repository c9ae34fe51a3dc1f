// Transposes tiles of 32 x 32, each for itself, that lie in slices: for cores below banks of their own
// (bench/workloads/common/mpu_layout.h).

constexpr int kTile = 32;
constexpr int kRows = 4;  // of a slice
constexpr int kThreads = kTile * kRows;

extern "C" __global__ void transpose_mpu(const float* in, float* out, int tiles) {
  __shared__ float tile[kTile][kTile + 1];  // a column more: no two of a column share a bank
  const int column = threadIdx.x % kTile, row = threadIdx.x / kTile;
#pragma unroll 1
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
#pragma unroll
    for (int s = 0; s < kTile / kRows; ++s)
      tile[s * kRows + row][column] = in[(s * tiles + t) * kThreads + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kTile / kRows; ++s)
      out[(s * tiles + t) * kThreads + threadIdx.x] = tile[column][s * kRows + row];
    __syncthreads();
  }
}
