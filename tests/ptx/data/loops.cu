// Loops, branches, shared memory and barriers. Regenerate: see README.md.
extern "C" __global__ void tile_sum(float* out, const float* __restrict__ in, int n, int rounds) {
  __shared__ float tile[64];
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    const int i = r * 64 + static_cast<int>(threadIdx.x);
    tile[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 64; ++k) {
      if (tile[k] > sum) sum += tile[k] * 0.5f;
    }
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void search(int* out, const int* keys, int n, int wanted) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 32) {
    if (keys[i] == wanted) {
      out[0] = i;
      return;
    }
    int k = keys[i];
    while (k > 1) {
      k = (k & 1) ? 3 * k + 1 : k / 2;
      if (k == wanted) break;
    }
    out[i + 1] = k;
  }
}
