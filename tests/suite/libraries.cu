// Programs that use CUDA's libraries.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>

#include "tests/suite/program.h"

using namespace suite;

template <class Status>
void must(Status status, const char* call) {
  if (status == 0) return;
  std::printf("%s: status %d\n", call, static_cast<int>(status));
  std::exit(3);
}
#define LIBRARY(call) must(call, #call)

/// The largest eigenvalue of a symmetric matrix by powers.
PROGRAM(cublas_power) {
  const int n = 64;
  std::vector<float> a(n * n), x(n, 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i * n + j] = (i == j ? 2.0f : 0.0f) - (i - j == 1 || j - i == 1 ? 1.0f : 0.0f);
  cublasHandle_t handle;
  LIBRARY(cublasCreate(&handle));
  float *d_a = upload(a), *d_x = upload(x), *d_y = device<float>(n), value = 0;
  CUDA(cudaMemcpy(d_x, numbers(n, 40).data(), n * sizeof(float), cudaMemcpyHostToDevice));
  const float one = 1, zero = 0;
  for (int round = 0; round < 300; ++round) {
    LIBRARY(cublasSgemv(handle, CUBLAS_OP_N, n, n, &one, d_a, n, d_x, 1, &zero, d_y, 1));
    LIBRARY(cublasSnrm2(handle, n, d_y, 1, &value));
    const float scale = 1 / value;
    LIBRARY(cublasScopy(handle, n, d_y, 1, d_x, 1));
    LIBRARY(cublasSscal(handle, n, &scale, d_x, 1));
  }
  std::printf("eigenvalue %.2f, by the formula %.2f\n", value, 2 - 2 * std::cos(n * M_PI / (n + 1)));
  LIBRARY(cublasDestroy(handle));
  return 0;
}

/// Batches of products, transposed and not.
PROGRAM(cublas_batches) {
  const int n = 24, m = 17, k = 31, batch = 5;
  const std::vector<float> a = numbers(batch * m * k, 41), b = numbers(batch * n * k, 42);
  std::vector<float> want(batch * m * n);
  for (int q = 0; q < batch; ++q)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        for (int l = 0; l < k; ++l) want[(q * n + j) * m + i] += a[(q * m + i) * k + l] * b[(q * n + j) * k + l];
  cublasHandle_t handle;
  LIBRARY(cublasCreate(&handle));
  const float one = 1, zero = 0;
  float* const c = device<float>(want.size());
  LIBRARY(cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, upload(a), k, m * k, upload(b), k, n * k,
                                    &zero, c, m, m * n, batch));
  return compare("products", download(c, want.size()), want, 1e-5);
}

/// A signal's strongest frequency, and the signal again.
PROGRAM(cufft_signal) {
  const int n = 480;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = float(std::sin(2 * M_PI * 37 * i / n) + 0.25 * std::cos(2 * M_PI * 111 * i / n));
  cufftHandle forward, back;
  LIBRARY(cufftPlan1d(&forward, n, CUFFT_R2C, 1));
  LIBRARY(cufftPlan1d(&back, n, CUFFT_C2R, 1));
  cufftComplex* const f = device<cufftComplex>(n / 2 + 1);
  float* const d = upload(x);
  LIBRARY(cufftExecR2C(forward, d, f));
  const std::vector<cufftComplex> spectrum = download(f, n / 2 + 1);
  int strongest = 0;
  for (int i = 0; i <= n / 2; ++i)
    if (std::hypot(spectrum[i].x, spectrum[i].y) > std::hypot(spectrum[strongest].x, spectrum[strongest].y)) strongest = i;
  LIBRARY(cufftExecC2R(back, f, d));
  std::vector<float> again = download(d, n);
  for (float& v : again) v /= n;
  std::printf("strongest: %d\n", strongest);
  return compare("signal", again, x, 1e-5);
}

