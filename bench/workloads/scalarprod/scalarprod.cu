// Scalar products of many pairs of vectors in the manner of the CUDA SDK's scalarProd: a block
// takes one pair after the other, keeps kSums running sums in shared memory and adds them by tree.

constexpr int kBlock = 256;
constexpr int kSums = 1024;

extern "C" __global__ void scalarprod(const float* a, const float* b, float* products,
                                      int num_vectors, int length) {
  __shared__ float sums[kSums];
  for (int vector = blockIdx.x; vector < num_vectors; vector += gridDim.x) {
    const int begin = vector * length;
    const int end = begin + length;
    for (int s = threadIdx.x; s < kSums; s += kBlock) {
      float sum = 0.0f;
      for (int i = begin + s; i < end; i += kSums) sum += a[i] * b[i];
      sums[s] = sum;
    }
    for (int half = kSums / 2; half > 0; half /= 2) {
      __syncthreads();
      for (int s = threadIdx.x; s < half; s += kBlock) sums[s] += sums[s + half];
    }
    if (threadIdx.x == 0) products[vector] = sums[0];
    __syncthreads();  // the next pair's sums must not overtake the store
  }
}
