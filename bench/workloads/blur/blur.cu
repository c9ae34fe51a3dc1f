// 3 x 3 blur of an image in the manner of Halide's: first along rows, then along columns. A thread goes
// down kRows rows of its column with the row sums of three of them in registers. Beyond its edges the
// image goes on as at them; its height is a multiple of kRows.

constexpr int kRows = 8;

extern "C" __global__ void blur(const float* image, float* blurred, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int top = blockIdx.y * kRows;
  if (x >= width) return;
  const int west = max(x - 1, 0), east = min(x + 1, width - 1);
  const auto sum = [&](int y) {
    const float* row = image + y * width;
    return row[west] + row[x] + row[east];
  };
  float above = sum(max(top - 1, 0)), here = sum(top);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float below = sum(r + 1 < kRows ? top + r + 1 : min(top + kRows, height - 1));
    blurred[(top + r) * width + x] = (above + here + below) * (1.0f / 9.0f);
    above = here;
    here = below;
  }
}
