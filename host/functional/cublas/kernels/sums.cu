// Sums of the rows of matrices, in a fixed order, a thread block for each: gradients of biases.
#include "host/functional/cublas/kernels/gemm_tile.cuh"
#include "host/functional/cublas/kernels/sums_args.h"

using namespace nearwarp::cublas;

namespace {

template <class In, class Out>
__device__ void add_rows(const SumsArgs& p) {
  __shared__ float sums[kThreads];
  const int row = blockIdx.x, item = blockIdx.y;
  const In* const from = static_cast<const In*>(p.from) + item * p.stride + row * p.down;
  float sum = 0;
  for (int j = threadIdx.x; j < p.columns; j += kThreads) sum += convert<float>(from[j * p.across]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int n = kThreads / 2; n != 0; n /= 2) {
    if (threadIdx.x < n) sums[threadIdx.x] += sums[threadIdx.x + n];
    __syncthreads();
  }
  if (threadIdx.x == 0) static_cast<Out*>(p.to)[item * p.to_stride + row] = convert<Out>(sums[0]);
}

}  // namespace

extern "C" {
__global__ void __launch_bounds__(kThreads) cublas_sums_f32(SumsArgs p) { add_rows<float, float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_sums_f16(SumsArgs p) { add_rows<__half, __half>(p); }
__global__ void __launch_bounds__(kThreads) cublas_sums_bf16(SumsArgs p) { add_rows<__nv_bfloat16, __nv_bfloat16>(p); }
__global__ void __launch_bounds__(kThreads) cublas_sums_f16_f32(SumsArgs p) { add_rows<__half, float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_sums_bf16_f32(SumsArgs p) { add_rows<__nv_bfloat16, float>(p); }
}
