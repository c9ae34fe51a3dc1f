// Correlations of the columns of a matrix, after PolyBench-GPU's CORR: a thread per column takes
// its mean and deviation, a block of 32 x 8 centres and scales, a thread per column correlates it
// with all later ones. The sums grow in global memory, as they do there.

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

extern "C" __global__ void corr_centre(float* data, const float* mean, const float* deviation,
                                       int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= columns) return;
  data[i * columns + j] = (data[i * columns + j] - mean[j]) / (sqrtf(rows) * deviation[j]);
}

extern "C" __global__ void corr_correlate(const float* data, float* matrix, int rows,
                                          int columns) {
  const int j1 = blockIdx.x * blockDim.x + threadIdx.x;
  if (j1 >= columns) return;
  matrix[j1 * columns + j1] = 1.0f;
  for (int j2 = j1 + 1; j2 < columns; ++j2) {
    matrix[j1 * columns + j2] = 0.0f;
    for (int i = 0; i < rows; ++i)
      matrix[j1 * columns + j2] += data[i * columns + j1] * data[i * columns + j2];
    matrix[j2 * columns + j1] = matrix[j1 * columns + j2];
  }
}
