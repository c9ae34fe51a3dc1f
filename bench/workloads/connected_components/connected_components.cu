// Connected components by hooking and pointer jumping after J. Soman et al. (IPDPS workshops 2010),
// as in GraphBIG. `label` is a vertex's component as of the last round, `parent` what components
// hook to in this one; no kernel reads what others of it write, and the smallest label wins.

// Each edge hooks the component of greater label to the other one.
extern "C" __global__ void components_hook(const int* row_start, const int* edges,
                                           const int* label, int* parent, int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices) return;
  const int mine = label[v];
  const int end = row_start[v + 1];
  for (int e = row_start[v]; e < end; ++e) {
    const int other = label[edges[e]];
    if (other < mine) atomicMin(parent + mine, other);
  }
}

// Each vertex follows its component to what it hangs on by now; `more` tells the host to go on.
extern "C" __global__ void components_jump(int* label, const int* parent, int* more,
                                           int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices) return;
  const int before = label[v];
  int root = before;
  for (int up = parent[root]; up != root; up = parent[root]) root = up;
  if (root == before) return;
  label[v] = root;
  *more = 1;
}
