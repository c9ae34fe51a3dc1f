// The base version of sgemm on matrices laid out so that a warp reads consecutive half lines, with
// warps that begin in different rounds (pim-tuning, section 3.2). Making the layouts is part of
// the program.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

constexpr int kPanel = 16;  // rows of a block's side: it has 16 x 16 threads

// panels[row / 16][column][row % 16] of a matrix by columns. Blocks of 32 x 8 threads.
extern "C" __global__ void sgemm_panels(const float* matrix, float* panels, int rows,
                                        int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  panels[(row / kPanel * columns + column) * kPanel + row % kPanel] =
      matrix[row + column * rows];
}

extern "C" __global__ void sgemm_from_panels(const float* a, const float* b, float* c, unsigned m,
                                             unsigned k, float alpha, float beta) {
  const unsigned row = blockIdx.x * kPanel + threadIdx.x;
  const unsigned column = blockIdx.y * kPanel + threadIdx.y;
  const float* mine = a + blockIdx.x * k * kPanel + threadIdx.x;
  const float* other = b + blockIdx.y * k * kPanel + threadIdx.y;
  const unsigned warp = (blockIdx.y * gridDim.x + blockIdx.x) * (kPanel * kPanel / 32) +
                   threadIdx.y / 2;
  float sum = 0.0f;
  unsigned i = first_round(warp, k);
  for (unsigned round = 0; round < k; ++round) {
    sum = fmaf(mine[size_t{kPanel} * i], other[size_t{kPanel} * i], sum);
    i = i + 1 < k ? i + 1 : 0;
  }
  c[row + column * m] = c[row + column * m] * beta + alpha * sum;
}
