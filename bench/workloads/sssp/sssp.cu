// Shortest paths from one vertex by relaxation of edges, in two kernels per round after
// P. Harish and P. J. Narayanan (HiPC 2007), as in GraphBIG and Pannotia: no kernel reads what
// others of it write.

// Offers the neighbours of active vertices a path through them.
extern "C" __global__ void sssp_relax(const int* row_start, const int* edges, const int* weights,
                                      unsigned char* active, const int* distance, int* offered,
                                      int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || !active[v]) return;
  active[v] = 0;
  const int here = distance[v];
  const int end = row_start[v + 1];
  for (int e = row_start[v]; e < end; ++e) atomicMin(offered + edges[e], here + weights[e]);
}

// Takes offers that are shorter; `more` tells the host to go on.
extern "C" __global__ void sssp_take(unsigned char* active, int* distance, const int* offered,
                                     int* more, int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || offered[v] >= distance[v]) return;
  distance[v] = offered[v];
  active[v] = 1;
  *more = 1;
}
