// An application as its users write it: a product by cuBLAS, and its result on the host.
#include <cublas_v2.h>

#include <cstdio>
#include <vector>

int main() {
  const int n = 96;
  std::vector<float> a(n * n, 1), b(n * n, 2), c(n * n);
  float *on_a, *on_b, *on_c;
  cudaMalloc(&on_a, n * n * sizeof(float));
  cudaMalloc(&on_b, n * n * sizeof(float));
  cudaMalloc(&on_c, n * n * sizeof(float));
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  cublasSetMatrix(n, n, sizeof(float), a.data(), n, on_a, n);
  cublasSetMatrix(n, n, sizeof(float), b.data(), n, on_b, n);
  const float alpha = 1, beta = 0;
  if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &alpha, on_a, n, on_b, n, &beta, on_c,
                  n) != CUBLAS_STATUS_SUCCESS)
    return 1;
  cublasGetMatrix(n, n, sizeof(float), on_c, n, c.data(), n);
  for (const float x : c)
    if (x != 2 * n) return 1;
  cublasDestroy(handle);
  std::puts("right");
  return 0;
}
