// Products of matrices by cuBLAS in all its types beside plain code on the CPU, and what else people multiply with.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "tests/suite/program.h"

using namespace suite;

template <class Status>
void must(Status status, const char* call) {
  if (status == 0) return;
  std::printf("%s: status %d\n", call, static_cast<int>(status));
  std::exit(3);
}
#define LIBRARY(call) must(call, #call)

template <class T>
double value_of(T x) {
  if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) return double(float(x));
  else return double(x);
}

/// The largest error of `Out`s, relative to what is larger than 1, over transpositions, factors and leading dimensions.
/// Every 97th element of large products is compared.
template <class In, class Out, class Scale, bool kTf32 = false>
double worst_of(cublasHandle_t handle, int n, cudaDataType_t in, cudaDataType_t out, cublasComputeType_t compute) {
  double worst = 0;
  for (int form = 0; form < 4; ++form) {
    const bool ta = form & 1, tb = form >> 1;
    const int m = n, k = n, pad = form % 3, lda = n + pad, ldb = n + pad, ldc = n + pad;
    const Scale alpha = Scale(form == 2 ? 2 : 1), beta = Scale(form == 3 ? -1 : 0);
    constexpr bool whole = std::is_integral_v<In>;
    const auto values = [&](auto zero, unsigned seed) {
      using T = decltype(zero);
      std::vector<T> v(size_t(lda) * n);
      for (T& x : v) {
        const unsigned upper = seed = seed * 1664525u + 1013904223u;
        seed = seed * 1664525u + 1013904223u;
        double y = (upper + seed * 0x1p-32) * 0x1p-31 - 1;  // in [-1, 1)
        if (kTf32) y = std::round(y * 1024) / 1024;         // which tf32 has
        x = whole ? T(float(std::floor(y * 128))) : T(y);
      }
      return v;
    };
    const auto a = values(In(0.f), 1), b = values(In(0.f), 2);
    const auto c = values(Out(0.f), 3);
    In *const d_a = upload(a), *const d_b = upload(b);
    Out* const d_c = upload(c);
    LIBRARY(cublasGemmEx(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, d_a, in,
                         lda, d_b, in, ldb, &beta, d_c, out, ldc, compute, CUBLAS_GEMM_DEFAULT));
    const auto found = download(d_c, c.size());
    for (int i = 0; i < m * n; i += n > 200 ? 97 : 1) {
      const int row = i % m, column = i / m, at = row + column * ldc;
      double sum = 0;
      for (int x = 0; x < k; ++x)
        sum += value_of(a[ta ? x + row * lda : row + x * lda]) * value_of(b[tb ? column + x * ldb : x + column * ldb]);
      const double want = double(alpha) * sum + double(beta) * value_of(c[at]);
      worst = std::fmax(worst, std::fabs(value_of(found[at]) - want) / std::fmax(1, std::fabs(want)));
    }
    CUDA(cudaFree(d_a));
    CUDA(cudaFree(d_b));
    CUDA(cudaFree(d_c));
  }
  return worst;
}

/// A table of the largest errors; without sizes as arguments only whether they are as small as they should be.
PROGRAM(gemm_table) {
  std::vector<int> sizes = {1, 7, 32, 129};
  if (count > 0) sizes.clear();
  for (int i = 0; i < count; ++i) sizes.push_back(std::atoi(arguments[i]));
  cublasHandle_t handle;
  LIBRARY(cublasCreate(&handle));
  struct Type {
    const char* name;
    double (*worst)(cublasHandle_t, int);
    double bound;  ///< of rounding the result, or sums of f32
  };
  const Type types[] = {
      {"f64", [](cublasHandle_t h, int n) { return worst_of<double, double, double>(h, n, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F); }, 5e-14},
      {"f32", [](cublasHandle_t h, int n) { return worst_of<float, float, float>(h, n, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F); }, 2e-5},
      {"tf32", [](cublasHandle_t h, int n) { return worst_of<float, float, float, true>(h, n, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32); }, 2e-5},
      {"f16", [](cublasHandle_t h, int n) { return worst_of<__half, __half, float>(h, n, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F); }, 1e-3},
      {"f16 to f32", [](cublasHandle_t h, int n) { return worst_of<__half, float, float>(h, n, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F); }, 2e-5},
      {"bf16", [](cublasHandle_t h, int n) { return worst_of<__nv_bfloat16, __nv_bfloat16, float>(h, n, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F); }, 8e-3},
      {"bf16 to f32", [](cublasHandle_t h, int n) { return worst_of<__nv_bfloat16, float, float>(h, n, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F); }, 2e-5},
      {"s8 to s32", [](cublasHandle_t h, int n) { return worst_of<signed char, int, int>(h, n, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I); }, 1e-6}};
  int wrong = 0;
  for (const Type& type : types) {
    if (count > 0) std::printf("%-12s", type.name);
    for (const int n : sizes) {
      const double error = type.worst(handle, n);
      wrong += !(error <= type.bound * std::fmax(1, n / 200.0));
      if (count > 0) std::printf("  %d: %.1e", n, error);
    }
    if (count > 0) std::printf("\n");
  }
  std::printf("products of %d types %s\n", int(sizeof(types) / sizeof(*types)), wrong == 0 ? "agree" : "DIFFER");
  return wrong == 0 ? 0 : 1;
}

