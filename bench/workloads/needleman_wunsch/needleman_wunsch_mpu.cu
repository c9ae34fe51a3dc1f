// Needleman-Wunsch alignments of many pairs of sequences, a block of one warp for each, in tiles of 32 x 32 down
// the rows: for cores below banks of their own (bench/workloads/common/mpu_layout.h). Rows of 32 scores lie so
// that those of block b are behind core b modulo kCores.

constexpr int kTile = 32;
constexpr int kCores = 128, kUnits = 4;

extern "C" __global__ void needleman_mpu(const int* similarity, int* score, int rows, int penalty) {
  __shared__ int scores[kTile + 1][kTile + 1];
  __shared__ int similar[kTile][kTile];
  const int x = threadIdx.x, b = blockIdx.x;
  const int place = b % kCores * kUnits + b / kCores % kUnits + b / (kCores * kUnits) * (kCores * kUnits);
  scores[0][x + 1] = -penalty * (x + 1);
#pragma unroll 1
  for (int top = 0; top < rows; top += kTile) {
#pragma unroll 8
    for (int y = 0; y < kTile; ++y)
      similar[y][x] = similarity[((top + y) * gridDim.x + place) * kTile + x];
    if (x == 0) scores[0][0] = -penalty * top;
    scores[x + 1][0] = -penalty * (top + x + 1);
    __syncthreads();
#pragma unroll 1
    for (int step = 0; step < 2 * kTile - 1; ++step) {
      const int y = step - x;
      if (y >= 0 && y < kTile) {
        const int gap = max(scores[y][x + 1], scores[y + 1][x]) - penalty;
        scores[y + 1][x + 1] = max(scores[y][x] + similar[y][x], gap);
      }
      __syncthreads();
    }
#pragma unroll 8
    for (int y = 0; y < kTile; ++y)
      score[((top + y) * gridDim.x + place) * kTile + x] = scores[y + 1][x + 1];
    scores[0][x + 1] = scores[kTile][x + 1];
  }
}
