// The cost of opening a new centre, as in streamcluster.cu, but with the candidate's coordinates in
// global memory: what Pattnaik et al. (ISCA 2019) want for their chains.
extern "C" __global__ void compute_cost(const float* coordinates, const float* weights,
                                        const float* costs, const int* centre_of,
                                        const int* column_of, int candidate, int points,
                                        int dimensions, int columns, float* savings,
                                        int* switches) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= points) return;
  float distance = 0.0f;
  for (int d = 0; d < dimensions; ++d) {
    const float apart = coordinates[d * points + i] - coordinates[d * points + candidate];
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
