// Breadth-first search with the data structures of Rodinia's bfs: a vertex is a pair of numbers, masks
// are bool, and nothing tells the compiler that stores leave the vertices alone, so that every step of
// the loop over the edges reads the vertex again.

namespace {

struct Vertex {
  int first;  // of its edges
  int edges;
};

}  // namespace

extern "C" __global__ void bfs_original_expand(Vertex* vertices, int* edges, bool* frontier,
                                               bool* updating, bool* visited, int* cost,
                                               int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || !frontier[v]) return;
  frontier[v] = false;
  for (int e = vertices[v].first; e < vertices[v].first + vertices[v].edges; ++e) {
    const int neighbour = edges[e];
    if (!visited[neighbour]) {
      cost[neighbour] = cost[v] + 1;
      updating[neighbour] = true;
    }
  }
}

extern "C" __global__ void bfs_original_advance(bool* frontier, bool* updating, bool* visited,
                                                bool* more, int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || !updating[v]) return;
  frontier[v] = true;
  visited[v] = true;
  *more = true;
  updating[v] = false;
}
