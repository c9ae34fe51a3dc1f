// A feed-forward layer of experts for the tokens of a batch: each token's few experts are chosen by a small product,
// and only their weights are read.
#include <cuda_fp16.h>

#include "bench/workloads/llm/weights.cuh"

constexpr int kBlock = 256;
constexpr int kMostExperts = 64, kMostChosen = 8;

__device__ __forceinline__ float row_times(const __half* w, const float* x, size_t row, int columns) {
  const F16 weights{w, nullptr};
  float sum = 0.0f;
  for (int i = threadIdx.x % 32; i < columns / 8; i += 32) {
    float eight[8];
    weights.eight(static_cast<int>(row), i, columns, eight);
    const float4 a = reinterpret_cast<const float4*>(x)[2 * i], b = reinterpret_cast<const float4*>(x)[2 * i + 1];
    sum += eight[0] * a.x + eight[1] * a.y + eight[2] * a.z + eight[3] * a.w;
    sum += eight[4] * b.x + eight[5] * b.y + eight[6] * b.z + eight[7] * b.w;
  }
  return lane_sum(sum);
}

/// The `chosen` experts with the largest products of a token (blockIdx.x) with the rows of w, and their softmax: a
/// warp for each row, then one thread chooses; of equal products the first.
extern "C" __global__ void experts_route(const __half* w, const float* x, int* ids, float* shares, int columns,
                                         int experts, int chosen) {
  __shared__ float scores[kMostExperts];
  x += static_cast<size_t>(blockIdx.x) * columns;
  for (int e = threadIdx.x / 32; e < experts; e += kBlock / 32) {
    const float sum = row_times(w, x, e, columns);
    if (threadIdx.x % 32 == 0) scores[e] = sum;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  float best[kMostChosen], total = 0.0f;
  for (int c = 0; c < chosen; ++c) {
    int most = 0;
    for (int e = 1; e < experts; ++e)
      if (scores[e] > scores[most]) most = e;
    best[c] = scores[most];
    ids[blockIdx.x * chosen + c] = most;
    scores[most] = -INFINITY;
    total += __expf(best[c] - best[0]);
  }
  for (int c = 0; c < chosen; ++c) shares[blockIdx.x * chosen + c] = __expf(best[c] - best[0]) / total;
}

/// hidden[place] = silu(gate x) * (up x) of the expert of a place (blockIdx.y): a warp per row of both matrices.
extern "C" __global__ void experts_up(const __half* gates, const __half* ups, const int* ids, const float* x,
                                      float* hidden, int rows, int columns, int chosen) {
  const int row = (blockIdx.x * kBlock + threadIdx.x) / 32, place = blockIdx.y;
  if (row >= rows) return;
  const size_t at = static_cast<size_t>(ids[place]) * rows + row;
  x += static_cast<size_t>(place / chosen) * columns;
  const float gate = row_times(gates, x, at, columns), up = row_times(ups, x, at, columns);
  if (threadIdx.x % 32 == 0) hidden[static_cast<size_t>(place) * rows + row] = gate / (1.0f + __expf(-gate)) * up;
}

/// y[token] = the sum over its experts of share * (down hidden): a warp per row, tokens are blockIdx.y.
extern "C" __global__ void experts_down(const __half* downs, const int* ids, const float* shares, const float* hidden,
                                        float* y, int rows, int columns, int chosen) {
  const int row = (blockIdx.x * kBlock + threadIdx.x) / 32, token = blockIdx.y;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < chosen; ++c) {
    const size_t place = static_cast<size_t>(token) * chosen + c;
    sum += shares[place] *
           row_times(downs, hidden + place * columns, static_cast<size_t>(ids[place]) * rows + row, columns);
  }
  if (threadIdx.x % 32 == 0) y[static_cast<size_t>(token) * rows + row] = sum;
}
