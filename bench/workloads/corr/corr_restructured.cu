// CORR in which the kernel that centres the data also lays it out in panels of 32 columns, so that
// a warp reads consecutive lines; warps begin in different rounds, and the sums grow in panels,
// too (pim-tuning, section 3.2). Putting the matrix together again is part of the program.
#include "bench/workloads/common/first_round.h"

using nearwarp::workloads::first_round;

// As in corr.cu.
extern "C" __global__ void corr_mean(const float* data, float* mean, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  mean[j] = 0.0f;
  for (int i = 0; i < rows; ++i) mean[j] += data[i * columns + j];
  mean[j] /= rows;
}

extern "C" __global__ void corr_deviation(const float* data, const float* mean, float* deviation,
                                          int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  deviation[j] = 0.0f;
  for (int i = 0; i < rows; ++i) {
    const float d = data[i * columns + j] - mean[j];
    deviation[j] += d * d;
  }
  const float root = sqrtf(deviation[j] / rows);
  deviation[j] = root > 0.005f ? root : 1.0f;  // columns that hardly vary are not blown up
}

// panels[column / 32][row][column % 32]
extern "C" __global__ void corr_panels(const float* data, float* panels, const float* mean,
                                       const float* deviation, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= columns) return;
  panels[(j / 32 * rows + i) * 32 + j % 32] =
      (data[i * columns + j] - mean[j]) / (sqrtf(rows) * deviation[j]);
}

// sums[j1 / 32][j2][j1 % 32] for j1 < j2
extern "C" __global__ void corr_correlate_panels(const float* panels, float* sums, unsigned rows,
                                                 unsigned columns) {
  const unsigned j1 = blockIdx.x * blockDim.x + threadIdx.x;
  if (j1 >= columns) return;
  const float* mine = panels + j1 / 32 * rows * 32 + j1 % 32;
  const unsigned first = first_round(j1 / 32, rows);
  for (unsigned j2 = j1 / 32 * 32 + 1; j2 < columns; ++j2) {  // the same column in all lanes
    if (j1 >= j2) continue;
    const float* other = panels + j2 / 32 * rows * 32 + j2 % 32;
    float* sum = sums + (j1 / 32 * columns + j2) * 32 + j1 % 32;
    *sum = 0.0f;
    unsigned i = first;
    for (unsigned round = 0; round < rows; ++round) {
      *sum += mine[size_t{32} * i] * other[size_t{32} * i];
      i = i + 1 < rows ? i + 1 : 0;
    }
  }
}

// Both halves of the matrix from the sums. Blocks of 32 x 8 threads.
extern "C" __global__ void corr_matrix(const float* sums, float* matrix, int columns) {
  const int j1 = blockIdx.x * blockDim.x + threadIdx.x;
  const int j2 = blockIdx.y * blockDim.y + threadIdx.y;
  if (j1 > j2 || j2 >= columns) return;
  const float value = j1 < j2 ? sums[(j1 / 32 * columns + j2) * 32 + j1 % 32] : 1.0f;
  matrix[j1 * columns + j2] = value;
  matrix[j2 * columns + j1] = value;
}
