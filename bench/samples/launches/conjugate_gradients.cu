// Conjugate gradients for the five-point stencil of a square grid, the matrix in CSR: as users
// write it, six launches for each iteration.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void multiply(const int* begin, const int* column, const float* value, const float* x,
                         float* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}

__global__ void dot(const float* a, const float* b, float* partial, int n) {
  __shared__ float sums[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  sums[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

__global__ void add(float* partial, int n, float* sum) {
  float all = 0;
  for (int i = 0; i < n; ++i) all += partial[i];
  *sum = all;
}

// x += a p; r -= a q, with a = rr / pq
__global__ void step(float* x, float* r, const float* p, const float* q, const float* rr,
                     const float* pq, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = *rr / *pq;
  x[i] += a * p[i];
  r[i] -= a * q[i];
}

// p = r + b p, with b = rr / before
__global__ void direct(float* p, const float* r, const float* rr, const float* before, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = r[i] + *rr / *before * p[i];
}

int main(int argc, char** argv) {
  const int side = argc > 1 ? atoi(argv[1]) : 128, iterations = argc > 2 ? atoi(argv[2]) : 100;
  const int n = side * side, blocks = (n + 255) / 256, parts = 64;
  std::vector<int> begin{0}, column;
  std::vector<float> value, ones(n, 1);
  for (int i = 0; i < n; ++i) {
    const int row = i / side, at = i % side;
    const auto put = [&](int c, float v) {
      column.push_back(c);
      value.push_back(v);
    };
    if (row > 0) put(i - side, -1);
    if (at > 0) put(i - 1, -1);
    put(i, 4);
    if (at + 1 < side) put(i + 1, -1);
    if (row + 1 < side) put(i + side, -1);
    begin.push_back((int)column.size());
  }
  int *d_begin, *d_column;
  float *d_value, *x, *r, *p, *q, *partial, *sums;
  cudaMalloc(&d_begin, begin.size() * 4);
  cudaMalloc(&d_column, column.size() * 4);
  cudaMalloc(&d_value, value.size() * 4);
  for (float** v : {&x, &r, &p, &q}) cudaMalloc(v, n * 4);
  cudaMalloc(&partial, parts * 4);
  cudaMalloc(&sums, 3 * 4);
  cudaMemcpy(d_begin, begin.data(), begin.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_column, column.data(), column.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_value, value.data(), value.size() * 4, cudaMemcpyHostToDevice);
  cudaMemset(x, 0, n * 4);
  cudaMemcpy(r, ones.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(p, ones.data(), n * 4, cudaMemcpyHostToDevice);
  float *rr = sums, *before = sums + 1, *pq = sums + 2;
  dot<<<parts, 256>>>(r, r, partial, n);
  add<<<1, 1>>>(partial, parts, rr);
  for (int i = 0; i < iterations; ++i) {
    multiply<<<blocks, 256>>>(d_begin, d_column, d_value, p, q, n);
    dot<<<parts, 256>>>(p, q, partial, n);
    add<<<1, 1>>>(partial, parts, pq);
    step<<<blocks, 256>>>(x, r, p, q, rr, pq, n);
    float* other = rr;
    rr = before;
    before = other;
    dot<<<parts, 256>>>(r, r, partial, n);
    add<<<1, 1>>>(partial, parts, rr);
    direct<<<blocks, 256>>>(p, r, rr, before, n);
  }
  float rest = 0;
  cudaMemcpy(&rest, rr, 4, cudaMemcpyDeviceToHost);
  printf("%d unknowns, %d iterations: r.r = %g\n", n, iterations, rest);
  return rest < n ? 0 : 1;
}
