// Tracking of points through the frames of a film by template correlation: what Rodinia's heartwall
// does for the points of a heart's walls, reduced to its central step. A block follows one point:
// a thread per offset in the search window computes the normalised cross-correlation of the
// point's template with the frame there, the best offset becomes the point's new position, and
// the template moves a little towards what was found.

constexpr int kTemplate = 8;  // pixels along a side
constexpr int kSearch = 16;   // offsets along a side, -kSearch / 2 .. kSearch / 2 - 1
constexpr int kPixels = kTemplate * kTemplate;
constexpr int kThreads = kSearch * kSearch;

// points[2 * p] and [2 * p + 1]: column and row of point p's upper left template pixel.
// templates[p][kPixels]. The host keeps points so far from the border that clamping is rare.
extern "C" __global__ void heartwall_track(const float* frame, float* templates, int* points,
                                           int width, int height, float keep) {
  __shared__ float pattern[kPixels];
  __shared__ float score[kThreads];
  __shared__ int best[kThreads];
  const int tid = threadIdx.x;
  if (tid < kPixels) pattern[tid] = templates[blockIdx.x * kPixels + tid];
  __syncthreads();

  float mean = 0.0f;
  for (int i = 0; i < kPixels; ++i) mean += pattern[i];
  mean *= 1.0f / kPixels;

  const int x0 = points[2 * blockIdx.x], y0 = points[2 * blockIdx.x + 1];
  const int x = min(max(x0 + tid % kSearch - kSearch / 2, 0), width - kTemplate);
  const int y = min(max(y0 + tid / kSearch - kSearch / 2, 0), height - kTemplate);
  // Correlation with the mean-free pattern; its own norm is the same for every offset and left out.
  float sum = 0.0f, squares = 0.0f, product = 0.0f;
  for (int row = 0; row < kTemplate; ++row) {
    for (int column = 0; column < kTemplate; ++column) {
      const float value = frame[(y + row) * width + x + column];
      sum += value;
      squares += value * value;
      product += value * (pattern[row * kTemplate + column] - mean);
    }
  }
  const float variance = squares - sum * sum * (1.0f / kPixels);
  score[tid] = variance > 1.0e-6f ? product / sqrtf(variance) : -2.0f;
  best[tid] = tid;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (tid < half && score[tid + half] > score[tid]) {
      score[tid] = score[tid + half];
      best[tid] = best[tid + half];
    }
  }
  __syncthreads();
  const int to_x = min(max(x0 + best[0] % kSearch - kSearch / 2, 0), width - kTemplate);
  const int to_y = min(max(y0 + best[0] / kSearch - kSearch / 2, 0), height - kTemplate);
  if (tid < kPixels) {
    const float found = frame[(to_y + tid / kTemplate) * width + to_x + tid % kTemplate];
    templates[blockIdx.x * kPixels + tid] = keep * pattern[tid] + (1.0f - keep) * found;
  }
  if (tid == 0) {
    points[2 * blockIdx.x] = to_x;
    points[2 * blockIdx.x + 1] = to_y;
  }
}
