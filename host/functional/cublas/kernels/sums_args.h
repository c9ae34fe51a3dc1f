// Parameters of the kernels that add up rows of matrices; lt/bias_gradient.cpp fills them in.
#pragma once

namespace nearwarp::cublas {

/// to[i] = the sum over j of element (i, j), at i * down + j * across, for each item of a batch; in
/// elements.
struct SumsArgs {
  int rows, columns;
  const void* from;
  void* to;
  long long down, across, stride, to_stride;
};

}  // namespace nearwarp::cublas
