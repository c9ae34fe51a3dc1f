// Graph colouring after M. Luby (1986) and M. T. Jones and P. E. Plassmann (1993), as in GraphBIG
// and Pannotia: in each round the vertices whose number is the greatest among their uncoloured
// neighbours take the round's colour. Two kernels per round: none reads what others of it write.

// Numbers are all different.
extern "C" __global__ void colouring_choose(const int* row_start, const int* edges,
                                            const int* number, const int* colour,
                                            unsigned char* chosen, int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || colour[v] >= 0) return;
  const int mine = number[v];
  const int end = row_start[v + 1];
  bool greatest = true;
  for (int e = row_start[v]; e < end; ++e) {
    const int u = edges[e];
    if (colour[u] < 0 && number[u] > mine) {
      greatest = false;
      break;
    }
  }
  chosen[v] = greatest;
}

// `more` tells the host that vertices are left.
extern "C" __global__ void colouring_apply(int* colour, const unsigned char* chosen, int* more,
                                           int round, int num_vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= num_vertices || colour[v] >= 0) return;
  if (chosen[v])
    colour[v] = round;
  else
    *more = 1;
}
