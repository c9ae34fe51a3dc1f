// 3 x 3 blur of tiles of 32 x 32, each for itself, that lie in slices: for cores below banks of their own
// (bench/workloads/common/mpu_layout.h). Beyond its edges a tile goes on as at them.

constexpr int kTile = 32;
constexpr int kRows = 4;  // of a slice
constexpr int kThreads = kTile * kRows;

extern "C" __global__ void blur_mpu(const float* image, float* blurred, int tiles) {
  __shared__ float tile[kTile][kTile];
  const int column = threadIdx.x % kTile, row = threadIdx.x / kTile;
  const int west = max(column - 1, 0), east = min(column + 1, kTile - 1);
  const auto sum = [&](int y) { return tile[y][west] + tile[y][column] + tile[y][east]; };
#pragma unroll 1
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
#pragma unroll
    for (int s = 0; s < kTile / kRows; ++s)
      tile[s * kRows + row][column] = image[(s * tiles + t) * kThreads + threadIdx.x];
    __syncthreads();
// By four: so values of a core's four blocks have room in near-bank register files.
#pragma unroll 4
    for (int s = 0; s < kTile / kRows; ++s) {
      const int y = s * kRows + row;
      blurred[(s * tiles + t) * kThreads + threadIdx.x] =
          (sum(max(y - 1, 0)) + sum(y) + sum(min(y + 1, kTile - 1))) * (1.0f / 9.0f);
    }
    __syncthreads();
  }
}
