// MVT with a layout for each kernel in which a warp reads consecutive lines, and with warps that
// begin in different rounds (pim-tuning, section 3.2). Making the layouts is part of the program.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

constexpr int kTile = 32;

// Panels of 32 rows: panels[row / 32][column][row % 32]. Blocks of 32 x 8 threads.
extern "C" __global__ void mvt_row_panels(const float* a, float* panels, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  const int column = blockIdx.x * kTile, row = blockIdx.y * kTile;
  const int x = threadIdx.x, y = threadIdx.y;
  for (int i = 0; i < kTile; i += 8)
    tile[y + i][x] = a[(row + y + i) * columns + column + x];
  __syncthreads();
  for (int i = 0; i < kTile; i += 8)
    panels[(blockIdx.y * columns + column + y + i) * kTile + x] = tile[x][y + i];
}

// Panels of 32 columns: panels[column / 32][row][column % 32]. Blocks of 32 x 8 threads.
extern "C" __global__ void mvt_column_panels(const float* a, float* panels, int rows,
                                             int columns) {
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += 8)
    panels[(blockIdx.x * rows + row + i) * kTile + threadIdx.x] = a[(row + i) * columns + column];
}

// x[i] += the scalar product of row i of a panel and y; once for each layout.
extern "C" __global__ void mvt_panels(const float* panels, const float* y, float* x, unsigned count,
                                      unsigned length) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float* panel = panels + i / 32 * length * 32 + i % 32;
  unsigned k = first_round(i / 32, length);
  for (unsigned round = 0; round < length; ++round) {
    x[i] += panel[size_t{32} * k] * y[k];
    k = k + 1 < length ? k + 1 : 0;
  }
}
