// cuSPARSE as an application uses it: conjugate gradients for the Laplacian of a plane.
#include <cusparse.h>

#include <cmath>
#include <vector>

#include "tests/cudart/apps/check.h"

#define SPARSE(call) CHECK((call) == CUSPARSE_STATUS_SUCCESS)

__global__ void add(double* y, const double* x, double factor, double keep, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = keep * y[i] + factor * x[i];
}
__global__ void dot(const double* x, const double* y, int n, double* to) {
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += x[i] * y[i];
  for (int k = 16; k != 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (threadIdx.x == 0) *to = sum;
}

int main() {
  constexpr int side = 20, n = side * side;
  std::vector<int> offsets = {0}, columns;
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    const auto put = [&](int column, double value) {
      columns.push_back(column);
      values.push_back(value);
    };
    if (i >= side) put(i - side, -1);
    if (i % side != 0) put(i - 1, -1);
    put(i, 4);
    if (i % side != side - 1) put(i + 1, -1);
    if (i < n - side) put(i + side, -1);
    offsets.push_back(int(columns.size()));
  }
  const auto to_device = [](const auto& v) {
    void* p;
    CUDA(cudaMalloc(&p, v.size() * sizeof(v[0])));
    CUDA(cudaMemcpy(p, v.data(), v.size() * sizeof(v[0]), cudaMemcpyHostToDevice));
    return p;
  };
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = std::sin(0.37 * i);
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t x_vector, p_vector, q_vector;
  auto* const x = static_cast<double*>(to_device(expected));
  auto* const r = static_cast<double*>(to_device(std::vector<double>(n)));
  auto* const p = static_cast<double*>(to_device(std::vector<double>(n)));
  auto* const q = static_cast<double*>(to_device(std::vector<double>(n)));
  double* sum;
  CUDA(cudaMallocManaged(&sum, sizeof(double)));
  SPARSE(cusparseCreate(&handle));
  SPARSE(cusparseCreateCsr(&a, n, n, int64_t(values.size()), to_device(offsets), to_device(columns),
                           to_device(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  SPARSE(cusparseCreateDnVec(&x_vector, n, x, CUDA_R_64F));
  SPARSE(cusparseCreateDnVec(&p_vector, n, p, CUDA_R_64F));
  SPARSE(cusparseCreateDnVec(&q_vector, n, q, CUDA_R_64F));
  const double one = 1, zero = 0;
  size_t bytes = 0;
  SPARSE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x_vector, &zero,
                                 p_vector, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  void* buffer = nullptr;
  CUDA(cudaMalloc(&buffer, bytes));
  const auto multiply = [&](cusparseDnVecDescr_t from, cusparseDnVecDescr_t to) {
    SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, from, &zero, to,
                        CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  };
  const auto product = [&](const double* u, const double* v) {
    dot<<<1, 32>>>(u, v, n, sum);
    CUDA(cudaDeviceSynchronize());
    return *sum;
  };
  const auto combine = [&](double* y, const double* u, double factor, double keep) {
    add<<<(n + 127) / 128, 128>>>(y, u, factor, keep, n);
  };
  multiply(x_vector, p_vector);  // the right-hand side, with which r and p begin
  combine(r, p, 1, 0);
  combine(x, x, 0, 0);
  double rr = product(r, r);
  int rounds = 0;
  for (const double first = rr; rr > 1e-24 * first && rounds < n; ++rounds) {
    multiply(p_vector, q_vector);
    const double alpha = rr / product(p, q);
    combine(x, p, alpha, 1);
    combine(r, q, -alpha, 1);
    const double next = product(r, r);
    combine(p, r, 1, next / rr);
    rr = next;
  }
  std::vector<double> result(n);
  CUDA(cudaMemcpy(result.data(), x, n * sizeof(double), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(std::fabs(result[i] - expected[i]) < 1e-9);
  std::printf("%d rounds\n", rounds);
  SPARSE(cusparseDestroyDnVec(x_vector));
  SPARSE(cusparseDestroyDnVec(p_vector));
  SPARSE(cusparseDestroyDnVec(q_vector));
  SPARSE(cusparseDestroySpMat(a));
  SPARSE(cusparseDestroy(handle));
  return passed();
}
