// A kernel that launches kernels: sums by halves.
#include "tests/suite/program.h"

using namespace suite;

__global__ void sum_by_halves(const int* in, int n, int* out) {
  if (n <= 64) {
    int own = 0;
    for (int i = threadIdx.x; i < n; i += 32) own += in[i];
    atomicAdd(out, own);
    return;
  }
  if (threadIdx.x != 0) return;
  sum_by_halves<<<1, 32>>>(in, n / 2, out);
  sum_by_halves<<<1, 32>>>(in + n / 2, n - n / 2, out);
}
PROGRAM(nested_sum) {
  const int n = 1000;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i + 1;
  int* const out = device<int>(1);
  sum_by_halves<<<1, 32>>>(upload(in), n, out);
  CUDA(cudaDeviceSynchronize());
  std::printf("sum %d\n", download(out, 1)[0]);
  return 0;
}
