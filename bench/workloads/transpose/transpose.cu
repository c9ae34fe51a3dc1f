// Matrix transpose after the CUDA SDK's transpose (transposeNoBankConflicts): a block of 32 x 8
// threads turns a tile of 32 x 32 in shared memory.

constexpr int kTile = 32;
constexpr int kBlockRows = 8;

extern "C" __global__ void transpose_tiles(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];  // a column more: no two of a column share a bank
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kBlockRows)
    tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kBlockRows)
    out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}
