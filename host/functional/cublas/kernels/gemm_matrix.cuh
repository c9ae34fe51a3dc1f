// A product by matrix instructions of 16 x 16 x 16, sums in f32: a thread block's tile is 64 x 64, of
// four warps with 32 x 32 each.
#pragma once

#include <mma.h>

#include "host/functional/cublas/kernels/gemm_tile.cuh"

namespace nearwarp::cublas {

constexpr int kMatrixThreads = 128;

template <class In, class Out>
__device__ void multiply_by_matrices(const GemmArgs& p) {
  namespace wmma = nvcuda::wmma;
  constexpr int kTile = 64, kDepth = 32, kPad = 8;
  // Operands while products are made, sums afterwards.
  constexpr int kOperands = 2 * kDepth * (kTile + kPad) * int(sizeof(In));
  constexpr int kSums = kTile * kTile * int(sizeof(float));
  __shared__ alignas(32) unsigned char shared[kOperands > kSums ? kOperands : kSums];
  // a[k][row], b[k][column]
  In(*const a)[kTile + kPad] = reinterpret_cast<In(*)[kTile + kPad]>(shared);
  In(*const b)[kTile + kPad] = a + kDepth;
  const int item = blockIdx.z, first_row = blockIdx.x * kTile, first_column = blockIdx.y * kTile;
  const In* const from_a = item_of<In>(p.a, item);
  const In* const from_b = item_of<In>(p.b, item);
  const int t = threadIdx.x, warp = t / 32;
  const int warp_row = warp % 2 * 32, warp_column = warp / 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  for (int k = 0; k < p.k; k += kDepth) {
#pragma unroll 2
    for (int i = t; i < kTile * kDepth; i += kMatrixThreads) {
      const int x = p.transpose_a != 0 ? i % kDepth : i / kTile;
      const int row = p.transpose_a != 0 ? i / kDepth : i % kTile;
      const bool in_a = first_row + row < p.m && k + x < p.k;
      const long long at_a = p.transpose_a != 0 ? k + x + (first_row + row) * p.a.ld
                                                : first_row + row + (k + x) * p.a.ld;
      a[x][row] = in_a ? from_a[at_a] : convert<In>(0.0f);
      const int y = p.transpose_b != 0 ? i / kTile : i % kDepth;
      const int column = p.transpose_b != 0 ? i % kTile : i / kDepth;
      const bool in_b = first_column + column < p.n && k + y < p.k;
      const long long at_b = p.transpose_b != 0 ? first_column + column + (k + y) * p.b.ld
                                                : k + y + (first_column + column) * p.b.ld;
      b[y][column] = in_b ? from_b[at_b] : convert<In>(0.0f);
    }
    __syncthreads();
#pragma unroll
    for (int x = 0; x < kDepth; x += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, In, wmma::col_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, In, wmma::row_major> right[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(left[i], &a[x][warp_row + 16 * i], kTile + kPad);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(right[j], &b[x][warp_column + 16 * j], kTile + kPad);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
    }
    __syncthreads();
  }
  float* const sums = reinterpret_cast<float*>(shared);  // [column][row]
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(sums + (warp_column + 16 * j) * kTile + warp_row + 16 * i, sum[i][j], kTile,
                              wmma::mem_col_major);
  __syncthreads();
  const Store<Out, float> store(p, item);
  for (int i = t; i < kTile * kTile; i += kMatrixThreads)
    store(first_row + i % kTile, first_column + i / kTile, sums[i]);
}

}  // namespace nearwarp::cublas
