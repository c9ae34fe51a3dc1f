// The two loops of Figure 4 of the TOM paper (LIBOR Monte Carlo), as the paper prints them: inputs
// L, L_b, v, delta, Nmat of the first loop; b, L_b, Nmat, N of the second. Each path finds its
// arrays through a table of pointers, so that L and L_b are one value each, as in the paper's
// function; v is used again after the loops (the paper's function returns it).
extern "C" __global__ void figure4(float* const* rates, float* const* adjoints, float* values,
                                   const float* discounts, float delta, int Nmat, int N) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  float* L = rates[path];
  float* L_b = adjoints[path];
  const float v = values[path];
  const float b = discounts[path];

  for (int n = 0; n < Nmat; n++) L_b[n] = -v * delta / (1.0f + delta * L[n]);

  for (int n = Nmat; n < N; n++) L_b[n] = b * L_b[n];

  values[path] = b * v;
}

// Both loops again, which nvcc is told not to unroll.
extern "C" __global__ void figure4_rolled(float* const* rates, float* const* adjoints,
                                          float* values, const float* discounts, float delta,
                                          int Nmat, int N) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  float* L = rates[path];
  float* L_b = adjoints[path];
  const float v = values[path];
  const float b = discounts[path];

#pragma unroll 1
  for (int n = 0; n < Nmat; n++) L_b[n] = -v * delta / (1.0f + delta * L[n]);

#pragma unroll 1
  for (int n = Nmat; n < N; n++) L_b[n] = b * L_b[n];

  values[path] = b * v;
}
