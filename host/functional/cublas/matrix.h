// Levels 2 and 3 of BLAS with bands, packed, symmetric and triangular matrices: launches of their
// kernels.
#pragma once

#include "host/functional/cublas/handle.h"
#include "host/functional/cublas/kernels/matrix_args.h"

namespace nearwarp::cublas {

enum FillMode : int { kLower = 0, kUpper = 1 };
enum Diagonal : int { kNotUnit = 0, kUnit = 1 };
enum Side : int { kLeft = 0, kRight = 1 };

/// `suffix`: f32 or f64, of kernels' names; `bytes` of an element. Throw Failure.
void multiply(const Handle& handle, const char* suffix, const PartialProductArgs& args);
/// Multiplies where b and c are one: b is copied before.
void multiply_in_place(const Handle& handle, const char* suffix, size_t bytes,
                       PartialProductArgs args);
void update(const Handle& handle, const char* suffix, const RankUpdateArgs& args);
void solve(const Handle& handle, const char* suffix, const SolveArgs& args, int64_t batch = 1);

}  // namespace nearwarp::cublas
