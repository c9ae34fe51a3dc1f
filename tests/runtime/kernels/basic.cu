// Kernels of the end-to-end tests; basic.ptx is made from this file by
//   nvcc -arch=sm_75 -lineinfo -ptx basic.cu -o basic.ptx   (and directories removed from .file)
#include <cstdint>

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void math(const float* x, float* out, const double* xd, double* outd, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  out[8 * i + 0] = expf(v);
  out[8 * i + 1] = logf(fabsf(v));
  out[8 * i + 2] = sqrtf(fabsf(v));
  out[8 * i + 3] = sinf(v);
  out[8 * i + 4] = powf(fabsf(v), 1.7f);
  out[8 * i + 5] = v / 3.7f;
  out[8 * i + 6] = rsqrtf(fabsf(v));
  out[8 * i + 7] = erff(v);
  const double d = xd[i];
  outd[4 * i + 0] = exp(d);
  outd[4 * i + 1] = log(fabs(d));
  outd[4 * i + 2] = sin(d);
  outd[4 * i + 3] = pow(fabs(d), 0.3);
}

extern "C" __global__ void block_sum(const int* in, int* out, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 32; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t < 32) {
    int v = s[t] + s[t + 32];
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
    if (t == 0) {
      out[blockIdx.x] = v;
      atomicAdd(&out[gridDim.x], v);
    }
  }
}

// Collatz steps: every lane leaves the loop at another time.
extern "C" __global__ void collatz(const unsigned* in, unsigned* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = in[i];
  unsigned k = 0;
  while (v != 1) {
    if (v & 1)
      v = 3 * v + 1;
    else
      v /= 2;
    ++k;
    if (k > 400) break;
  }
  steps[i] = k;
}

// A switch (brx.idx or a cascade), with an early return.
extern "C" __global__ void switches(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  switch (v & 15) {
    case 0: v += 11; break;
    case 1: v *= 7; break;
    case 2: v ^= 0x55; break;
    case 3: out[i] = -1; return;
    case 4: v = v / 3; break;
    case 5: v = v % 5; break;
    case 6: v = __popc(v); break;
    case 7: v = __clz(v); break;
    case 8: v <<= 3; break;
    case 9: v >>= 2; break;
    default: v = -v;
  }
  out[i] = v;
}

__device__ int g_counter = 5;
__device__ int g_table[4] = {10, 20, 30, 40};
__device__ int* g_pointer = &g_table[2];
__constant__ float c_scale[3] = {0.5f, 2.0f, 8.0f};

extern "C" __global__ void variables(float* out) {
  const int t = threadIdx.x;
  out[t] = c_scale[t % 3] * g_table[t & 3] + *g_pointer;
  if (t == 0) g_counter += 1;
}

// Local memory through a dynamic index, generic pointers to shared and local memory.
extern "C" __global__ void generic(const int* in, int* out, int which) {
  __shared__ int s[64];
  int local[16];
  const int t = threadIdx.x;
  for (int k = 0; k < 16; ++k) local[k] = in[k] * t;
  s[t] = t * t;
  __syncthreads();
  int* p = which == 0 ? &s[t ^ 1] : (which == 1 ? &local[t & 15] : &out[64 + t]);
  if (which == 3 && (t & 1)) p = &local[3];
  *p += 1;
  out[t] = *p + local[(t + 5) & 15];
}

// Blocks wait for their predecessor: later blocks must become resident for earlier ones.
extern "C" __global__ void reversed_chain(volatile int* flags, int* out) {
  const int b = blockIdx.x;
  if (threadIdx.x == 0) {
    if (b + 1 < gridDim.x)
      while (flags[b + 1] == 0) {}
    out[b] = b + 1 < gridDim.x ? out[b + 1] + 1 : 1;
    __threadfence();
    flags[b] = 1;
  }
}

extern "C" __global__ void spin_forever(volatile int* flag) {
  while (*flag == 0) {}
}

extern "C" __global__ void out_of_bounds(int* p, int index) { p[index + static_cast<int>(threadIdx.x)] = 1; }
extern "C" __global__ void misaligned(char* p) { *reinterpret_cast<int*>(p + 2 + 4 * threadIdx.x) = 1; }
extern "C" __global__ void shared_bounds(int* p, int index) {
  extern __shared__ int dynamic[];
  dynamic[index] = threadIdx.x;
  *p = dynamic[0];
}
