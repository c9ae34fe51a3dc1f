// Products of warp groups and of small numbers (sm_90a).
#include <cstdint>

namespace {

__device__ unsigned shared_at(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

}  // namespace

extern __shared__ __align__(1024) unsigned char memory[];

// Shared memory is what the host says, and so are the descriptors of both matrices; a in registers
// comes from global memory, 4 words of each thread. Results begin as what is there.
#define COPY_IN                                                        \
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x)       \
    reinterpret_cast<unsigned*>(memory)[i] = in[i];                    \
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");         \
  __syncthreads();                                                     \
  unsigned long long base = shared_at(memory) >> 4;                    \
  unsigned long long da = a + base, db = b + base;                     \
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");

#define WAIT                                                           \
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");       \
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");

#define ARGUMENTS                                                                              \
  const unsigned *in, unsigned bytes, unsigned long long a, unsigned long long b, int add,     \
      const unsigned *registers, unsigned *out

// 8 columns: 4 words of results each. n is the second operand of the shape.
#define GROUP_8(NAME, TYPES, TAIL)                                                                \
  extern "C" __global__ void NAME(ARGUMENTS) {                                                    \
    COPY_IN                                                                                       \
    unsigned d[4];                                                                                \
    for (int i = 0; i < 4; ++i) d[i] = out[threadIdx.x * 4 + i];                                  \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"                                      \
                 "wgmma.mma_async.sync.aligned." TYPES " {%0, %1, %2, %3}, %4, %5, p" TAIL ";\n}" \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                 \
                 : "l"(da), "l"(db), "r"(add));                                                   \
    WAIT                                                                                          \
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];                                  \
  }
// 8 columns with 32-bit floating point results, and with half ones.
#define GROUP_8F(NAME, TYPES, TAIL)                                                               \
  extern "C" __global__ void NAME(ARGUMENTS) {                                                    \
    COPY_IN                                                                                       \
    float d[4];                                                                                   \
    for (int i = 0; i < 4; ++i) d[i] = __uint_as_float(out[threadIdx.x * 4 + i]);                 \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"                                      \
                 "wgmma.mma_async.sync.aligned." TYPES " {%0, %1, %2, %3}, %4, %5, p" TAIL ";\n}" \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                 \
                 : "l"(da), "l"(db), "r"(add));                                                   \
    WAIT                                                                                          \
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = __float_as_uint(d[i]);                 \
  }
#define GROUP_8H(NAME, TYPES, TAIL)                                                       \
  extern "C" __global__ void NAME(ARGUMENTS) {                                            \
    COPY_IN                                                                               \
    unsigned d[2];                                                                        \
    for (int i = 0; i < 2; ++i) d[i] = out[threadIdx.x * 2 + i];                          \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"                              \
                 "wgmma.mma_async.sync.aligned." TYPES " {%0, %1}, %2, %3, p" TAIL ";\n}" \
                 : "+r"(d[0]), "+r"(d[1])                                                 \
                 : "l"(da), "l"(db), "r"(add));                                           \
    WAIT                                                                                  \
    for (int i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = d[i];                          \
  }
// a from registers.
#define GROUP_8R(NAME, TYPES, TAIL)                                                              \
  extern "C" __global__ void NAME(ARGUMENTS) {                                                   \
    COPY_IN                                                                                      \
    float d[4];                                                                                  \
    unsigned r[4];                                                                               \
    for (int i = 0; i < 4; ++i) d[i] = __uint_as_float(out[threadIdx.x * 4 + i]);                \
    for (int i = 0; i < 4; ++i) r[i] = registers[threadIdx.x * 4 + i];                           \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\n"                                     \
                 "wgmma.mma_async.sync.aligned." TYPES                                           \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p" TAIL ";\n}"                        \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db), "r"(add));               \
    WAIT                                                                                         \
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = __float_as_uint(d[i]);                \
    if (da == 0) out[0] = 0;                                                                     \
  }

GROUP_8F(group_f16, "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0")
GROUP_8F(group_f16_negated, "m64n8k16.f32.f16.f16", ", -1, 1, 0, 0")
GROUP_8F(group_f16_a_across, "m64n8k16.f32.f16.f16", ", 1, 1, 1, 0")
GROUP_8F(group_f16_both_across, "m64n8k16.f32.f16.f16", ", 1, 1, 1, 1")
GROUP_8H(group_f16_half, "m64n8k16.f16.f16.f16", ", 1, 1, 0, 0")
GROUP_8F(group_bf16, "m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0")
GROUP_8F(group_tf32, "m64n8k8.f32.tf32.tf32", ", 1, 1")
GROUP_8F(group_e4m3, "m64n8k32.f32.e4m3.e4m3", ", 1, 1")
GROUP_8F(group_e5m2_e4m3, "m64n8k32.f32.e5m2.e4m3", ", 1, -1")
GROUP_8H(group_e4m3_half, "m64n8k32.f16.e4m3.e5m2", ", 1, 1")
GROUP_8(group_s8_u8, "m64n8k32.s32.s8.u8", "")
GROUP_8(group_u8_s8, "m64n8k32.s32.u8.s8", "")
GROUP_8(group_b1, "m64n8k256.s32.b1.b1.and.popc", "")
GROUP_8R(group_registers_f16, "m64n8k16.f32.f16.f16", ", 1, 1, 0")
GROUP_8R(group_registers_f16_across, "m64n8k16.f32.f16.f16", ", 1, -1, 1")
GROUP_8R(group_registers_tf32, "m64n8k8.f32.tf32.tf32", ", 1, 1")
GROUP_8R(group_registers_e4m3, "m64n8k32.f32.e4m3.e4m3", ", 1, 1")

