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

// A thread that waits for time to pass, as those do that keep an SM busy.
extern "C" __global__ void spin(long long cycles, long long* out) {
  const long long start = clock64();
  long long now = start;
  while (now - start < cycles) now = clock64();
  out[blockIdx.x * blockDim.x + threadIdx.x] = now;
}

// Differences of two images over windows: the shape of stereo matching.
extern "C" __global__ void stereo(cudaTextureObject_t left, cudaTextureObject_t right, unsigned* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned best = ~0u;
  for (int d = 0; d < 8; ++d) {
    unsigned sum = 0;
    for (int i = -2; i <= 2; ++i) {
      const unsigned a = tex2D<unsigned>(left, x + i, y), b = tex2D<unsigned>(right, x + i + d, y);
      sum = __usad(a, b, sum);
    }
    best = min(best, sum);
  }
  out[y * width + x] = best;
}

// One relaxation of shortest paths, a vertex per thread.
extern "C" __global__ void relax(const int* first, const int* edges, unsigned* distance, int n, unsigned* changes) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const unsigned d = distance[v];
  for (int e = first[v]; e < first[v + 1]; ++e) {
    if (atomicMin(&distance[edges[e]], d + 1 + e % 7) > d) atomicAdd(&changes[v % 32], 1u);
  }
}
