// PageRank after Pannotia's: a thread per vertex, which adds up what its neighbours pass on, always
// in the order of its row.

// The share of its rank that a vertex passes on along each of its edges.
extern "C" __global__ void pagerank_share(const int* row_start, const float* rank, float* share,
                                          int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices) return;
  const int edges = row_start[v + 1] - row_start[v];
  share[v] = edges > 0 ? rank[v] / static_cast<float>(edges) : 0.0f;
}

extern "C" __global__ void pagerank_gather(const int* row_start, const int* edges,
                                           const float* share, float* rank, float base,
                                           float damping, int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices) return;
  const int end = row_start[v + 1];
  float sum = 0.0f;
  for (int e = row_start[v]; e < end; ++e) sum += share[edges[e]];
  rank[v] = base + damping * sum;
}
