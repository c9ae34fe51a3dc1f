// Speckle reducing anisotropic diffusion. Follows Rodinia's srad_v1: per iteration the sum of the
// image and of its squares (by halves in shared memory, until one value is left), then the diffusion
// coefficient of each pixel and its neighbours' differences, then the new image. Pixels lie by
// columns; rows and columns of neighbours come from tables.

constexpr int kBlock = 512;

extern "C" __global__ void srad_prepare(const float* image, float* sums, float* squares, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  sums[i] = image[i];
  squares[i] = image[i] * image[i];
}

// Sums of blocks of 512 elements, which lie `apart` elements from each other, to their first ones.
extern "C" __global__ void srad_reduce(float* sums, float* squares, int n, int apart) {
  __shared__ float s[kBlock], q[kBlock];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kBlock + t;
  s[t] = i < n ? sums[i * apart] : 0.0f;
  q[t] = i < n ? squares[i * apart] : 0.0f;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (t < half) {
      s[t] += s[t + half];
      q[t] += q[t + half];
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[i * apart] = s[0];
    squares[i * apart] = q[0];
  }
}

extern "C" __global__ void srad_coefficients(const int* north, const int* south, const int* west,
                                             const int* east, const float* image, float q0,
                                             float* d_north, float* d_south, float* d_west,
                                             float* d_east, float* c, int rows, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int row = i % rows, column = i / rows;
  const float here = image[i];
  const float dn = image[north[row] + rows * column] - here;
  const float ds = image[south[row] + rows * column] - here;
  const float dw = image[row + rows * west[column]] - here;
  const float de = image[row + rows * east[column]] - here;
  const float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (here * here);
  const float l = (dn + ds + dw + de) / here;
  const float numerator = 0.5f * g2 - 0.0625f * (l * l);
  float den = 1.0f + 0.25f * l;
  const float q = numerator / (den * den);
  den = (q - q0) / (q0 * (1.0f + q0));
  float value = 1.0f / (1.0f + den);
  value = value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value;
  d_north[i] = dn;
  d_south[i] = ds;
  d_west[i] = dw;
  d_east[i] = de;
  c[i] = value;
}

extern "C" __global__ void srad_update(const int* south, const int* east, float lambda,
                                       const float* d_north, const float* d_south,
                                       const float* d_west, const float* d_east, const float* c,
                                       float* image, int rows, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int row = i % rows, column = i / rows;
  const float here = c[i];
  const float to_south = c[south[row] + rows * column];
  const float to_east = c[row + rows * east[column]];
  const float d = here * d_north[i] + to_south * d_south[i] + here * d_west[i] +
                  to_east * d_east[i];
  image[i] = image[i] + 0.25f * lambda * d;
}
