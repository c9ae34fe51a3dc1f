// Tracking of points through the frames of a film by template correlation: what Rodinia's heartwall
// does for the points of a heart's walls. A block follows one point, and as there every step of the
// normalised cross-correlation leaves its result in global memory, in buffers of the point's own:
// the search window and its squares, their sums under the template at every offset (cumulative sums
// down the columns, differences, cumulative sums along the rows, differences), the products with
// the template. The best offset becomes the point's new position, and the template moves a little
// towards what was found. Left out is the original's mask of plausible places.

constexpr int kTemplate = 8;                      // pixels along a side
constexpr int kSearch = 16;                       // offsets along a side
constexpr int kWindow = kSearch + kTemplate - 1;  // pixels along a side of the search window
constexpr int kPixels = kTemplate * kTemplate;
constexpr int kThreads = kSearch * kSearch;

// A point's buffers; heartwall/reference.h has their size. (Not in an anonymous namespace: names of
// the kernel's shared variables would hold nvcc's process number.)
struct Buffers {
  float window[kWindow * kWindow];
  float squares[kWindow * kWindow];
  float down[kWindow * kWindow];     // cumulative sums down the columns
  float columns[kSearch * kWindow];  // sums of kTemplate pixels of a column
  float along[kSearch * kWindow];    // their cumulative sums along the rows
  float sums[kThreads];              // under the template, by offset
  float square_sums[kThreads];
  float products[kThreads];
};

namespace {

// sums[offset]: the sum of the template's extent of `in` at every offset. Ends with a barrier.
__device__ __forceinline__ void sums_under_template(const float* in, Buffers* b, float* sums) {
  const int tid = threadIdx.x;
  if (tid < kWindow) {
    float sum = 0.0f;
    for (int row = 0; row < kWindow; ++row) {
      sum += in[row * kWindow + tid];
      b->down[row * kWindow + tid] = sum;
    }
  }
  __syncthreads();
  for (int i = tid; i < kSearch * kWindow; i += kThreads) {
    const float before = i < kWindow ? 0.0f : b->down[i - kWindow];
    b->columns[i] = b->down[i + (kTemplate - 1) * kWindow] - before;
  }
  __syncthreads();
  if (tid < kSearch) {
    float sum = 0.0f;
    for (int column = 0; column < kWindow; ++column) {
      sum += b->columns[tid * kWindow + column];
      b->along[tid * kWindow + column] = sum;
    }
  }
  __syncthreads();
  const int first = tid / kSearch * kWindow + tid % kSearch;
  const float before = tid % kSearch == 0 ? 0.0f : b->along[first - 1];
  sums[tid] = b->along[first + kTemplate - 1] - before;
  __syncthreads();
}

}  // namespace

// points[2 * p] and [2 * p + 1]: column and row of point p's upper left template pixel.
// templates[p][kPixels]. The host keeps points so far from the border that clamping is rare.
extern "C" __global__ void heartwall_track(const float* frame, float* templates, int* points,
                                           Buffers* buffers, int width, int height, float keep) {
  __shared__ float pattern[kPixels];
  __shared__ float score[kThreads];
  __shared__ int best[kThreads];
  Buffers* b = buffers + blockIdx.x;
  const int tid = threadIdx.x;
  // Upper left pixel of the search window.
  const int x = min(max(points[2 * blockIdx.x] - kSearch / 2, 0), width - kWindow);
  const int y = min(max(points[2 * blockIdx.x + 1] - kSearch / 2, 0), height - kWindow);
  if (tid < kPixels) pattern[tid] = templates[blockIdx.x * kPixels + tid];
  for (int i = tid; i < kWindow * kWindow; i += kThreads)
    b->window[i] = frame[(y + i / kWindow) * width + x + i % kWindow];
  __syncthreads();
  for (int i = tid; i < kWindow * kWindow; i += kThreads)
    b->squares[i] = b->window[i] * b->window[i];
  sums_under_template(b->window, b, b->sums);
  sums_under_template(b->squares, b, b->square_sums);

  // Products with the mean-free template; its own norm is the same for every offset and left out.
  float mean = 0.0f;
  for (int i = 0; i < kPixels; ++i) mean += pattern[i];
  mean *= 1.0f / kPixels;
  float product = 0.0f;
  for (int row = 0; row < kTemplate; ++row) {
    for (int column = 0; column < kTemplate; ++column) {
      product += b->window[(tid / kSearch + row) * kWindow + tid % kSearch + column] *
                 (pattern[row * kTemplate + column] - mean);
    }
  }
  b->products[tid] = product;
  __syncthreads();

  const float variance = b->square_sums[tid] - b->sums[tid] * b->sums[tid] * (1.0f / kPixels);
  score[tid] = variance > 1.0e-6f ? b->products[tid] / sqrtf(variance) : -2.0f;
  best[tid] = tid;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (tid < half && score[tid + half] > score[tid]) {
      score[tid] = score[tid + half];
      best[tid] = best[tid + half];
    }
  }
  __syncthreads();
  const int to_x = best[0] % kSearch, to_y = best[0] / kSearch;
  if (tid < kPixels) {
    const float found = b->window[(to_y + tid / kTemplate) * kWindow + to_x + tid % kTemplate];
    templates[blockIdx.x * kPixels + tid] = keep * pattern[tid] + (1.0f - keep) * found;
  }
  if (tid == 0) {
    points[2 * blockIdx.x] = x + to_x;
    points[2 * blockIdx.x + 1] = y + to_y;
  }
}
