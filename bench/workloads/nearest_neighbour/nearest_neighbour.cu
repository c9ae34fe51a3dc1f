// Distances of places from one place after Rodinia's nn; the host takes the nearest ones.
extern "C" __global__ void nearest_neighbour(const float2* places, float* distance, int count,
                                             float latitude, float longitude) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float2 place = places[i];
  const float north = latitude - place.x, east = longitude - place.y;
  distance[i] = sqrtf(north * north + east * east);
}
