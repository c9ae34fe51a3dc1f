// An image of twice the width and height: each pixel from its four nearest ones, the nearer in each
// direction with weight 3/4, as in Halide's pyramids. Beyond its edges the image goes on as at them.
extern "C" __global__ void upsample(const float* image, float* larger, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= 2 * width) return;
  const int near_x = x >> 1, far_x = min(max(near_x + (x & 1) * 2 - 1, 0), width - 1);
  const int near_y = y >> 1, far_y = min(max(near_y + (y & 1) * 2 - 1, 0), height - 1);
  const float* near_row = image + near_y * width;
  const float* far_row = image + far_y * width;
  const float near = 0.75f * near_row[near_x] + 0.25f * near_row[far_x];
  const float far = 0.75f * far_row[near_x] + 0.25f * far_row[far_x];
  larger[y * (2 * width) + x] = 0.75f * near + 0.25f * far;
}
