// Triangles of a graph after GraphBIG's: a thread per vertex merges its row, which is in ascending
// order, with those of its neighbours. A triangle is counted at its smallest vertex.
extern "C" __global__ void triangle_count(const int* row_start, const int* edges, int* triangles,
                                          unsigned* total, int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices) return;
  const int end = row_start[v + 1];
  int count = 0;
  for (int e = row_start[v]; e < end; ++e) {
    const int u = edges[e];
    if (u <= v) continue;
    const int other_end = row_start[u + 1];
    int mine = e + 1, other = row_start[u];
    while (mine < end && other < other_end) {
      const int a = edges[mine], b = edges[other];
      count += a == b;
      mine += a <= b;
      other += b <= a;
    }
  }
  triangles[v] = count;
  atomicAdd(total, static_cast<unsigned>(count));
}
