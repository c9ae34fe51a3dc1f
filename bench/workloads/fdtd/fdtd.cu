// Finite differences in the time domain in two dimensions. Follows PolyBench-GPU's FDTD-2D: three
// kernels per step, a thread per cell, all in global memory.

// ey of nx + 1 rows of ny, hz of nx rows of ny.
extern "C" __global__ void fdtd_ey(const float* source, float* ey, const float* hz, int step,
                                   int nx, int ny) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  if (i == 0) {
    ey[j] = source[step];
  } else {
    ey[i * ny + j] = ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
  }
}

// ex of nx rows of ny + 1.
extern "C" __global__ void fdtd_ex(float* ex, const float* hz, int nx, int ny) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny || j == 0) return;
  ex[i * (ny + 1) + j] = ex[i * (ny + 1) + j] - 0.5f * (hz[i * ny + j] - hz[i * ny + (j - 1)]);
}

extern "C" __global__ void fdtd_hz(const float* ex, const float* ey, float* hz, int nx, int ny) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  hz[i * ny + j] =
      hz[i * ny + j] - 0.7f * (ex[i * (ny + 1) + (j + 1)] - ex[i * (ny + 1) + j] +
                               ey[(i + 1) * ny + j] - ey[i * ny + j]);
}
