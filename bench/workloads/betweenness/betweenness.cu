// Betweenness centrality after U. Brandes (2001), as in GraphBIG and Pannotia: from each source a
// search that counts shortest paths, then their dependencies from the last level to the first.
// Counts are integers, dependencies are added up in the order of a vertex's row: no result depends
// on the order of threads.

// Passes the path counts of level `level` on to vertices that no level has yet.
extern "C" __global__ void betweenness_expand(const int* row_start, const int* edges,
                                              const int* level_of, unsigned* paths, int level,
                                              int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || level_of[v] != level) return;
  const unsigned here = paths[v];
  const int end = row_start[v + 1];
  for (int e = row_start[v]; e < end; ++e) {
    const int u = edges[e];
    if (level_of[u] < 0) atomicAdd(paths + u, here);
  }
}

// Vertices that paths have reached are the next level; `more` tells the host to go on.
extern "C" __global__ void betweenness_advance(int* level_of, const unsigned* paths, int* more,
                                               int level, int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || level_of[v] >= 0 || paths[v] == 0) return;
  level_of[v] = level + 1;
  *more = 1;
}

// Dependencies of the vertices of level `level`, from those of the next one.
extern "C" __global__ void betweenness_back(const int* row_start, const int* edges,
                                            const int* level_of, const unsigned* paths,
                                            float* dependency, float* betweenness, int level,
                                            int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || level_of[v] != level) return;
  const float here = static_cast<float>(paths[v]);
  const int end = row_start[v + 1];
  float sum = 0.0f;
  for (int e = row_start[v]; e < end; ++e) {
    const int u = edges[e];
    if (level_of[u] == level + 1)
      sum += here / static_cast<float>(paths[u]) * (1.0f + dependency[u]);
  }
  dependency[v] = sum;
  if (level > 0) betweenness[v] += sum;
}
