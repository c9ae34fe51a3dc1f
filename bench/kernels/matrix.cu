// Kernels of the functional benchmark for compute capability 8.9; matrix.ptx is made from this file by
//   nvcc -arch=sm_89 -lineinfo -ptx matrix.cu -o matrix.ptx   (directories removed from .file)
#include <cstdint>

// c = a b, of f16, summed in f32: tiles of 64 x 64 by four warps, 32 numbers of k at a time; a lies by rows, b too.
// n is a multiple of 64.
extern "C" __global__ void __launch_bounds__(128) gemm_f16(const uint16_t* a, const uint16_t* b, float* c, int n) {
  constexpr int kTile = 64, kDeep = 32, kRowA = kDeep + 8, kRowB = kTile + 8;
  __shared__ __align__(16) uint16_t sa[kTile * kRowA], sb[kDeep * kRowB];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  const int wm = warp / 2 * 32, wn = warp % 2 * 32;
  float sums[2][4][4] = {};
  for (int k = 0; k < n; k += kDeep) {
    for (int i = threadIdx.x; i < kTile * kDeep / 8; i += 128) {
      const int ra = i / (kDeep / 8), ca = i % (kDeep / 8) * 8, rb = i / (kTile / 8), cb = i % (kTile / 8) * 8;
      *reinterpret_cast<uint4*>(&sa[ra * kRowA + ca]) =
          *reinterpret_cast<const uint4*>(&a[(row + ra) * n + k + ca]);
      *reinterpret_cast<uint4*>(&sb[rb * kRowB + cb]) =
          *reinterpret_cast<const uint4*>(&b[(k + rb) * n + column + cb]);
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < kDeep; kk += 16) {
      uint32_t fa[2][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const uint32_t at = static_cast<uint32_t>(
            __cvta_generic_to_shared(&sa[(wm + 16 * i + lane % 16) * kRowA + kk + lane / 16 * 8]));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                     : "r"(at));
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const uint32_t at = static_cast<uint32_t>(
            __cvta_generic_to_shared(&sb[(kk + lane % 16) * kRowB + wn + 16 * j + lane / 16 * 8]));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fb[j][0]), "=r"(fb[j][1]), "=r"(fb[j][2]), "=r"(fb[j][3])
                     : "r"(at));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
              : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j / 2][j % 2 * 2]),
                "r"(fb[j / 2][j % 2 * 2 + 1]));
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; e += 2)
        *reinterpret_cast<float2*>(
            &c[(row + wm + 16 * i + lane / 4 + 4 * e) * n + column + wn + 8 * j + lane % 4 * 2]) =
            make_float2(sums[i][j][e], sums[i][j][e + 1]);
}

#define NW_CONVERT(name, convert, From, from_letter, To, to_letter)           \
  extern "C" __global__ void name(From* out, int rounds) {                   \
    From v = static_cast<From>(threadIdx.x * 37 + blockIdx.x);               \
    for (int i = 0; i < rounds; ++i) {                                       \
      To w;                                                                  \
      asm volatile(convert " %0, %1;" : "=" to_letter(w) : from_letter(v));  \
      asm volatile(convert " %0, %1;" : "=" to_letter(w) : from_letter(v));  \
      asm volatile(convert " %0, %1;" : "=" to_letter(w) : from_letter(v));  \
      asm volatile(convert " %0, %1;" : "=" to_letter(w) : from_letter(v));  \
      asm volatile(convert " %0, %1;" : "=" to_letter(w) : from_letter(v));  \
      asm volatile(convert " %0, %1;" : "=" to_letter(w) : from_letter(v));  \
      asm volatile(convert " %0, %1;" : "=" to_letter(w) : from_letter(v));  \
      asm volatile(convert " %0, %1;" : "=" to_letter(w) : from_letter(v));  \
      v += static_cast<From>(1);                                             \
    }                                                                        \
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;                          \
  }
// Eight conversions a round.
NW_CONVERT(cvt_f32_s32, "cvt.rzi.s32.f32", float, "f", int, "r")
NW_CONVERT(cvt_f32_u32, "cvt.rzi.u32.f32", float, "f", unsigned, "r")
NW_CONVERT(cvt_floor, "cvt.rmi.f32.f32", float, "f", float, "f")
NW_CONVERT(cvt_s64_f32, "cvt.rn.f32.s64", long long, "l", float, "f")
NW_CONVERT(cvt_f16_f32, "cvt.f32.f16", uint16_t, "h", float, "f")
NW_CONVERT(cvt_f32_f16, "cvt.rn.f16.f32", float, "f", uint16_t, "h")
NW_CONVERT(cvt_s64_s32, "cvt.s64.s32", long long, "l", long long, "l")  // of the lower half
NW_CONVERT(cvt_f64_s32, "cvt.rzi.s32.f64", double, "d", int, "r")

// Conversions of pairs, and to 8 bits.
extern "C" __global__ void cvt_small(float* out, int rounds) {
  float v = threadIdx.x * 0.37f + blockIdx.x;
  for (int i = 0; i < rounds; ++i) {
    uint32_t w;
    uint16_t h;
    asm volatile("cvt.rn.f16x2.f32 %0, %1, %1;" : "=r"(w) : "f"(v));
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %1;" : "=r"(w) : "f"(v));
    asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(w) : "f"(v));
    asm volatile("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(v));
    asm volatile("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(h) : "f"(v));
    asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(w) : "h"(h));
    asm volatile("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %1;" : "=h"(h) : "f"(v));
    asm volatile("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(w) : "h"(h));
    v += 1.0f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

// Products of halves in pairs, as code without matrix instructions has them.
extern "C" __global__ void half_chain(uint32_t* out, int rounds) {
  uint32_t x = threadIdx.x * 3 + 0x3c003c00, y = blockIdx.x + 0x30003000;
  for (int i = 0; i < rounds; ++i) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
    asm volatile("add.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y));
    asm volatile("mul.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y));
    asm volatile("max.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y));
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Forces between points: one reciprocal square root for each pair.
extern "C" __global__ void bodies(const float4* at, float4* force, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 p = at[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; ++j) {
    const float4 q = at[j];
    const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float s = q.w * r * r * r;
    x += s * dx;
    y += s * dy;
    z += s * dz;
  }
  force[i] = make_float4(x, y, z, 0);
}
