// Batches and grids that go beyond one launch, in parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/functional/cublas/kernels/gemm_args.h"

namespace nearwarp::cublas {

constexpr int64_t kMostItems = 65535;  // of a launch, in y and z

/// f(first, number) for the parts of `n` things that one launch has each.
template <class F>
void in_parts(int64_t n, int64_t most, F&& f) {
  for (int64_t first = 0; first < n; first += most) f(first, std::min(most, n - first));
}

inline const void* elements_from(const void* data, int64_t first, size_t bytes) {
  return data == nullptr ? data
                         : static_cast<const char*>(data) + first * static_cast<int64_t>(bytes);
}

/// The items of a batch from `first` on; `bytes` of an element.
inline Matrix items_from(Matrix x, int64_t first, size_t bytes) {
  if (x.items != nullptr)
    x.items += first;
  else
    x.data = elements_from(x.data, first * x.stride, bytes);
  return x;
}
/// The products of matrices and vectors from `first` on.
template <class MatrixVector>
MatrixVector products_from(MatrixVector p, int64_t first, size_t bytes) {
  p.a = elements_from(p.a, first * p.a_stride, bytes);
  p.x = elements_from(p.x, first * p.x_stride, bytes);
  p.y = const_cast<void*>(elements_from(p.y, first * p.y_stride, bytes));
  return p;
}

}  // namespace nearwarp::cublas
