// Tracking of points with the buffers and steps of Rodinia's heartwall: a block of 512 threads follows one
// point through the frames, a launch per frame. Every step leaves its result in global memory: the search
// window, its whole convolution with the turned template, sums under the template out of cumulative sums
// of the padded window (down the columns, then along the rows), the same of the squares, the normalised
// correlation, and the mask that keeps a point near where it was. Matrices lie in columns.
//
// With a template of 2t+1 and a window of 2s+1 pixels a side, convolution and correlation have
// c = 2t + 2s + 1 a side, the padded window p = c + 2t + 2. The frame that a point starts from only sets
// its template; every kPeriod frames the template and the window follow what was found.

constexpr int kThreads = 512;
constexpr int kPeriod = 10;
constexpr int kMove = 10;     // pixels along a side of the mask
constexpr float kKeep = 0.87f;  // the old template's share in the new one

// Buffers, each of as many values times the number of points.
struct HeartBuffers {
  float *templates, *turned;    // (2t + 1) x (2t + 1)
  float *window, *squares;      // (2s + 1) x (2s + 1)
  float* convolution;           // c x c; then the correlation
  float *padded, *down;         // p x p
  float *columns, *along;       // c x p
  float *sums, *square_sums;    // c x c
  float *was, *mask;            // c x c
  float* partial;               // 2 c: of sums, and of the search for the maximum
  int* best;                    // c
};

struct HeartParameters {
  int rows, columns;  // of a frame
  int t, s;
};

extern "C" {
__constant__ HeartParameters heart;
__constant__ HeartBuffers heart_buffers;
}

namespace {

struct Sizes {
  int in, window, c, p;
};

__device__ __forceinline__ Sizes sizes() {
  const int in = 2 * heart.t + 1, window = 2 * heart.s + 1;
  return {in, window, in + window - 1, window + 2 * in};
}

// sums: of the template's extent of `in` (a window), by place. Ends with a barrier.
__device__ __forceinline__ void sums_under_template(const float* in, float* padded, float* down,
                                                    float* columns, float* along, float* sums,
                                                    const Sizes& z) {
  const int tid = threadIdx.x;
  for (int i = tid; i < z.p * z.p; i += kThreads) {
    const int row = i % z.p - z.in, column = i / z.p - z.in;
    const bool inside = row >= 0 && row < z.window && column >= 0 && column < z.window;
    padded[i] = inside ? in[column * z.window + row] : 0.0f;
  }
  __syncthreads();
  for (int column = tid; column < z.p; column += kThreads) {
    float sum = 0.0f;
    for (int row = 0; row < z.p; ++row) {
      sum += padded[column * z.p + row];
      down[column * z.p + row] = sum;
    }
  }
  __syncthreads();
  for (int i = tid; i < z.c * z.p; i += kThreads) {
    const int at = i / z.c * z.p + i % z.c;
    columns[i] = down[at + z.in] - down[at];
  }
  __syncthreads();
  for (int row = tid; row < z.c; row += kThreads) {
    float sum = 0.0f;
    for (int column = 0; column < z.p; ++column) {
      sum += columns[column * z.c + row];
      along[column * z.c + row] = sum;
    }
  }
  __syncthreads();
  for (int i = tid; i < z.c * z.c; i += kThreads) sums[i] = along[i + z.in * z.c] - along[i];
  __syncthreads();
}

}  // namespace

