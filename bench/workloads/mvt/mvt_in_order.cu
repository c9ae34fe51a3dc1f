// mvt.cu, every round of which loads its sum, the element of the matrix and that of the vector in
// the order in which the source names them, where today's compiler keeps the sum in a register and
// loads the vector's element first.
#include "bench/workloads/common/in_order.h"

extern "C" __global__ void mvt_rows_in_order(const float* a, float* x1, const float* y1, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < n; ++j) {
    const float sum = load_in_order(x1 + i);
    const float element = load_in_order(a + i * n + j);
    x1[i] = sum + element * load_in_order(y1 + j);
  }
}

extern "C" __global__ void mvt_columns_in_order(const float* a, float* x2, const float* y2, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < n; ++j) {
    const float sum = load_in_order(x2 + i);
    const float element = load_in_order(a + j * n + i);
    x2[i] = sum + element * load_in_order(y2 + j);
  }
}
