// C = alpha A B^T + beta C after Parboil's sgemm, all matrices by columns. -fmad=false holds for
// the others: here the multiply-adds are what is measured, and they are written out.

constexpr int kTileN = 16;         // columns of C of a block
constexpr int kTileK = 8;          // columns of B in shared memory at a time
constexpr int kTileM = kTileN * kTileK;  // rows of C of a block: one per thread

// Parboil's base version: a thread per element of C, everything from global memory.
extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int m, int n, int k,
                                 float alpha, float beta) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum = fmaf(a[row + i * m], b[column + i * n], sum);
  c[row + column * m] = c[row + column * m] * beta + alpha * sum;
}

// Parboil's optimised version: 16 elements of a row of C in a thread's registers, B in shared
// memory. Blocks of 16 x 8 threads.
extern "C" __global__ void sgemm_tiled(const float* a, const float* b, float* c, int m, int n,
                                       int k, float alpha, float beta) {
  __shared__ float tile[kTileK][kTileN];
  const int thread = threadIdx.y * kTileN + threadIdx.x;
  const int row = blockIdx.x * kTileM + thread;
  const int column = blockIdx.y * kTileN;
  float sums[kTileN];
#pragma unroll
  for (int j = 0; j < kTileN; ++j) sums[j] = 0.0f;
  for (int i = 0; i < k; i += kTileK) {
    tile[threadIdx.y][threadIdx.x] = b[column + threadIdx.x + (i + threadIdx.y) * n];
    __syncthreads();
    for (int l = 0; l < kTileK; ++l) {
      const float value = a[row + (i + l) * m];
#pragma unroll
      for (int j = 0; j < kTileN; ++j) sums[j] = fmaf(value, tile[l][j], sums[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < kTileN; ++j) {
    float* out = c + row + (column + j) * m;
    *out = *out * beta + alpha * sums[j];
  }
}
