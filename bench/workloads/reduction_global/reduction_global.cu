// Sums of an array by halves. All partial sums lie in global memory; or, below a size, those of a
// block in shared memory. A. Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA
// 2019, section 5, after SHOC's reduction.

// data[i] += data[i + half]
extern "C" __global__ void add_halves(int* data, int half) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) data[i] = data[i] + data[i + half];
}

// Sums of blocks of 512 elements.
extern "C" __global__ void sum_blocks(const int* data, int* sums, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 512 + t;
  s[t] = (i < n ? data[i] : 0) + (i + 256 < n ? data[i + 256] : 0);
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
