// Arithmetic on halves and bfloat16 (sm_90).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kResults = 24;

template <class T, class T2>
__device__ void all(const T* in, T* out, int* tests, float* wide, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  T* o = out + kResults * i;
  o[0] = __hadd_rn(a, b);
  o[1] = __hsub_rn(a, b);
  o[2] = __hmul_rn(a, b);
  o[3] = __hfma(a, b, c);
  o[4] = __hneg(a);
  o[5] = __habs(a);
  o[6] = __hmin(a, b);
  o[7] = __hmax(a, b);
  o[8] = __hmin_nan(a, b);
  o[9] = __hmax_nan(a, b);
  o[10] = __hadd_sat(a, b);
  o[11] = __hfma_relu(a, b, c);
  const T2 p{a, b}, q{b, c};
  const T2 sum = __hadd2_rn(p, q), product = __hmul2_rn(p, q), fused = __hfma2(p, q, p);
  o[12] = sum.x;
  o[13] = sum.y;
  o[14] = product.x;
  o[15] = product.y;
  o[16] = fused.x;
  o[17] = fused.y;
  const T2 less = __hlt2(p, q);
  o[18] = less.x;
  o[19] = less.y;
  const T2 least = __hmin2(p, q);
  o[20] = least.x;
  o[21] = least.y;
  o[22] = __hfma_sat(a, b, c);
  o[23] = a;
  tests[i] = __hlt(a, b) | __heq(a, b) << 1 | __hge(a, b) << 2 | __hne(a, b) << 3 |
             __hltu(a, b) << 4 | __hisnan(a) << 5 | __hbgt2(p, q) << 6;
}

extern "C" __global__ void half_arithmetic(const __half* in, __half* out, int* tests, float* wide,
                                           int n) {
  all<__half, __half2>(in, out, tests, wide, n);
}
extern "C" __global__ void bfloat_arithmetic(const __nv_bfloat16* in, __nv_bfloat16* out,
                                             int* tests, float* wide, int n) {
  all<__nv_bfloat16, __nv_bfloat162>(in, out, tests, wide, n);
}

extern "C" __global__ void conversions(const float* in, __half* h, __nv_bfloat16* b, __half2* pairs,
                                       int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  h[i] = __float2half_rn(in[i]);
  b[i] = __float2bfloat16_rn(in[i]);
  pairs[i] = __floats2half2_rn(in[i], in[i + 1]);
}

extern "C" __global__ void atomics(__half* h, __half2* h2, __nv_bfloat16* b, unsigned short* word) {
  atomicAdd(h, __float2half(1.0f));
  atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(b, __float2bfloat16(2.0f));
  unsigned short seen = *word, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(word, assumed, static_cast<unsigned short>(assumed + 3));
  } while (assumed != seen);
}