// 256 columns: 128 results of each thread.
extern "C" __global__ void group_wide(ARGUMENTS) {
  COPY_IN
  float d[128];
  for (int i = 0; i < 128; ++i) d[i] = __uint_as_float(out[threadIdx.x * 128 + i]);
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "
      "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "
      "%126, %127}, %128, %129, p, 1, 1, 0, 1;\n}"
#define R4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
      : R16(0), R16(16), R16(32), R16(48), R16(64), R16(80), R16(96), R16(112)
      : "l"(da), "l"(db), "r"(add));
  WAIT
  for (int i = 0; i < 128; ++i) out[threadIdx.x * 128 + i] = __float_as_uint(d[i]);
  if (registers != nullptr) out[0] = 0;
}

// Products of one warp: words of a, b and c in the order of the fragments, so many of each lane.
#define WARP(NAME, A, B, C, INSTRUCTION, ...)                                       \
  extern "C" __global__ void NAME(const unsigned* a, const unsigned* b, const unsigned* c,        \
                                  const unsigned* e, unsigned* out) {               \
    const unsigned t = threadIdx.x;                                                 \
    unsigned d[C];                                                                  \
    asm volatile(INSTRUCTION : __VA_ARGS__);                                        \
    for (int i = 0; i < C; ++i) out[t * C + i] = d[i];                              \
  }
#define D4 "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
#define D2 "=r"(d[0]), "=r"(d[1])
#define IN(p, n, i) "r"(p[t * n + i])
#define A4 IN(a, 4, 0), IN(a, 4, 1), IN(a, 4, 2), IN(a, 4, 3)
#define A2 IN(a, 2, 0), IN(a, 2, 1)
#define B2 IN(b, 2, 0), IN(b, 2, 1)
#define B4 IN(b, 4, 0), IN(b, 4, 1), IN(b, 4, 2), IN(b, 4, 3)
#define C4 IN(c, 4, 0), IN(c, 4, 1), IN(c, 4, 2), IN(c, 4, 3)
#define C2 IN(c, 2, 0), IN(c, 2, 1)
#define FRAGMENTS_4424 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
WARP(warp_s4, 4, 2, 4, "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32" FRAGMENTS_4424, D4 : A4,
     B2, C4)
WARP(warp_u4_8, 1, 1, 2,
     "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};",
     D2 : IN(a, 1, 0), IN(b, 1, 0), C2)
WARP(warp_b1_and, 4, 2, 4, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc" FRAGMENTS_4424,
     D4 : A4, B2, C4)
WARP(warp_b1_xor, 4, 2, 4, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc" FRAGMENTS_4424,
     D4 : A4, B2, C4)
WARP(warp_sparse_f16, 4, 4, 4,
     "{\n.reg .f32 x<8>;\nmov.b32 x0, %12;\nmov.b32 x1, %13;\nmov.b32 x2, %14;\nmov.b32 x3, %15;\n"
     "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {x4, x5, x6, x7}, {%4, %5, %6, %7}, "
     "{%8, %9, %10, %11}, {x0, x1, x2, x3}, %16, 0x1;\n"
     "mov.b32 %0, x4;\nmov.b32 %1, x5;\nmov.b32 %2, x6;\nmov.b32 %3, x7;\n}",
     D4 : A4, B4, C4, "r"(e[t]))
WARP(warp_sparse_s8, 4, 4, 4,
     "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
     "{%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, 0x0;",
     D4 : A4, B4, C4, "r"(e[t]))
WARP(warp_quads, 2, 2, 4,
     "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, "
     "{%8, %9, %10, %11};",
     D4 : A2, B2, C4)

extern "C" __global__ void warp_e4m3(const unsigned* a, const unsigned* b, const float* c,
                                     const unsigned* e, float* out) {
  const unsigned t = threadIdx.x;
  float d[4];
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32" FRAGMENTS_4424
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : A4, B2, "f"(c[t * 4]), "f"(c[t * 4 + 1]), "f"(c[t * 4 + 2]), "f"(c[t * 4 + 3]));
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
  if (e != nullptr) out[0] = 0;
}
