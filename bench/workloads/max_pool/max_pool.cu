// Largest of every 2 x 2 values of the maps of a neural network, a result per thread. Sides are even,
// so rows count through all maps.
extern "C" __global__ void max_pool(const float2* maps, float* pooled, int pooled_width, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int row = i / pooled_width, column = i % pooled_width;
  const float2* pairs = maps + 2 * row * pooled_width + column;
  const float2 upper = pairs[0], lower = pairs[pooled_width];
  pooled[i] = fmaxf(fmaxf(upper.x, upper.y), fmaxf(lower.x, lower.y));
}
