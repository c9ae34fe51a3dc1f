// Kernels of the functional benchmark; functional.ptx is made from this file by
//   nvcc -arch=sm_75 -lineinfo -ptx functional.cu -o functional.ptx   (directories removed from .file)

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = a[i] + b[i];
}

extern "C" __global__ void fma_chain(float* out, int rounds) {
  float x = threadIdx.x, y = blockIdx.x + 1.0f, z = 0.5f, w = 2.0f;
  for (int i = 0; i < rounds; ++i) {
    x = fmaf(x, 0.999f, 0.1f);
    y = fmaf(y, 0.998f, 0.2f);
    z = fmaf(z, 0.997f, 0.3f);
    w = fmaf(w, 0.996f, 0.4f);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}

// 16 x 16 tiles through shared memory; n is a multiple of 16.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[y][x] = a[row * n + k + x];
    tb[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum = fmaf(ta[y][i], tb[i][x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void stencil(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1) return;
  const float* p = in + y * width + x;
  out[y * width + x] = 0.5f * p[0] + 0.125f * (p[-1] + p[1] + p[-width] + p[width]);
}

// One step of a breadth-first search, a vertex per thread: long and short edge lists side by side.
extern "C" __global__ void graph_step(const int* first, const int* edges, int* level, int step, int n, int* changed) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != step) return;
  for (int e = first[v]; e < first[v + 1]; ++e) {
    const int u = edges[e];
    if (level[u] < 0) {
      level[u] = step + 1;
      *changed = 1;
    }
  }
}

extern "C" __global__ void gather(const float* table, const int* index, float* out, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) out[i] = table[index[i]];
}
