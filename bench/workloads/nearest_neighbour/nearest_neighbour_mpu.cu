// Squares of the distances of places from one place, coordinates in a plane each: for cores below banks of
// their own (bench/workloads/common/mpu_layout.h). The nearest ones are the same without square roots.
extern "C" __global__ void nearest_neighbour_mpu(const float* places, float* distance, int n,
                                                 float latitude, float longitude) {
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float north = latitude - places[i], east = longitude - places[n + i];
    distance[i] = north * north + east * east;
  }
}
