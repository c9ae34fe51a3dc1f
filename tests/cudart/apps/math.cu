// Functions of CUDA's math library in both precisions, halves and 8-bit floating point.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <vector>

#include "tests/cudart/apps/check.h"

constexpr int kFunctions = 15;

template <class T>
__host__ __device__ void functions(T x, T* y, int stride) {
  const T a = fabs(x);
  const T all[kFunctions] = {erf(x),          exp(x),
                             log(a + T(0.1)), pow(a, T(1.7)),
                             sin(x),          cos(x),
                             tanh(x),         cbrt(x),
                             lgamma(a + 1),   atan2(x, T(2)),
                             sqrt(a),         fmod(x, T(0.7)),
                             sin(x * T(1e5)), rint(x) + floor(x) + trunc(x),
                             hypot(x, T(3))};
  for (int i = 0; i < kFunctions; ++i) y[i * stride] = all[i];
}

template <class T>
__global__ void evaluate(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) functions(x[i], y + i, n);
}

template <class T>
void check_functions(double tolerance) {
  constexpr int n = 500;
  T *x, *y;
  CUDA(cudaMallocManaged(&x, n * sizeof(T)));
  CUDA(cudaMallocManaged(&y, n * kFunctions * sizeof(T)));
  for (int i = 0; i < n; ++i) x[i] = static_cast<T>((i - n / 2) * 0.02 + 0.003);
  evaluate<<<4, 128>>>(x, y, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    double expected[kFunctions];
    functions(static_cast<double>(x[i]), expected, 1);
    if (sizeof(T) == 4) {  // a rounded argument would be another number
      expected[11] = std::fmod(x[i], T(0.7));
      expected[12] = std::sin(static_cast<double>(x[i] * T(1e5)));
    }
    for (int f = 0; f < kFunctions; ++f) {
      const double error = std::fabs(y[f * n + i] - expected[f]);
      if (error > tolerance * (1 + std::fabs(expected[f])))
        std::printf("function %d of %g: %.17g, not %.17g\n", f, double(x[i]), double(y[f * n + i]),
                    expected[f]);
      CHECK(error <= tolerance * (1 + std::fabs(expected[f])));
    }
  }
}

__global__ void halves(const float* x, float* y, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const half2 v = __floats2half2_rn(x[i], x[i + 1]);
  half2 w = __hfma2(v, __float2half2_rn(0.5f), h2exp(v));
  w = h2sqrt(__habs2(__hmax2(w, __hneg2(v))));
  y[i] = __low2float(w);
  y[i + 1] = __high2float(w);
  __nv_bfloat162 b = __floats2bfloat162_rn(x[i], x[i + 1]);
  b = __hadd2(b, b);
  y[n + i] = __low2float(b);
  y[n + i + 1] = __high2float(b);
}
__global__ void sums(half2* pair, __nv_bfloat16* one) {
  atomicAdd(pair, __floats2half2_rn(1, 2));
  atomicAdd(one, __float2bfloat16(1));
}
__global__ void eight_bits(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  y[i] = static_cast<float>(__nv_fp8_e4m3(x[i]));
  y[n + i] = static_cast<float>(__nv_fp8_e5m2(x[i]));
}

void check_halves() {
  constexpr int n = 64;
  float *x, *y;
  half2* pair;
  __nv_bfloat16* one;
  CUDA(cudaMallocManaged(&x, n * sizeof(float)));
  CUDA(cudaMallocManaged(&y, 2 * n * sizeof(float)));
  CUDA(cudaMallocManaged(&pair, sizeof(half2)));
  CUDA(cudaMallocManaged(&one, sizeof(__nv_bfloat16)));
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i - n / 2) * 0.125f;
  halves<<<1, n / 2>>>(x, y, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    const float e = std::sqrt(std::fabs(std::fmax(x[i] * 0.5f + std::exp(x[i]), -x[i])));
    CHECK(std::fabs(y[i] - e) < 4e-3f * (1 + e));
    CHECK(y[n + i] == 2 * x[i]);
  }
  CUDA(cudaMemset(pair, 0, sizeof(half2)));
  CUDA(cudaMemset(one, 0, sizeof(__nv_bfloat16)));
  sums<<<2, 32>>>(pair, one);
  for (int i = 0; i < n; ++i) x[i] *= 100;  // beyond the largest e4m3
  eight_bits<<<1, n>>>(x, y, n);
  CUDA(cudaDeviceSynchronize());
  CHECK(__low2float(*pair) == 64 && __high2float(*pair) == 128 && __bfloat162float(*one) == 64);
  for (int i = 0; i < n; ++i)
    CHECK(y[i] == static_cast<float>(__nv_fp8_e4m3(x[i])) &&
          y[n + i] == static_cast<float>(__nv_fp8_e5m2(x[i])));
}

using Wide = unsigned __int128;

__global__ void divide(const Wide* a, const Wide* b, Wide* quotients, Wide* rests, __int128* signs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  quotients[i] = a[i] / b[i];
  rests[i] = a[i] % b[i];
  signs[i] = static_cast<__int128>(a[i]) / static_cast<__int128>(b[i]);
}

/// Divisions with divisors of every bit length, and with quotients at the limits.
void check_wide_integers() {
  constexpr int n = 4096;
  Wide *a, *b, *quotients, *rests;
  __int128* signs;
  CUDA(cudaMallocManaged(&a, n * sizeof(Wide)));
  CUDA(cudaMallocManaged(&b, n * sizeof(Wide)));
  CUDA(cudaMallocManaged(&quotients, n * sizeof(Wide)));
  CUDA(cudaMallocManaged(&rests, n * sizeof(Wide)));
  CUDA(cudaMallocManaged(&signs, n * sizeof(Wide)));
  unsigned long long state = 1;
  const auto random = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return state ^ state >> 29;
  };
  for (int i = 0; i < n; ++i) {
    a[i] = (static_cast<Wide>(random()) << 64 | random()) >> (i / 97 % 128);
    b[i] = (static_cast<Wide>(random()) << 64 | random()) >> (i % 128);
    if (i % 7 == 0) a[i] = b[i] * (i + 1);
    if (i % 7 == 1) a[i] = b[i] * (i + 1) - 1;
    if (i % 7 == 2) b[i] = static_cast<Wide>(1) << (i % 127);
    if (b[i] == 0) b[i] = 3;
  }
  divide<<<n / 128, 128>>>(a, b, quotients, rests, signs);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    CHECK(quotients[i] == a[i] / b[i] && rests[i] == a[i] % b[i]);
    CHECK(signs[i] == static_cast<__int128>(a[i]) / static_cast<__int128>(b[i]));
  }
}

int main() {
  check_wide_integers();
  check_functions<double>(1e-12);
  check_functions<float>(1e-5);
  check_halves();
  return passed();
}
