// Breadth-first search in two kernels per level, after Rodinia's bfs: one thread per vertex, the
// frontier as a byte mask, a graph in compressed sparse rows.

// Visit the neighbours of the frontier.
extern "C" __global__ void bfs_expand(const int* row_start, const int* edges,
                                      unsigned char* frontier, unsigned char* updating,
                                      const unsigned char* visited, int* cost, int num_vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= num_vertices || !frontier[vertex]) return;
  frontier[vertex] = 0;
  const int end = row_start[vertex + 1];
  for (int e = row_start[vertex]; e < end; ++e) {
    const int neighbour = edges[e];
    if (!visited[neighbour]) {
      cost[neighbour] = cost[vertex] + 1;
      updating[neighbour] = 1;
    }
  }
}

// Make what was reached the next frontier; `more` tells the host to go on.
extern "C" __global__ void bfs_advance(unsigned char* frontier, unsigned char* updating,
                                       unsigned char* visited, int* more, int num_vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= num_vertices || !updating[vertex]) return;
  frontier[vertex] = 1;
  visited[vertex] = 1;
  updating[vertex] = 0;
  *more = 1;
}
