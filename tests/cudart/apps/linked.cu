// Several translation units (nvcc -rdc=true), of which this is the one with main().
#include "tests/cudart/apps/check.h"
#include "tests/cudart/apps/linked.h"

static __device__ int own = 100;  // the other unit has one, too

__global__ void here(int* out) {
  out[0] = twice(own);
  out[1] = shared_counter;
  out[2] = largest(3, 4);
  out[3] = (*operation)(5);
}

int main() {
  int* out;
  CUDA(cudaMallocManaged(&out, 8 * sizeof(int)));
  const int seven = 7;
  CUDA(cudaMemcpyToSymbol(shared_counter, &seven, sizeof(int)));
  here<<<1, 1>>>(out);
  there(out + 4);
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0] == 200 && out[1] == 7 && out[2] == 4 && out[3] == 205);
  CHECK(out[4] == 201 && out[5] == 7 && out[6] == 9);
  return passed();
}
