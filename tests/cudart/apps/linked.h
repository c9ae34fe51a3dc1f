// Declarations that the two translation units of linked.cu share.
#pragma once

extern __device__ int shared_counter;
__device__ int twice(int x);
extern __device__ int (*operation)(int);
void there(int* out);

/// Both units have this; either will do.
template <class T>
__device__ __noinline__ T largest(T a, T b) {
  return a > b ? a : b;
}
