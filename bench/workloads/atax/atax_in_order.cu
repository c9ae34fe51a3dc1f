// atax.cu, every round of which loads its sum, the element of the matrix and that of the vector in
// the order in which the source names them, where today's compiler keeps the sum in a register and
// loads the vector's element first.
#include "bench/workloads/common/in_order.h"

extern "C" __global__ void atax_rows_in_order(const float* a, const float* x, float* tmp, int rows,
                                              int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  for (int j = 0; j < columns; ++j) {
    const float sum = load_in_order(tmp + i);
    const float element = load_in_order(a + i * columns + j);
    tmp[i] = sum + element * load_in_order(x + j);
  }
}

extern "C" __global__ void atax_columns_in_order(const float* a, const float* tmp, float* y,
                                                 int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  for (int i = 0; i < rows; ++i) {
    const float sum = load_in_order(y + j);
    const float element = load_in_order(a + i * columns + j);
    y[j] = sum + element * load_in_order(tmp + i);
  }
}