// points[2 * p]: row and column where point p's window lies; places[2 * p]: where the point is.
extern "C" __global__ void heartwall_original_track(const float* frame, int number, int* points,
                                                    int* places) {
  const int tid = threadIdx.x, point = blockIdx.x;
  const Sizes z = sizes();
  const int pixels = z.in * z.in, elements = z.c * z.c;
  float* pattern = heart_buffers.templates + point * pixels;
  if (number == 0) {
    const int top = points[2 * point] - heart.t, left = points[2 * point + 1] - heart.t;
    for (int i = tid; i < pixels; i += kThreads)
      pattern[i] = frame[(left + i / z.in) * heart.rows + top + i % z.in];
    return;
  }
  float* turned = heart_buffers.turned + point * pixels;
  float* window = heart_buffers.window + point * z.window * z.window;
  float* squares = heart_buffers.squares + point * z.window * z.window;
  float* convolution = heart_buffers.convolution + point * elements;
  float* padded = heart_buffers.padded + point * z.p * z.p;
  float* down = heart_buffers.down + point * z.p * z.p;
  float* columns = heart_buffers.columns + point * z.c * z.p;
  float* along = heart_buffers.along + point * z.c * z.p;
  float* sums = heart_buffers.sums + point * elements;
  float* square_sums = heart_buffers.square_sums + point * elements;
  float* was = heart_buffers.was + point * elements;
  float* mask = heart_buffers.mask + point * elements;
  float* partial = heart_buffers.partial + point * 2 * z.c;
  int* best = heart_buffers.best + point * z.c;
  __shared__ float mean, norm;
  __shared__ int found;

  const int top = points[2 * point] - heart.s, left = points[2 * point + 1] - heart.s;
  for (int i = tid; i < z.window * z.window; i += kThreads)
    window[i] = frame[(left + i / z.window) * heart.rows + top + i % z.window];
  for (int i = tid; i < pixels; i += kThreads) turned[i] = pattern[pixels - 1 - i];
  __syncthreads();
  for (int i = tid; i < elements; i += kThreads) {
    const int row = i % z.c, column = i / z.c;
    const int column_end = min(column + 1, z.in), row_end = min(row + 1, z.in);
    float sum = 0.0f;
    for (int a = max(column - z.window + 1, 0); a < column_end; ++a) {
      for (int b = max(row - z.window + 1, 0); b < row_end; ++b)
        sum += turned[a * z.in + b] * window[(column - a) * z.window + row - b];
    }
    convolution[i] = sum;
  }
  __syncthreads();
  sums_under_template(window, padded, down, columns, along, sums, z);
  for (int i = tid; i < z.window * z.window; i += kThreads) squares[i] = window[i] * window[i];
  __syncthreads();
  sums_under_template(squares, padded, down, columns, along, square_sums, z);

  // The template's mean and norm: a column per thread, then one thread.
  for (int column = tid; column < z.in; column += kThreads) {
    float sum = 0.0f, square_sum = 0.0f;
    for (int row = 0; row < z.in; ++row) {
      const float value = pattern[column * z.in + row];
      sum += value;
      square_sum += value * value;
    }
    partial[column] = sum;
    partial[z.c + column] = square_sum;
  }
  __syncthreads();
  if (tid == 0) {
    float sum = 0.0f, square_sum = 0.0f;
    for (int column = 0; column < z.in; ++column) {
      sum += partial[column];
      square_sum += partial[z.c + column];
    }
    mean = sum / static_cast<float>(pixels);
    norm = sqrtf(square_sum - sum * mean);
  }
  __syncthreads();
  for (int i = tid; i < elements; i += kThreads)
    square_sums[i] -= sums[i] * sums[i] / static_cast<float>(pixels);
  __syncthreads();
  for (int i = tid; i < elements; i += kThreads) {
    const float variance = square_sums[i] > 0.0f ? square_sums[i] : 0.0f;
    square_sums[i] = sqrtf(variance) * norm;
  }
  __syncthreads();
  for (int i = tid; i < elements; i += kThreads) {
    const float covariance = convolution[i] - sums[i] * mean;
    convolution[i] = square_sums[i] > 0.0f ? covariance / square_sums[i] : 0.0f;
  }
  // Where the point was, spread over kMove x kMove pixels.
  const int row_was = places[2 * point] - points[2 * point] + heart.t + heart.s;
  const int column_was = places[2 * point + 1] - points[2 * point + 1] + heart.t + heart.s;
  for (int i = tid; i < elements; i += kThreads)
    was[i] = i % z.c == row_was && i / z.c == column_was ? 1.0f : 0.0f;
  __syncthreads();
  for (int i = tid; i < elements; i += kThreads) {
    const int row = i % z.c + kMove / 2, column = i / z.c + kMove / 2;
    const int column_end = min(column + 1, kMove), row_end = min(row + 1, kMove);
    float sum = 0.0f;
    for (int a = max(column - z.c + 1, 0); a < column_end; ++a) {
      for (int b = max(row - z.c + 1, 0); b < row_end; ++b)
        sum += was[(column - a) * z.c + row - b];
    }
    mask[i] = sum;
  }
  __syncthreads();
  for (int i = tid; i < elements; i += kThreads) convolution[i] *= mask[i];
  __syncthreads();

  for (int row = tid; row < z.c; row += kThreads) {
    int at = row;
    for (int i = row; i < elements; i += z.c) {
      if (convolution[i] > convolution[at]) at = i;
    }
    partial[row] = convolution[at];
    best[row] = at;
  }
  __syncthreads();
  if (tid == 0) {
    int at = 0;
    for (int row = 1; row < z.c; ++row) {
      if (partial[row] > partial[at]) at = row;
    }
    found = best[at];
    places[2 * point] = points[2 * point] + found % z.c - heart.t - heart.s;
    places[2 * point + 1] = points[2 * point + 1] + found / z.c - heart.t - heart.s;
  }
  __syncthreads();
  if (number % kPeriod != 0) return;
  const int new_top = top + found % z.c - 2 * heart.t;
  const int new_left = left + found / z.c - 2 * heart.t;
  for (int i = tid; i < pixels; i += kThreads) {
    const float now = frame[(new_left + i / z.in) * heart.rows + new_top + i % z.in];
    pattern[i] = kKeep * pattern[i] + (1.0f - kKeep) * now;
  }
  if (tid < 2) points[2 * point + tid] = places[2 * point + tid];
}
