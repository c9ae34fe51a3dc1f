// Kernels of the warp, memory and control-flow tests; warp.ptx is made from this file by
//   nvcc -arch=sm_80 -lineinfo -ptx warp.cu -o warp.ptx   (and directories removed from .file)
#include <cstdint>

#define FULL 0xffffffffu

extern "C" __global__ void shuffles(const int* in, int* out) {
  const int t = threadIdx.x;
  const int v = in[t];
  int* o = out + t;
  o[0] = __shfl_sync(FULL, v, t * 7);
  o[64] = __shfl_sync(FULL, v, 3, 8);
  o[128] = __shfl_up_sync(FULL, v, 5);
  o[192] = __shfl_up_sync(FULL, v, 2, 16);
  o[256] = __shfl_down_sync(FULL, v, 9);
  o[320] = __shfl_down_sync(FULL, v, 3, 4);
  o[384] = __shfl_xor_sync(FULL, v, 13);
  o[448] = __shfl_xor_sync(FULL, v, 6, 8);
}

extern "C" __global__ void votes(const int* in, unsigned* out) {
  const int t = threadIdx.x;
  const int v = in[t];
  unsigned* o = out + t;
  o[0] = __ballot_sync(FULL, v & 1);
  o[64] = __any_sync(FULL, v == 17);
  o[128] = __all_sync(FULL, v < 1000);
  o[192] = __match_any_sync(FULL, v & 3);
  int all;
  o[256] = __match_all_sync(FULL, t / 32 == 0 ? 5 : v, &all);
  o[320] = all;
  o[384] = __reduce_add_sync(FULL, static_cast<unsigned>(v));
  o[448] = __reduce_min_sync(FULL, v - 50);
  o[512] = __reduce_xor_sync(FULL, static_cast<unsigned>(v));
  o[576] = 0;
  if (v & 1) o[576] = __activemask();
  o[640] = 0;
  if (v % 3 == 0) {
    const unsigned m = __activemask();
    o[640] = __ballot_sync(m, v & 2);
  }
}

extern "C" __global__ void block_votes(const int* in, int* out) {
  const int t = threadIdx.x;
  const int v = in[blockIdx.x * blockDim.x + t];
  const int count = __syncthreads_count(v > 3);
  const int all = __syncthreads_and(v < 9);
  const int any = __syncthreads_or(v == 7);
  out[blockIdx.x * blockDim.x + t] = count * 4 + (all != 0) * 2 + (any != 0);
}

extern "C" __global__ void atomics(const unsigned* in, unsigned* u, int* s, unsigned long long* l, float* f, double* d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned v = in[i];
  const unsigned old = atomicAdd(&u[0], v);
  atomicMin(&u[1], v);
  atomicMax(&u[2], v);
  atomicAnd(&u[3], v | 0xf0f0f0f0u);
  atomicOr(&u[4], v & 0x0ff00ff0u);
  atomicXor(&u[5], v);
  atomicInc(&u[6], 36);
  atomicDec(&u[7], 41);
  atomicExch(&u[8], v);
  for (unsigned expected = u[9], seen; (seen = atomicCAS(&u[9], expected, expected + v)) != expected; expected = seen) {}
  atomicSub(&u[10], v);
  atomicMin(&s[0], static_cast<int>(v) - 500);
  atomicMax(&s[1], static_cast<int>(v) - 500);
  atomicAdd(&l[0], static_cast<unsigned long long>(v) << 20);
  atomicMax(&l[1], static_cast<unsigned long long>(v) << 33);
  atomicCAS(&l[2], 7ull, 1ull << 40);
  atomicExch(&l[3], old < 0xffffffffu ? 3ull : 4ull);
  atomicAdd(&f[0], 0.5f);
  atomicAdd(&d[0], 0.25);
  __shared__ unsigned h[16];
  if (threadIdx.x < 16) h[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&h[v & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&u[16 + threadIdx.x], h[threadIdx.x]);
}

struct Mixed {
  uint8_t a;
  int8_t b;
  uint16_t c;
  int16_t d;
  uint16_t pad;
  int e;
  long long f;
};

extern "C" __global__ void widths(const Mixed* in, long long* out, const float4* v4, float4* w4, const double2* v2, double2* w2, unsigned char* bytes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Mixed m = in[i];
  out[i] = m.a + 1000ll * m.b + 1000000ll * m.c - 7ll * m.d + m.e - m.f;
  float4 x = v4[i];
  const float t = x.x;
  x.x = x.w;
  x.w = t;
  w4[i] = x;
  double2 y = v2[i];
  w2[i] = make_double2(y.y, -y.x);
  bytes[i] = static_cast<unsigned char>(m.e + i);
  reinterpret_cast<short*>(bytes + 4096)[i] = static_cast<short>(m.f);
}

// Nested loops with continue, break and returns from the middle.
extern "C" __global__ void shapes(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], r = 0;
  for (int a = 0; a < (v & 7); ++a) {
    if (a == 3 && (v & 16)) continue;
    for (int b = 0; b < (v >> 3 & 7); ++b) {
      if (b * a > 12) break;
      r = r * 3 + b - a;
      if (r > 5000) {
        out[i] = -r;
        return;
      }
    }
    if ((v & 32) && a > 4) break;
    r += (v & 1) ? (v & 2 ? 5 : 9) : (v & 4 ? a : -a);
  }
  out[i] = r;
}

__device__ int depth_of(int v, int k) { return k == 0 || v == 0 ? v : depth_of(v / 2, k - 1) + (v & 1); }

__device__ __noinline__ float helper(float x, int k) {
  float s = 0;
  for (int i = 0; i < k; ++i) s += x / (i + 1);
  return s;
}

extern "C" __global__ void calls(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = helper(in[i], i & 7);
  if (i & 8) v += helper(v, 3);
  out[i] = v;
}

// Some threads leave before the barrier.
extern "C" __global__ void exit_before_barrier(int* out, int n) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = t;
  if (t >= n) return;
  __syncthreads();
  out[t] = s[(t + 1) % n];
}

// Producer and consumer warps with two named barriers.
extern "C" __global__ void named_barriers(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t < 32) {
    for (int k = 0; k < 5; ++k) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[k * 32 + t] = s[31 - t];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  } else {
    for (int k = 0; k < 5; ++k) {
      s[t - 32] = k * 100 + t;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
    }
  }
}

// A barrier for the whole grid: every block must be resident at once.
extern "C" __global__ void grid_barrier(int* count, int* data, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    data[r * gridDim.x * blockDim.x + blockIdx.x * blockDim.x + threadIdx.x] =
        r == 0 ? 1 : data[(r - 1) * gridDim.x * blockDim.x + ((blockIdx.x + 1) % gridDim.x) * blockDim.x + threadIdx.x] + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(count, 1);
      while (atomicAdd(count, 0) < static_cast<int>(gridDim.x) * (r + 1)) {}
    }
    __syncthreads();
  }
}

extern "C" __global__ void missing_barrier(int* out) {
  if (threadIdx.x < 32) asm volatile("bar.sync 3, 64;");
  out[threadIdx.x] = 1;
}

extern "C" __global__ void traps(int* out, int which) {
  if (static_cast<int>(threadIdx.x) == which) __trap();
  out[threadIdx.x] = 1;
}

extern "C" __global__ void specials(unsigned* out) {
  const unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned lane, warp;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  const long long c0 = clock64();
  const unsigned i = b * (blockDim.x * blockDim.y * blockDim.z) + t;
  out[i] = b * 1000000 + t * 100 + lane + (warp != t / 32) * 50 + (clock64() < c0) * 60;
}
