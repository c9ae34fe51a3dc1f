// A kernel that calls a function which needs more registers than it has itself: known only once it
// is linked. The files beside this one are made by:
//   nvcc -O2 -arch=sm_75 -dc -cubin -o calls.unlinked.sm_75.cubin calls.cu
//   nvlink -arch=sm_75 -o calls.sm_75.cubin calls.unlinked.sm_75.cubin
//   nvcc -O3 -arch=sm_NN -cubin -o kernels.sm_NN.cubin ../ptx/kernels.cu    (75 and 90)
__device__ __noinline__ int many(const int* p) {
  int values[12], sum = 0;
  for (int i = 0; i < 12; ++i) values[i] = p[i * 7];
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < i; ++j) sum += values[i] ^ (values[j] << (i - j));
  return sum;
}

extern "C" __global__ void caller(int* p) { p[threadIdx.x] = many(p + threadIdx.x); }
