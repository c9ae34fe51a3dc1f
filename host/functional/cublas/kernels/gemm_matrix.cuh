// A product by matrix instructions: a thread block's tile is 64 x 64, of four warps with 32 x 32 each.
#pragma once

#include <mma.h>

#include "host/functional/cublas/kernels/gemm_tile.cuh"

namespace nearwarp::cublas {

/// Sums of a tile, sums[column][row] in shared memory, to where results belong.
template <class Out, class Scale, class Sum>
__device__ void store_sums(const GemmArgs& p, int item, int first_row, int first_column, const Sum* sums) {
  const Store<Out, Scale> store(p, item);
  for (int i = threadIdx.x; i < kTile * kTile; i += kThreads)
    store(first_row + i % kTile, first_column + i / kTile, Scale(sums[i]));
}

/// Factors are rounded to other digits than memory has only where they are tf32.
template <class Fragment>
__device__ void round_to_tf32(Fragment& f) {
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = nvcuda::wmma::__float_to_tf32(f.x[i]);
}

/// Products of tf32 and bytes, by instructions of 16 x 16 x kStep: fragments cannot be transposed as they are read, so operands
/// stand in shared memory as [k][row or column]. `Factor`: what is multiplied; `Scale`: of alpha and beta.
template <class In, class Out, class Factor, int kStep, class Sum = float, class Scale = Sum>
__device__ void multiply_by_matrices(const GemmArgs& p) {
  namespace wmma = nvcuda::wmma;
  // Sixteen of a row, and the next row of the instruction, begin at multiples of 32 bytes.
  constexpr int kBlock = sizeof(In) == 1 ? 32 : 16;
  constexpr int kDepth = 32, kPitch = kTile / 16 * kBlock + (sizeof(In) == 1 ? 32 : 8);
  // Operands while products are made, sums afterwards.
  constexpr int kOperands = 2 * kDepth * kPitch * int(sizeof(In));
  constexpr int kSums = kTile * kTile * int(sizeof(Sum));
  __shared__ alignas(32) unsigned char shared[kOperands > kSums ? kOperands : kSums];
  In(*const a)[kPitch] = reinterpret_cast<In(*)[kPitch]>(shared);
  In(*const b)[kPitch] = a + kDepth;
  const int item = blockIdx.z, first_row = blockIdx.x * kTile, first_column = blockIdx.y * kTile;
  using Operand = Pieces<In, kDepth>;
  Operand of_a(item_of<In>(p.a, item), p.a.ld, p.transpose_a != 0, first_row, p.m, p.k);
  Operand of_b(item_of<In>(p.b, item), p.b.ld, p.transpose_b == 0, first_column, p.n, p.k);
  const int warp = threadIdx.x / 32, warp_row = warp % 2 * 32, warp_column = warp / 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, kStep, Sum> sum[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], Sum(0));
  of_a.fetch();
  of_b.fetch();
  for (int k = 0; k < p.k; k += kDepth) {
    of_a.template put<kBlock>(a);
    of_b.template put<kBlock>(b);
    __syncthreads();
    of_a.fetch();
    of_b.fetch();
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
  store_sums<Out, Scale>(p, item, first_row, first_column, sums);
}

/// sum += a[16, 8] * b[8, 8]
__device__ inline void multiply_add(float (&sum)[4], const unsigned (&a)[2], unsigned b, __half) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}
__device__ inline void multiply_add(float (&sum)[4], const unsigned (&a)[2], unsigned b, __nv_bfloat16) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

/// Reads fragments of an operand that stands in shared memory as in memory (Pieces::put_lines).
template <class In, class Operand>
struct Fragments {
  unsigned at, step;  ///< bytes: where this lane's eight of k = 0 begin, and from one of k to the next
  unsigned along;

  /// Fragments of 32 rows or columns, from i on.
  __device__ Fragments(const In* lines, const Operand& of, int i) : along(of.along ? 1 : 0) {
    const int lane = threadIdx.x % 32;
    const int place = of.along ? (i + lane) * Operand::kPitchAlong : lane % 8 * Operand::kPitchAcross + i + lane / 8 * 8;
    at = static_cast<unsigned>(__cvta_generic_to_shared(lines + place));
    step = (of.along ? 1 : Operand::kPitchAcross) * sizeof(In);
  }

  /// Eight of k from x on: a register for each eight rows or columns.
  __device__ void read(unsigned (&to)[4], int x) const {
    asm volatile(
        "{.reg .pred along; setp.ne.u32 along, %5, 0;\n"
        "@along ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
        "@!along ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];}"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(at + x * step), "r"(along)
        : "memory");
  }
};

/// Products of f16 and bf16, by instructions of 16 x 8 x 8, sums in f32.
template <class In, class Out>
__device__ void multiply_halves(const GemmArgs& p) {
  constexpr int kDepth = 32;
  using Operand = Pieces<In, kDepth>;
  // Operands while products are made, sums afterwards.
  __shared__ alignas(kPieceBytes) float sums[kTile * kTile];  // [column][row]
  static_assert(2 * Operand::kShared * sizeof(In) <= sizeof(sums));
  In* const a = reinterpret_cast<In*>(sums);
  In* const b = a + Operand::kShared;
  const int item = blockIdx.z, first_row = blockIdx.x * kTile, first_column = blockIdx.y * kTile;
  Operand of_a(item_of<In>(p.a, item), p.a.ld, p.transpose_a != 0, first_row, p.m, p.k);
  Operand of_b(item_of<In>(p.b, item), p.b.ld, p.transpose_b == 0, first_column, p.n, p.k);
  const int warp = threadIdx.x / 32, warp_row = warp % 2 * 32, warp_column = warp / 2 * 32;
  const Fragments<In, Operand> rows(a, of_a, warp_row), columns(b, of_b, warp_column);
  float sum[2][4][4] = {};
  of_a.fetch();
  of_b.fetch();
  for (int k = 0; k < p.k; k += kDepth) {
    of_a.put_lines(a);
    of_b.put_lines(b);
    __syncthreads();
    of_a.fetch();
    of_b.fetch();
#pragma unroll
    for (int x = 0; x < kDepth; x += 8) {
      unsigned left[4], right[4];
      rows.read(left, x);
      columns.read(right, x);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const unsigned of_rows[2] = {left[2 * i], left[2 * i + 1]};
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply_add(sum[i][j], of_rows, right[j], In());
      }
    }
    __syncthreads();
  }
  // A lane has two columns of two rows of each instruction's results.
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        sums[(warp_column + 8 * j + lane % 4 * 2 + r % 2) * kTile + warp_row + 16 * i + lane / 4 + r / 2 * 8] =
            sum[i][j][r];
  __syncthreads();
  store_sums<Out, float>(p, item, first_row, first_column, sums);
}

}  // namespace nearwarp::cublas
