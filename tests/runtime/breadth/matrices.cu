// Matrix instructions, asynchronous copies, mbarriers (sm_90).
#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

template <class A, class Layout, class C>
__device__ void product(const A* a, const A* b, const C* c, C* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, A, Layout> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, A, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, C> fc;
  wmma::load_matrix_sync(fa, a, 24);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] + fc.x[i];
  wmma::store_matrix_sync(d, fc, 16, wmma::mem_col_major);
}
extern "C" __global__ void wmma_half(const half* a, const half* b, const float* c, float* d) {
  product<half, wmma::row_major>(a, b, c, d);
}
extern "C" __global__ void wmma_half_column(const half* a, const half* b, const half* c, half* d) {
  product<half, wmma::col_major>(a, b, c, d);
}
extern "C" __global__ void wmma_bytes(const signed char* a, const signed char* b, const int* c,
                                      int* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 16, wmma::mem_row_major);
}

/// Matrices of doubles: 8 x 4 times 4 x 8.
template <class A, class B>
__device__ void double_product(const double* a, const double* b, const double* c, double* d,
                               wmma::layout_t layout) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, A> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, B> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
  wmma::load_matrix_sync(fa, a, 10);
  wmma::load_matrix_sync(fb, b, 10);
  wmma::load_matrix_sync(fc, c, 8, layout);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2;
  wmma::store_matrix_sync(d, fc, 8, layout);
}
extern "C" __global__ void wmma_double(const double* a, const double* b, const double* c,
                                       double* d) {
  double_product<wmma::row_major, wmma::col_major>(a, b, c, d, wmma::mem_row_major);
}
extern "C" __global__ void wmma_double_column(const double* a, const double* b, const double* c,
                                              double* d) {
  double_product<wmma::col_major, wmma::row_major>(a, b, c, d, wmma::mem_col_major);
}

// m16n8k16 with ldmatrix, as libraries do: a by rows, b by columns (16 x 8), both in shared memory.
extern "C" __global__ void mma_half(const half* a, const half* bt, float* d) {
  __shared__ __align__(16) half sa[16 * 16], sb[8 * 16];
  for (int i = threadIdx.x; i < 256; i += 32) sa[i] = a[i];
  for (int i = threadIdx.x; i < 128; i += 32) sb[i] = bt[i];
  __syncwarp();
  unsigned fa[4], fb[2];
  const int lane = threadIdx.x;
  const unsigned pa = static_cast<unsigned>(
      __cvta_generic_to_shared(sa + (lane % 16) * 16 + lane / 16 * 8));
  const unsigned pb = static_cast<unsigned>(
      __cvta_generic_to_shared(sb + lane % 8 * 16 + lane / 8 % 2 * 8));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(fb[0]), "=r"(fb[1])
               : "r"(pb));
  float c[4] = {1, 2, 3, 4};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int i = 0; i < 4; ++i) d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}

extern "C" __global__ void mma_double(const double* a, const double* b, double* d) {
  const int lane = threadIdx.x;
  double c0 = 0, c1 = 0;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c0), "+d"(c1)
               : "d"(a[lane]), "d"(b[lane % 4 * 8 + lane / 4]));
  d[lane / 4 * 8 + lane % 4 * 2] = c0;
  d[lane / 4 * 8 + lane % 4 * 2 + 1] = c1;
}

extern "C" __global__ void mma_bytes(const unsigned* a, const unsigned* bt, int* d) {
  // m16n8k32: a 16 x 32 bytes by rows, bt 8 x 32 bytes by columns.
  const int lane = threadIdx.x, group = lane / 4, within = lane % 4;
  int c[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[group * 8 + within]), "r"(a[(group + 8) * 8 + within]),
        "r"(a[group * 8 + within + 4]), "r"(a[(group + 8) * 8 + within + 4]),
        "r"(bt[group * 8 + within]), "r"(bt[group * 8 + within + 4]));
  for (int i = 0; i < 4; ++i) d[(group + i / 2 * 8) * 8 + within * 2 + i % 2] = c[i];
}

// Transposes an 8 x 8 matrix in three ways.
extern "C" __global__ void transpose(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned s[32];
  const unsigned lane = threadIdx.x;
  unsigned v = in[lane], moved, loaded;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(v));
  s[lane] = v;
  __syncwarp();
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(s + lane % 8 * 4));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(loaded)
               : "r"(at));
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(at), "r"(v));
  __syncwarp();
  out[lane] = moved;
  out[32 + lane] = loaded;
  out[64 + lane] = s[lane];
}

extern "C" __global__ void copy(const float4* in, float4* out, const int* partial, int* words) {
  __shared__ float4 s[64];
  __shared__ __align__(16) int p[4];
  __pipeline_memcpy_async(s + threadIdx.x, in + threadIdx.x, 16);
  __pipeline_commit();
  if (threadIdx.x == 0) __pipeline_memcpy_async(p, partial, 16, words[4]);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
  if (threadIdx.x < 4) words[threadIdx.x] = p[threadIdx.x];
}

// The forms that libraries of kernels write by hand: a cache policy, a guard, and both with zeros
// in place of what the source lacks.
extern "C" __global__ void hinted_copy(const float4* in, float4* out, int guarded, int bytes) {
  __shared__ float4 s[96];
  const int t = threadIdx.x;
  for (int i = t; i < 96; i += 32) s[i] = make_float4(-1, -1, -1, -1);
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(s + t));
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(in + t),
               "l"(policy)
               : "memory");
  asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;" ::"r"(
                   to + 512),
               "l"(in + t), "r"(bytes), "l"(policy)
               : "memory");
  asm volatile(
      "{ .reg .pred p; setp.lt.s32 p, %2, %3;\n"
      "  @p cp.async.cg.shared.global [%0], [%1], 16, %4; }" ::"r"(to + 1024),
      "l"(in + t), "r"(t), "r"(guarded), "r"(bytes)
      : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int i = t; i < 96; i += 32) out[i] = s[i];
}

extern "C" __global__ void barriers(int* data, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    const int next = data[(threadIdx.x + 1) % blockDim.x];
    barrier.arrive_and_wait();
    data[threadIdx.x] += next;
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
  }
}
