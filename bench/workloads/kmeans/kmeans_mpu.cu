// The nearest one of four centres for points of four features, which lie in a plane each, centres in shared
// memory: for cores below banks of their own (bench/workloads/common/mpu_layout.h). The host moves the centres.

constexpr int kFeatures = 4, kCentres = 4;

extern "C" __global__ void kmeans_mpu(const float* features, const float* centres, int* membership,
                                      int n) {
  __shared__ float c[kCentres][kFeatures];
  if (threadIdx.x < kCentres * kFeatures) (&c[0][0])[threadIdx.x] = centres[threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float value[kFeatures];
#pragma unroll
    for (int f = 0; f < kFeatures; ++f) value[f] = features[f * n + i];
    int best = 0;
    float least = 3.0e38f;
#pragma unroll
    for (int k = 0; k < kCentres; ++k) {
      float distance = 0.0f;
#pragma unroll
      for (int f = 0; f < kFeatures; ++f) {
        const float d = value[f] - c[k][f];
        distance += d * d;
      }
      best = distance < least ? k : best;
      least = fminf(distance, least);
    }
    membership[i] = best;
  }
}
