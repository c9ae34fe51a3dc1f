// Products of matrices of f32 by matrix instructions, which round operands to tf32 (sm_80)
#include "host/functional/cublas/kernels/gemm_matrix.cuh"

using namespace nearwarp::cublas;

extern "C" {
__global__ void __launch_bounds__(kThreads) cublas_gemm_tf32(GemmArgs p) {
  multiply_by_matrices<float, float, nvcuda::wmma::precision::tf32, 8>(p);
}
}
