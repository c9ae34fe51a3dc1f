// Chains of fused multiply-adds in registers; one store at the end keeps them alive.
extern "C" __global__ void fma_loop(float* out, float x, float y, int iterations) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  float a = thread, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
  for (int i = 0; i < iterations; ++i) {
    a = __fmaf_rn(a, x, y);
    b = __fmaf_rn(b, x, y);
    c = __fmaf_rn(c, x, y);
    d = __fmaf_rn(d, x, y);
  }
  out[thread] = (a + b) + (c + d);
}
