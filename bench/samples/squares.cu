// Squares of numbers, which threads take in turns: a kernel by itself, for squares.py.
extern "C" __global__ void squares(const unsigned* in, unsigned* out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = in[i] * in[i];
}
