// A product by matrix instructions of 16 x 16 x 16, or x 8 for tf32, sums in f32 or s32: a thread block's tile is 64 x 64, of
// four warps with 32 x 32 each.
#pragma once

#include <mma.h>

#include "host/functional/cublas/kernels/gemm_tile.cuh"

namespace nearwarp::cublas {

constexpr int kMatrixThreads = 128;

/// Factors are rounded to other digits than memory has only where they are tf32.
template <class Fragment>
__device__ void round_to_tf32(Fragment& f) {
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = nvcuda::wmma::__float_to_tf32(f.x[i]);
}

/// `Factor`: what the instructions multiply, kStep of k at a time; `Scale`: of alpha and beta.
template <class In, class Out, class Factor = In, int kStep = 16, class Sum = float, class Scale = Sum>
__device__ void multiply_by_matrices(const GemmArgs& p) {
  namespace wmma = nvcuda::wmma;
  // Sixteen of a row, and the next row of the instruction, begin at multiples of 32 bytes.
  constexpr int kBlock = sizeof(In) == 1 ? 32 : 16;
  constexpr int kDepth = 32, kPitch = kTile / 16 * kBlock + (sizeof(In) == 1 ? 32 : 8);
  // Operands while products are made, sums afterwards.
  constexpr int kOperands = 2 * kDepth * kPitch * int(sizeof(In));
  constexpr int kSums = kTile * kTile * int(sizeof(Sum));
  __shared__ alignas(32) unsigned char shared[kOperands > kSums ? kOperands : kSums];
  // a[k][row], b[k][column]
  In(*const a)[kPitch] = reinterpret_cast<In(*)[kPitch]>(shared);
  In(*const b)[kPitch] = a + kDepth;
  const int item = blockIdx.z, first_row = blockIdx.x * kTile, first_column = blockIdx.y * kTile;
  const In* const from_a = item_of<In>(p.a, item);
  const In* const from_b = item_of<In>(p.b, item);
  const int t = threadIdx.x, warp = t / 32;
  const int warp_row = warp % 2 * 32, warp_column = warp / 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, kStep, Sum> sum[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], Sum(0));
  for (int k = 0; k < p.k; k += kDepth) {
    load<kDepth, kMatrixThreads, kBlock>(a, from_a, p.a.ld, p.transpose_a != 0, first_row, p.m, k, p.k);
    load<kDepth, kMatrixThreads, kBlock>(b, from_b, p.b.ld, p.transpose_b == 0, first_column, p.n, k, p.k);
    __syncthreads();
#pragma unroll
    for (int x = 0; x < kDepth; x += kStep) {
      wmma::fragment<wmma::matrix_a, 16, 16, kStep, Factor, wmma::col_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, kStep, Factor, wmma::row_major> right[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(left[i], &a[x][(warp_row / 16 + i) * kBlock], kPitch);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(right[j], &b[x][(warp_column / 16 + j) * kBlock], kPitch);
      if constexpr (sizeof(In) == sizeof(float))
        for (int i = 0; i < 2; ++i) round_to_tf32(left[i]), round_to_tf32(right[i]);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
    }
    __syncthreads();
  }
  Sum* const sums = reinterpret_cast<Sum*>(shared);  // [column][row]
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(sums + (warp_column + 16 * j) * kTile + warp_row + 16 * i, sum[i][j], kTile,
                              wmma::mem_col_major);
  __syncthreads();
  const Store<Out, Scale> store(p, item);
  for (int i = t; i < kTile * kTile; i += kMatrixThreads)
    store(first_row + i % kTile, first_column + i / kTile, Scale(sums[i]));
}

}  // namespace nearwarp::cublas
