// K-means clustering with all data in global memory, after Rodinia's kmeans in the variant of
// Rogers et al. (MICRO 2012) that replaces texture and constant memory. The update of the centres
// also runs on the device, as partial sums in a fixed order, so that results are reproducible.

// Turn the points' layout from [point][feature] to [feature][point]: neighbours coalesce.
extern "C" __global__ void kmeans_transpose(const float* points, float* features, int num_points,
                                            int num_features) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point >= num_points) return;
  for (int f = 0; f < num_features; ++f)
    features[f * num_points + point] = points[point * num_features + f];
}

// Assign each point to its nearest centre; `changed` counts the points that moved.
extern "C" __global__ void kmeans_assign(const float* features, const float* centers,
                                         int* membership, int* changed, int num_points,
                                         int num_features, int num_clusters) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point >= num_points) return;
  int best = -1;
  float best_distance = 3.0e38f;
  for (int c = 0; c < num_clusters; ++c) {
    float distance = 0.0f;
    for (int f = 0; f < num_features; ++f) {
      const float d = features[f * num_points + point] - centers[c * num_features + f];
      distance += d * d;
    }
    if (distance < best_distance) {
      best_distance = distance;
      best = c;
    }
  }
  if (membership[point] != best) {
    atomicAdd(changed, 1);
    membership[point] = best;
  }
}

constexpr int kSumThreads = 128;
constexpr int kMaxClusters = 16;

// Sums of one feature (blockIdx.x) over one slice of the points (blockIdx.y) for every cluster;
// blockIdx.x == num_features counts points. partial[slice][cluster][num_features + 1].
extern "C" __global__ void kmeans_sum(const float* features, const int* membership, float* partial,
                                      int num_points, int num_features, int num_clusters) {
  __shared__ float sums[kMaxClusters * kSumThreads];
  const int feature = blockIdx.x;
  for (int c = 0; c < num_clusters; ++c) sums[c * kSumThreads + threadIdx.x] = 0.0f;
  for (int p = blockIdx.y * kSumThreads + threadIdx.x; p < num_points;
       p += gridDim.y * kSumThreads) {
    const float value = feature < num_features ? features[feature * num_points + p] : 1.0f;
    sums[membership[p] * kSumThreads + threadIdx.x] += value;
  }
  for (int half = kSumThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      for (int c = 0; c < num_clusters; ++c)
        sums[c * kSumThreads + threadIdx.x] += sums[c * kSumThreads + threadIdx.x + half];
    }
  }
  __syncthreads();
  if (threadIdx.x < num_clusters) {
    partial[(blockIdx.y * num_clusters + threadIdx.x) * (num_features + 1) + feature] =
        sums[threadIdx.x * kSumThreads];
  }
}

// New centres: the partial sums of all slices over the clusters' sizes. An empty cluster stays.
extern "C" __global__ void kmeans_update(const float* partial, float* centers, int num_slices,
                                         int num_features, int num_clusters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= num_clusters * num_features) return;
  const int cluster = i / num_features;
  const int feature = i % num_features;
  float sum = 0.0f, count = 0.0f;
  for (int s = 0; s < num_slices; ++s) {
    const float* row = partial + (s * num_clusters + cluster) * (num_features + 1);
    sum += row[feature];
    count += row[num_features];
  }
  if (count > 0.0f) centers[i] = sum / count;
}