/// Pi by points in a square.
PROGRAM(curand_pi) {
  const int n = 1 << 16;
  float* const d = device<float>(2 * n);
  curandGenerator_t generator;
  LIBRARY(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  LIBRARY(curandSetPseudoRandomGeneratorSeed(generator, 1234));
  LIBRARY(curandGenerateUniform(generator, d, 2 * n));
  const std::vector<float> v = download(d, 2 * n);
  int inside = 0;
  for (int i = 0; i < n; ++i) inside += v[i] * v[i] + v[n + i] * v[n + i] < 1;
  LIBRARY(curandDestroyGenerator(generator));
  const double pi = 4.0 * inside / n;  // with a standard deviation of 0.0064
  std::printf("pi is %s\n", std::fabs(pi - M_PI) < 0.026 ? "about right" : "WRONG");
  return 0;
}

/// A row of differences of squares by a sparse matrix.
PROGRAM(cusparse_rows) {
  const int n = 500;
  std::vector<int> starts = {0}, columns;
  std::vector<float> values, x(n), want(n);
  for (int i = 0; i < n; ++i) x[i] = float(i * i % 97);
  for (int i = 0; i < n; ++i) {
    for (const int j : {i - 1, i, i + 1})
      if (j >= 0 && j < n) columns.push_back(j), values.push_back(j == i ? 2.0f : -1.0f), want[i] += values.back() * x[j];
    starts.push_back(int(columns.size()));
  }
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t in, out;
  LIBRARY(cusparseCreate(&handle));
  float* const y = device<float>(n);
  LIBRARY(cusparseCreateCsr(&a, n, n, values.size(), upload(starts), upload(columns), upload(values), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  LIBRARY(cusparseCreateDnVec(&in, n, upload(x), CUDA_R_32F));
  LIBRARY(cusparseCreateDnVec(&out, n, y, CUDA_R_32F));
  const float one = 1, zero = 0;
  LIBRARY(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in, &zero, out, CUDA_R_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
  return same("differences", download(y, n), want);
}

/// A sparse matrix of halves, as pruned networks have, times four vectors.
PROGRAM(cusparse_pruned) {
  const int rows = 60, columns = 80, vectors = 4;
  std::vector<int> starts = {0}, indices;
  std::vector<__half> values, x(columns * vectors);
  std::vector<float> want(rows * vectors);
  for (int i = 0; i < columns * vectors; ++i) x[i] = __float2half(float(i % 9) - 4);
  for (int i = 0; i < rows; ++i) {
    for (int j = i % 7; j < columns; j += 11) {
      indices.push_back(j);
      values.push_back(__float2half(float((i + j) % 5) - 2));
      for (int v = 0; v < vectors; ++v)
        want[i * vectors + v] += __half2float(values.back()) * __half2float(x[j * vectors + v]);
    }
    starts.push_back(int(indices.size()));
  }
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t b, c;
  LIBRARY(cusparseCreate(&handle));
  float* const y = device<float>(rows * vectors);
  LIBRARY(cusparseCreateCsr(&a, rows, columns, values.size(), upload(starts), upload(indices), upload(values), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_16F));
  LIBRARY(cusparseCreateDnMat(&b, columns, vectors, vectors, upload(x), CUDA_R_16F, CUSPARSE_ORDER_ROW));
  LIBRARY(cusparseCreateDnMat(&c, rows, vectors, vectors, y, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  const float one = 1, zero = 0;
  size_t bytes = 0;
  LIBRARY(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, c,
                                  CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  LIBRARY(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, c, CUDA_R_32F,
                       CUSPARSE_SPMM_ALG_DEFAULT, device<char>(bytes)));
  return same("products", download(y, rows * vectors), want);
}

/// Complex numbers in three dimensions, two of them prime, and back.
PROGRAM(cufft_space) {
  const int x = 13, y = 37, z = 8, n = x * y * z;
  std::vector<cufftDoubleComplex> before(n);
  for (int i = 0; i < n; ++i) before[i] = {std::sin(0.3 * i), std::cos(0.7 * i)};
  cufftHandle plan;
  LIBRARY(cufftPlan3d(&plan, x, y, z, CUFFT_Z2Z));
  cufftDoubleComplex* const d = upload(before);
  LIBRARY(cufftExecZ2Z(plan, d, d, CUFFT_FORWARD));
  const cufftDoubleComplex first = download(d, 1)[0];
  double re = 0, im = 0;
  for (const cufftDoubleComplex& v : before) re += v.x, im += v.y;
  LIBRARY(cufftExecZ2Z(plan, d, d, CUFFT_INVERSE));
  const std::vector<cufftDoubleComplex> after = download(d, n);
  double most = 0;
  for (int i = 0; i < n; ++i) most = std::fmax(most, std::hypot(after[i].x / n - before[i].x, after[i].y / n - before[i].y));
  std::printf("sum %s, %d numbers %s\n", std::hypot(first.x - re, first.y - im) < 1e-10 * n ? "right" : "WRONG", n,
              most < 1e-13 ? "again" : "CHANGED");
  return 0;
}

/// A call that is not there says so, by its name, and by its status.
PROGRAM(cublas_refused) {
  cublasHandle_t handle;
  LIBRARY(cublasCreate(&handle));
  const float one = 1;
  cuComplex* const p = device<cuComplex>(16);
  const cublasStatus_t status = cublasCherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 4, 4, &one, p, 4, &one, p, 4);
  std::printf("cublasCherk: %s\n", status == CUBLAS_STATUS_SUCCESS ? "computed" : status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "?");
  return 0;
}
