// A product by matrix instructions of 16 x 16 x 16, or x 8 for tf32, sums in f32: a thread block's tile is 64 x 64, of
// four warps with 32 x 32 each.
#pragma once

#include <mma.h>

#include "host/functional/cublas/kernels/gemm_tile.cuh"

namespace nearwarp::cublas {

constexpr int kMatrixThreads = 128;

/// What instructions multiply has other digits than what is in memory only where it is tf32.
template <class Fragment>
__device__ void round_to_tf32(Fragment& f) {
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = nvcuda::wmma::__float_to_tf32(f.x[i]);
}

/// `Factor`: what the instructions multiply, kStep of k at a time.
template <class In, class Out, class Factor = In, int kStep = 16>
__device__ void multiply_by_matrices(const GemmArgs& p) {
  namespace wmma = nvcuda::wmma;
  constexpr int kDepth = 32, kPad = 8;
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
  wmma::fragment<wmma::accumulator, 16, 16, kStep, float> sum[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  for (int k = 0; k < p.k; k += kDepth) {
    load<kDepth, kMatrixThreads>(a, from_a, p.a.ld, p.transpose_a != 0, first_row, p.m, k, p.k);
    load<kDepth, kMatrixThreads>(b, from_b, p.b.ld, p.transpose_b == 0, first_column, p.n, k, p.k);
    __syncthreads();
#pragma unroll
    for (int x = 0; x < kDepth; x += kStep) {
      wmma::fragment<wmma::matrix_a, 16, 16, kStep, Factor, wmma::col_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, kStep, Factor, wmma::row_major> right[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(left[i], &a[x][warp_row + 16 * i], kTile + kPad);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(right[j], &b[x][warp_column + 16 * j], kTile + kPad);
      if constexpr (sizeof(In) == sizeof(float))
        for (int i = 0; i < 2; ++i) round_to_tf32(left[i]), round_to_tf32(right[i]);
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
