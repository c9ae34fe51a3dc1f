// K-means with features in panels of 32 points, panels[point / 32][feature][point % 32], so that a
// warp reads consecutive lines (pim-tuning, section 3.2.1). The kernel that lays out the points does
// it. Warps all begin with the first feature: panels are not a multiple of the L2's sets apart.

// As kmeans_transpose.
extern "C" __global__ void kmeans_panels(const float* points, float* panels, int num_points,
                                         int num_features) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point >= num_points) return;
  float* panel = panels + point / 32 * num_features * 32 + point % 32;
  for (int f = 0; f < num_features; ++f) panel[f * 32] = points[point * num_features + f];
}

// As kmeans_assign.
extern "C" __global__ void kmeans_assign_panels(const float* panels, const float* centers,
                                                int* membership, int* changed, int num_points,
                                                int num_features, int num_clusters) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point >= num_points) return;
  const float* panel = panels + point / 32 * num_features * 32 + point % 32;
  int best = -1;
  float best_distance = 3.0e38f;
  for (int c = 0; c < num_clusters; ++c) {
    float distance = 0.0f;
    for (int f = 0; f < num_features; ++f) {
      const float d = panel[f * 32] - centers[c * num_features + f];
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

// As kmeans_sum: a block goes through one feature of many panels.
extern "C" __global__ void kmeans_sum_panels(const float* panels, const int* membership,
                                             float* partial, int num_points, int num_features,
                                             int num_clusters) {
  __shared__ float sums[kMaxClusters * kSumThreads];
  const int feature = blockIdx.x;
  for (int c = 0; c < num_clusters; ++c) sums[c * kSumThreads + threadIdx.x] = 0.0f;
  for (int p = blockIdx.y * kSumThreads + threadIdx.x; p < num_points;
       p += gridDim.y * kSumThreads) {
    const float value = feature < num_features
                            ? panels[(p / 32 * num_features + feature) * 32 + p % 32]
                            : 1.0f;
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

// As in kmeans.cu.
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
