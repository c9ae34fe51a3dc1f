// Kernels of the tests that drive libcudart.so.13 without a CUDA toolkit. The PTX beside this file
// is made by: nvcc -O3 -arch=compute_75 -ptx -o kernels.ptx kernels.cu
__device__ int counter = 7;
__constant__ float factors[4] = {1, 2, 3, 4};
__managed__ int shared_number = 40;

struct Pair {
  char small;
  double large;
};

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void use_variables(float* out, Pair pair) {
  if (threadIdx.x == 0) {
    counter += 1;
    shared_number += 2;
  }
  out[threadIdx.x] = factors[threadIdx.x % 4] * static_cast<float>(pair.large) + pair.small;
}

extern "C" __global__ void write_far(int* p) { p[1 << 20] = 1; }

extern "C" __global__ void write_odd(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }

extern "C" __global__ void fill_shared(int* out) {
  extern __shared__ int values[];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}