/// A network of two layers by cublasLt, there and the gradient of its bias.
PROGRAM(lt_network) {
  const int m = 48, n = 20, k = 30;
  const std::vector<float> a = numbers(m * k, 71), b = numbers(k * n, 72), bias = numbers(m, 73);
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t of_a, of_b, of_c;
  LIBRARY(cublasLtCreate(&handle));
  LIBRARY(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  LIBRARY(cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, m, k, m));
  LIBRARY(cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, k, n, k));
  LIBRARY(cublasLtMatrixLayoutCreate(&of_c, CUDA_R_32F, m, n, m));
  const auto multiply = [&](cublasLtEpilogue_t epilogue, const float* with, float* to) {
    const float one = 1, zero = 0;
    LIBRARY(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)));
    LIBRARY(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &with, sizeof(with)));
    LIBRARY(cublasLtMatmul(handle, desc, &one, upload(a), of_a, upload(b), of_b, &zero, to, of_c, to, of_c, nullptr, nullptr, 0, 0));
  };
  std::vector<float> want(m * n), want_gradient(m);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int x = 0; x < k; ++x) sum += double(a[i + x * m]) * b[x + j * k];
      want[i + j * m] = float(std::fmax(0, sum + bias[i] - 8));
      want_gradient[i] += float(sum);
    }
  std::vector<float> shifted = bias;
  for (float& v : shifted) v -= 8;
  float *const c = device<float>(m * n), *const gradient = device<float>(m);
  multiply(CUBLASLT_EPILOGUE_RELU_BIAS, upload(shifted), c);
  int wrong = compare("activated", download(c, m * n), want, 1e-4);
  multiply(CUBLASLT_EPILOGUE_BGRADA, gradient, c);
  for (int i = 0; i < m; ++i) {
    want_gradient[i] = 0;
    for (int x = 0; x < k; ++x) want_gradient[i] += a[i + x * m];
  }
  wrong += compare("gradients", download(gradient, m), want_gradient, 1e-4);
  return wrong;
}

/// Least squares by the normal equations: a product with its transpose, Cholesky's factor on the host, two triangular systems.
PROGRAM(normal_equations) {
  const int m = 200, n = 12;
  std::vector<double> a(m * n), x(n), y(m), r(n * n);
  for (int i = 0; i < m * n; ++i) a[i] = std::sin(1.0 + i * i % 1013);
  for (int j = 0; j < n; ++j) x[j] = j - 5.5;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) y[i] += a[i + j * m] * x[j];
  cublasHandle_t handle;
  LIBRARY(cublasCreate(&handle));
  const double one = 1, zero = 0;
  double *const d_a = upload(a), *const d_r = upload(r), *const d_z = device<double>(n);
  LIBRARY(cublasDsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, n, m, &one, d_a, m, &zero, d_r, n));
  LIBRARY(cublasDgemv(handle, CUBLAS_OP_T, m, n, &one, d_a, m, upload(y), 1, &zero, d_z, 1));
  r = download(d_r, n * n);
  for (int j = 0; j < n; ++j) {  // Cholesky's factor, below
    for (int p = 0; p < j; ++p)
      for (int i = j; i < n; ++i) r[i + j * n] -= r[i + p * n] * r[j + p * n];
    const double root = std::sqrt(r[j + j * n]);
    for (int i = j; i < n; ++i) r[i + j * n] /= root;
  }
  CUDA(cudaMemcpy(d_r, r.data(), r.size() * sizeof(double), cudaMemcpyDefault));
  LIBRARY(cublasDtrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, d_r, n, d_z, 1));
  LIBRARY(cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, 1, &one, d_r, n, d_z, n));
  const std::vector<double> found = download(d_z, n);
  return compare("solution", {found.begin(), found.end()}, {x.begin(), x.end()}, 1e-6);
}
