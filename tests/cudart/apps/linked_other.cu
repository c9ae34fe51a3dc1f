// The other translation unit of linked.cu.
#include "tests/cudart/apps/linked.h"

__device__ int shared_counter = 3;
static __device__ int own = 200;

__device__ __noinline__ int twice(int x) { return 2 * x; }
static __device__ int plus_own(int x) { return x + own; }
__device__ int (*operation)(int) = plus_own;

__global__ void other(int* out) {
  out[0] = own + 1;
  out[1] = shared_counter;
  out[2] = largest(9, 8);
}

void there(int* out) { other<<<1, 1>>>(out); }
