// Products of matrices by multiply-add, and of f16 and s8 by matrix instructions. Tiles are 64 x 64.
#include "host/functional/cublas/kernels/gemm_matrix.cuh"

using namespace nearwarp::cublas;

namespace {

constexpr int kDepth = 16, kThreads = 256;

/// 256 threads, each with 4 x 4 sums, 16 apart in rows and columns.
template <class In, class Out, class Sum>
__device__ void multiply(const GemmArgs& p) {
  __shared__ Sum a[kDepth][kTile + 1], b[kDepth][kTile + 1];
  const int item = blockIdx.z, first_row = blockIdx.x * kTile, first_column = blockIdx.y * kTile;
  const In* const from_a = item_of<In>(p.a, item);
  const In* const from_b = item_of<In>(p.b, item);
  const int t = threadIdx.x, own_row = t % 16, own_column = t / 16;
  Sum sum[4][4] = {};
  for (int k = 0; k < p.k; k += kDepth) {
    load<kDepth, kThreads>(a, from_a, p.a.ld, p.transpose_a != 0, first_row, p.m, k, p.k);
    load<kDepth, kThreads>(b, from_b, p.b.ld, p.transpose_b == 0, first_column, p.n, k, p.k);
    __syncthreads();
#pragma unroll
    for (int x = 0; x < kDepth; ++x) {
      Sum left[4], right[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) left[i] = a[x][own_row + 16 * i];
#pragma unroll
      for (int j = 0; j < 4; ++j) right[j] = b[x][own_column + 16 * j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  const Store<Out, Sum> store(p, item);
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      store(first_row + own_row + 16 * i, first_column + own_column + 16 * j, sum[i][j]);
}

}  // namespace

extern "C" {
__global__ void __launch_bounds__(kThreads) cublas_gemm_f32(GemmArgs p) { multiply<float, float, float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_f64(GemmArgs p) { multiply<double, double, double>(p); }
__global__ void __launch_bounds__(kMatrixThreads) cublas_gemm_s8_s32(GemmArgs p) { multiply_by_matrices<signed char, int, signed char, 16, int>(p); }
__global__ void __launch_bounds__(kMatrixThreads) cublas_gemm_s8_f32(GemmArgs p) { multiply_by_matrices<signed char, float, signed char, 16, int, float>(p); }
/// Where there are no matrix instructions for bf16.
__global__ void __launch_bounds__(kThreads) cublas_gemm_bf16_fma(GemmArgs p) { multiply<__nv_bfloat16, __nv_bfloat16, float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_bf16_f32_fma(GemmArgs p) { multiply<__nv_bfloat16, float, float>(p); }
__global__ void __launch_bounds__(kMatrixThreads) cublas_gemm_f16(GemmArgs p) { multiply_by_matrices<__half, __half>(p); }
__global__ void __launch_bounds__(kMatrixThreads) cublas_gemm_f16_f32(GemmArgs p) { multiply_by_matrices<__half, float>(p); }
}
