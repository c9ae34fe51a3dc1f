// Products of matrices by multiply-add, and of f16 and s8 by matrix instructions. Tiles are 64 x 64.
#include "host/functional/cublas/kernels/gemm_matrix.cuh"

using namespace nearwarp::cublas;

namespace {

/// `n` of what stands together in shared memory, 16 bytes at once.
template <int n, class T>
__device__ void read(T (&to)[n], const T* from) {
  struct alignas(kPieceBytes) Piece {
    T of[kPieceBytes / sizeof(T)];
  };
  constexpr int kOf = kPieceBytes / sizeof(T);
#pragma unroll
  for (int i = 0; i < n; i += kOf) {
    const Piece piece = *reinterpret_cast<const Piece*>(from + i);
#pragma unroll
    for (int j = 0; j < kOf; ++j) to[i + j] = piece.of[j];
  }
}

/// 128 threads, each with 4 rows of 8 columns; these are two times four that stand together, 32 apart.
template <class In, class Out, class Sum>
__device__ void multiply(const GemmArgs& p) {
  constexpr int kDepth = 16, kPitch = kTile + kPieceBytes / int(sizeof(Sum));
  __shared__ alignas(kPieceBytes) Sum a[kDepth][kPitch], b[kDepth][kPitch];
  const int item = blockIdx.z, first_row = blockIdx.x * kTile, first_column = blockIdx.y * kTile;
  using Operand = Pieces<In, kDepth>;
  Operand of_a(item_of<In>(p.a, item), p.a.ld, p.transpose_a != 0, first_row, p.m, p.k);
  Operand of_b(item_of<In>(p.b, item), p.b.ld, p.transpose_b == 0, first_column, p.n, p.k);
  const int own_row = threadIdx.x % 16 * 4, own_column = threadIdx.x / 16 * 4;
  Sum sum[4][8] = {};
  of_a.fetch();
  of_b.fetch();
  for (int k = 0; k < p.k; k += kDepth) {
    of_a.put(a);
    of_b.put(b);
    __syncthreads();
    of_a.fetch();
    of_b.fetch();
#pragma unroll 4
    for (int x = 0; x < kDepth; ++x) {
      Sum left[4], right[2][4];
      read(left, &a[x][own_row]);
      read(right[0], &b[x][own_column]);
      read(right[1], &b[x][own_column + 32]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j / 4][j % 4];
    }
    __syncthreads();
  }
  const Store<Out, Sum> store(p, item);
#pragma unroll
  for (int j = 0; j < 8; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      store(first_row + own_row + i, first_column + own_column + j / 4 * 32 + j % 4, sum[i][j]);
}

}  // namespace

extern "C" {
__global__ void __launch_bounds__(kThreads) cublas_gemm_f32(GemmArgs p) { multiply<float, float, float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_f64(GemmArgs p) { multiply<double, double, double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_s8_s32(GemmArgs p) { multiply_by_matrices<signed char, int, signed char, 16, int>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_s8_f32(GemmArgs p) { multiply_by_matrices<signed char, float, signed char, 16, int, float>(p); }
/// Where there are no matrix instructions for bf16.
__global__ void __launch_bounds__(kThreads) cublas_gemm_bf16_fma(GemmArgs p) { multiply<__nv_bfloat16, __nv_bfloat16, float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_bf16_f32_fma(GemmArgs p) { multiply<__nv_bfloat16, float, float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_f16(GemmArgs p) { multiply_halves<__half, __half>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_f16_f32(GemmArgs p) { multiply_halves<__half, float>(p); }
}
