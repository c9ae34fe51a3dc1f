#include "host/functional/cublas/matrix.h"

#include <algorithm>
#include <memory>
#include <string>

#include "host/functional/cublas/kernels.h"
#include "host/functional/cublas/runtime_calls.h"
#include "host/functional/cublas/vector.h"

namespace nearwarp::cublas {

namespace {

constexpr uint32_t kThreads = 256;   // kernels/matrix.cu
constexpr int kMostColumns = 65535;  // of a grid; kernels go on from there

Dim grid_of(int rows, int columns) {
  return {(static_cast<uint32_t>(rows) + kThreads - 1) / kThreads,
          static_cast<uint32_t>(std::min(columns, kMostColumns)), 1};
}

/// Checks that the stored part of a matrix has room in its columns.
void check(const PartialMatrix& a, int rows) {
  require(a.below >= 0 && a.above >= 0);
  if (a.storage == kDense) require(a.ld >= std::max(1, rows));
  if (a.storage == kBand) require(a.ld >= a.below + a.above + 1);
}

}  // namespace

void multiply(const Handle& handle, const char* suffix, const PartialProductArgs& args) {
  require(args.m >= 0 && args.n >= 0 && args.k >= 0);
  check(args.a, args.a.rows);
  if (args.m == 0 || args.n == 0) return;
  launch((std::string("cublas_partial_product_") + suffix).c_str(), grid_of(args.m, args.n),
         {kThreads, 1, 1}, args, handle.stream);
}

void multiply_in_place(const Handle& handle, const char* suffix, size_t bytes,
                       PartialProductArgs args) {
  require(args.m >= 0 && args.n >= 0);
  if (args.m == 0 || args.n == 0) return;
  const StridedMatrix& c = args.c;
  const auto rows = static_cast<size_t>(args.m), columns = static_cast<size_t>(args.n);
  void* copy = handle.workspace;
  const bool is_own = handle.workspace_bytes < rows * columns * bytes;
  if (is_own && cudaMallocAsync(&copy, rows * columns * bytes, handle.stream) != 0)
    throw Failure{kAllocFailed};
  const auto give_back = [&](void* at) { return is_own ? cudaFreeAsync(at, handle.stream) : 0; };
  std::unique_ptr<void, decltype(give_back)> owner(copy, give_back);
  if (args.n == 1) {
    // Copies of vectors take increments as BLAS has them, from the end where they are negative.
    const auto* first = static_cast<const char*>(c.data);
    if (c.down < 0) first += (args.m - 1) * c.down * static_cast<long long>(bytes);
    over_elements(handle, suffix, kCopy, args.m, first, c.down, copy, 1);
    args.b = {copy, nullptr, 1, 1};
  } else {
    // Elements that stand together are a column, or a row if the matrix is read as its transpose.
    const bool by_columns = c.down == 1;
    const size_t width = by_columns ? rows : columns, height = by_columns ? columns : rows;
    const auto pitch = static_cast<size_t>(by_columns ? c.across : c.down);
    if (cudaMemcpy2DAsync(copy, width * bytes, c.data, pitch * bytes, width * bytes, height,
                          kCopyDefault, handle.stream) != 0)
      throw Failure{kMappingError};
    const auto packed = static_cast<long long>(width);
    args.b = {copy, nullptr, by_columns ? 1 : packed, by_columns ? packed : 1};
  }
  multiply(handle, suffix, args);
  if (give_back(owner.release()) != 0) throw Failure{kExecutionFailed};
}

void update(const Handle& handle, const char* suffix, const RankUpdateArgs& args) {
  require(args.n >= 0 && args.k >= 0);
  check(args.c, args.n);
  if (args.n == 0) return;
  launch((std::string("cublas_rank_update_") + suffix).c_str(), grid_of(args.n, args.n),
         {kThreads, 1, 1}, args, handle.stream);
}

void solve(const Handle& handle, const char* suffix, const SolveArgs& args, int64_t batch) {
  require(args.m >= 0 && args.n >= 0 && batch >= 0 && batch <= kMostColumns);
  check(args.a, args.m);
  if (args.m == 0 || args.n == 0 || batch == 0) return;
  launch((std::string("cublas_solve_") + suffix).c_str(),
         {static_cast<uint32_t>(std::min(args.n, kMostColumns)), static_cast<uint32_t>(batch), 1},
         {kThreads, 1, 1}, args, handle.stream);
}

}  // namespace nearwarp::cublas
