// Degree centrality after GraphBIG's: a thread per vertex counts the edges that leave it, and with
// atomic additions those that arrive elsewhere.
extern "C" __global__ void degree_centrality(const int* row_start, const int* edges, int* degree,
                                             int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices) return;
  const int begin = row_start[v], end = row_start[v + 1];
  atomicAdd(degree + v, end - begin);
  for (int e = begin; e < end; ++e) atomicAdd(degree + edges[e], 1);
}
