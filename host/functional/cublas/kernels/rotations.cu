// Rotations of level 1, in f32 and f64.
#include "host/functional/cublas/kernels/rotation_args.h"

using namespace nearwarp::cublas;

namespace {

constexpr int kThreads = 256;

/// By one thread.
template <class T>
__device__ void find(const RotationArgs& p) {
  T* n[5];
  for (int i = 0; i < 5; ++i) n[i] = static_cast<T*>(p.numbers[i]);
  if (p.modified != 0)
    find_modified_rotation(n[0], n[1], n[2], *n[3], n[4]);
  else
    find_rotation(n[0], n[1], n[2], n[3]);
}

template <class T>
__device__ void rotate(const ModifiedArgs& p) {
  T v[5];
  for (int i = 0; i < 5; ++i)
    v[i] = p.at == nullptr ? static_cast<T>(p.values[i]) : static_cast<const T*>(p.at)[i];
  if (v[0] == T(-2)) return;
  const T h11 = v[0] == T(0) ? T(1) : v[1], h22 = v[0] == T(0) ? T(1) : v[4];
  const T h21 = v[0] == T(1) ? T(-1) : v[2], h12 = v[0] == T(1) ? T(1) : v[3];
  for (long long i = blockIdx.x * (long long)kThreads + threadIdx.x; i < p.n;
       i += (long long)gridDim.x * kThreads) {
    T& x = static_cast<T*>(p.x)[i * p.x_increment];
    T& y = static_cast<T*>(p.y)[i * p.y_increment];
    const T old = x;
    x = h11 * old + h12 * y;
    y = h21 * old + h22 * y;
  }
}

}  // namespace

extern "C" {
__global__ void cublas_rotg_f32(RotationArgs p) { find<float>(p); }
__global__ void cublas_rotg_f64(RotationArgs p) { find<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_rotm_f32(ModifiedArgs p) { rotate<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_rotm_f64(ModifiedArgs p) { rotate<double>(p); }
}
