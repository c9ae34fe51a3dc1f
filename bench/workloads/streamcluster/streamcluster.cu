// The cost of opening a new centre. Follows Rodinia's streamcluster: a thread per point,
// coordinates by dimension, those of the candidate in shared memory, and per thread a row of what
// each centre would save.
extern "C" __global__ void compute_cost(const float* coordinates, const float* weights,
                                        const float* costs, const int* centre_of,
                                        const int* column_of, int candidate, int points,
                                        int dimensions, int columns, float* savings,
                                        int* switches) {
  extern __shared__ float there[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    for (int d = 0; d < dimensions; ++d) there[d] = coordinates[d * points + candidate];
  __syncthreads();
  if (i >= points) return;
  float distance = 0.0f;
  for (int d = 0; d < dimensions; ++d) {
    const float apart = coordinates[d * points + i] - there[d];
    distance += apart * apart;
  }
  const float cost = distance * weights[i];
  const float now = costs[i];
  float* row = savings + i * (columns + 1);
  if (cost < now) {
    switches[i] = 1;
    row[columns] += cost - now;
  } else {
    row[column_of[centre_of[i]]] += now - cost;
  }
}
