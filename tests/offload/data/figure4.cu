// The two loops of Figure 4 of the TOM paper (LIBOR Monte Carlo), as the paper prints them: inputs
// L, L_b, v, delta, Nmat of the first loop and b, L_b, Nmat, N of the second.
extern "C" __global__ void figure4(const float* __restrict__ rates, float* adjoint,
                                   const float* values, float delta, int Nmat, int N) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  const float* L = rates + path * N;
  float* L_b = adjoint + path * N;
  const float v = values[2 * path];
  const float b = values[2 * path + 1];

  for (int n = 0; n < Nmat; n++) L_b[n] = -v * delta / (1.0f + delta * L[n]);

  for (int n = Nmat; n < N; n++) L_b[n] = b * L_b[n];
}

// The same loops, which nvcc is told not to unroll.
extern "C" __global__ void figure4_rolled(const float* __restrict__ rates, float* adjoint,
                                          const float* values, float delta, int Nmat, int N) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  const float* L = rates + path * N;
  float* L_b = adjoint + path * N;
  const float v = values[2 * path];
  const float b = values[2 * path + 1];

#pragma unroll 1
  for (int n = 0; n < Nmat; n++) L_b[n] = -v * delta / (1.0f + delta * L[n]);

#pragma unroll 1
  for (int n = Nmat; n < N; n++) L_b[n] = b * L_b[n];
}
