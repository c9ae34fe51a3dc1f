// K-means as Rodinia launches it, with plain loads of global memory where it has textures and constants
// (the change that Rogers et al., MICRO 2012, made for a larger input): the device turns the layout once
// and then, per iteration, only finds the nearest centres. The host counts changes and moves the centres.

namespace {

// Blocks in a square: the grid has as many rows as columns.
__device__ __forceinline__ int point_of_thread() {
  return (gridDim.x * blockIdx.y + blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace

extern "C" __global__ void kmeans_original_invert(const float* points, float* features,
                                                  int num_points, int num_features) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point >= num_points) return;
  for (int f = 0; f < num_features; ++f)
    features[f * num_points + point] = points[point * num_features + f];
}

extern "C" __global__ void kmeans_original_point(const float* features, int num_features,
                                                 int num_points, int num_clusters, int* membership,
                                                 const float* centers) {
  const int point = point_of_thread();
  if (point >= num_points) return;
  int nearest = -1;
  float smallest = 3.402823466e38f;
  for (int c = 0; c < num_clusters; ++c) {
    float distance = 0.0f;
    for (int f = 0; f < num_features; ++f) {
      const float d = features[f * num_points + point] - centers[c * num_features + f];
      distance += d * d;
    }
    if (distance < smallest) {
      smallest = distance;
      nearest = c;
    }
  }
  membership[point] = nearest;
}
