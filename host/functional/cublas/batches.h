// Splits batches and grids that are too large for one launch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/functional/cublas/kernels/gemm_args.h"

namespace nearwarp::cublas {

constexpr int64_t kMostItems = 65535;  // the largest grid dimension in y and z

/// Call f(first, number) for each part of `n` items, with at most `most` items in a part.
template <class F>
void in_parts(int64_t n, int64_t most, F&& f) {
  for (int64_t first = 0; first < n; first += most) f(first, std::min(most, n - first));
}

/// The address of element `first` in an array of elements of `bytes` each.
inline const void* elements_from(const void* data, int64_t first, size_t bytes) {
  return data == nullptr ? data
                         : static_cast<const char*>(data) + first * static_cast<int64_t>(bytes);
}

/// The batch of matrices from item `first` on, with elements of `bytes` each.
inline Matrix items_from(Matrix x, int64_t first, size_t bytes) {
  if (x.items != nullptr)
    x.items += first;
  else
    x.data = elements_from(x.data, first * x.stride, bytes);
  return x;
}
/// The batch of matrix-vector products from number `first` on, with elements of `bytes` each.
template <class MatrixVector>
MatrixVector products_from(MatrixVector p, int64_t first, size_t bytes) {
  p.a = elements_from(p.a, first * p.a_stride, bytes);
  p.x = elements_from(p.x, first * p.x_stride, bytes);
  p.y = const_cast<void*>(elements_from(p.y, first * p.y_stride, bytes));
  return p;
}

}  // namespace nearwarp::cublas
