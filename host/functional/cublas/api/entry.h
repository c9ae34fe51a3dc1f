// How entry points are written.
#pragma once

#include <limits>

#include "host/functional/cublas/handle.h"

#define NW_CUBLAS extern "C" __attribute__((visibility("default"))) nearwarp::cublas::Status

namespace nearwarp::cublas {

/// The size of a matrix as an int: kernels count in 32 bits.
inline int size(int64_t n) {
  require(n >= 0 && n <= std::numeric_limits<int>::max());
  return static_cast<int>(n);
}
/// Does an operation transpose? Conjugates of real numbers are what they are.
inline int transposes(int operation) {
  require(operation >= kNone && operation <= kConjugateTranspose);
  return operation != kNone ? 1 : 0;
}

}  // namespace nearwarp::cublas
