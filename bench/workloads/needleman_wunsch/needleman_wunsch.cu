// Needleman-Wunsch alignment after Rodinia's nw: a launch per diagonal of tiles of the matrix of
// scores, a block of 16 threads per tile, which walks the tile's diagonals in shared memory.

constexpr int kTile = 16;

// Both matrices have a row and a column before the first symbols. The launch's tiles are those of
// `diagonal` from column `first` of tiles on.
extern "C" __global__ void needleman_diagonal(const int* similarity, int* score, int columns,
                                              int penalty, int diagonal, int first) {
  __shared__ int scores[kTile + 1][kTile + 1];
  __shared__ int similar[kTile][kTile];
  const int tile_x = first + blockIdx.x, tile_y = diagonal - tile_x;
  const int corner = tile_y * kTile * columns + tile_x * kTile;
  const int x = threadIdx.x;
  for (int y = 0; y < kTile; ++y) similar[y][x] = similarity[corner + (y + 1) * columns + x + 1];
  if (x == 0) scores[0][0] = score[corner];
  scores[0][x + 1] = score[corner + x + 1];
  scores[x + 1][0] = score[corner + (x + 1) * columns];
  __syncthreads();
  for (int step = 0; step < 2 * kTile - 1; ++step) {
    const int y = step - x;
    if (y >= 0 && y < kTile) {
      const int gap = max(scores[y][x + 1], scores[y + 1][x]) - penalty;
      scores[y + 1][x + 1] = max(scores[y][x] + similar[y][x], gap);
    }
    __syncthreads();
  }
  for (int y = 0; y < kTile; ++y)
    score[corner + (y + 1) * columns + x + 1] = scores[y + 1][x + 1];
}
