// 3 x 3 convolution of the maps of a layer of a neural network, as many maps in as out, with zeros
// around them. A thread computes one pixel of all maps; weights[in][out][3][3] and bias[out] are in
// shared memory.

constexpr int kBlock = 256;
constexpr int kMaps = 4;
constexpr int kWeights = kMaps * kMaps * 9;
static_assert(kWeights + kMaps <= kBlock, "a thread loads one weight or bias at most");

extern "C" __global__ void conv(const float* maps, const float* weights, const float* bias,
                                float* out, int width, int height) {
  __shared__ float w[kWeights], b[kMaps];
  const int t = threadIdx.x;
  if (t < kWeights) w[t] = weights[t];
  if (t >= kWeights && t < kWeights + kMaps) b[t - kWeights] = bias[t - kWeights];
  __syncthreads();
  const int x = blockIdx.x * kBlock + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const int plane = width * height;
  // Addresses stay inside the map; what lies outside is replaced by zero.
  const int columns[3] = {max(x - 1, 0), x, min(x + 1, width - 1)};
  const int rows[3] = {max(y - 1, 0) * width, y * width, min(y + 1, height - 1) * width};
  const bool left = x > 0, right = x < width - 1, upper = y > 0, lower = y < height - 1;
  const bool column_inside[3] = {left, true, right}, row_inside[3] = {upper, true, lower};
  float sums[kMaps];
#pragma unroll
  for (int k = 0; k < kMaps; ++k) sums[k] = b[k];
#pragma unroll 1
  for (int c = 0; c < kMaps; ++c) {
    float values[9];
#pragma unroll
    for (int i = 0; i < 9; ++i) {
      const float value = maps[c * plane + rows[i / 3] + columns[i % 3]];
      values[i] = row_inside[i / 3] && column_inside[i % 3] ? value : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < kMaps; ++k) {
#pragma unroll
      for (int i = 0; i < 9; ++i) sums[k] += w[(c * kMaps + k) * 9 + i] * values[i];
    }
  }
#pragma unroll
  for (int k = 0; k < kMaps; ++k) out[k * plane + y * width + x] = sums[k];
}
