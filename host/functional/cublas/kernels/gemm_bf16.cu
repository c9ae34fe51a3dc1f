// Products of matrices of bf16 by matrix instructions (sm_80)
#include "host/functional/cublas/kernels/gemm_matrix.cuh"

using namespace nearwarp::cublas;

extern "C" {
__global__ void __launch_bounds__(kThreads) cublas_gemm_bf16(GemmArgs p) { multiply_halves<__nv_bfloat16, __nv_bfloat16>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemm_bf16_f32(GemmArgs p) { multiply_halves<__nv_bfloat16, float>(p); }
}
