// Warp-level operations, atomics, vector accesses, bit operations, double precision, printf.
// Regenerate: see README.md.
#include <cstdio>
extern "C" __global__ void lanes(unsigned* out, const uint4* in, int n) {
  const uint4 v = in[threadIdx.x];
  unsigned x = v.x ^ __popc(v.y) ^ __brev(v.z) ^ __byte_perm(v.w, v.x, 0x3210);
  for (int d = 16; d > 0; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
  const unsigned vote = __ballot_sync(0xffffffffu, x > static_cast<unsigned>(n));
  if (__any_sync(0xffffffffu, x == 7)) atomicMax(out, x);
  out[threadIdx.x + 1] = vote + __funnelshift_l(x, v.y, 5);
}
extern "C" __global__ void reals(double* d, float* f, unsigned long long* u, int n) {
  const int i = static_cast<int>(threadIdx.x);
  d[i] = sqrt(d[i]) / (d[i + 1] + 1.0) + fma(d[i], 2.0, static_cast<double>(n));
  f[i] = __expf(f[i]) + rsqrtf(f[i + 1]) + f[i + 2] / f[i + 3] + fminf(f[i], 1.0f);
  u[i] = u[i] * u[i + 1] + __umul64hi(u[i], 3ull) + static_cast<unsigned long long>(f[i]);
}
extern "C" __global__ void shout(int n) { printf("%d\n", n); }
