#include "host/functional/cublas/vector.h"

#include <algorithm>
#include <string>

#include "host/functional/cublas/batches.h"
#include "host/functional/cublas/kernels.h"

namespace nearwarp::cublas {

namespace {

constexpr uint32_t kThreads = 256;        // kernels/vector.cu
constexpr int64_t kMostBlocks = 1 << 20;  // of a loop over elements

uint32_t blocks_for(int64_t n) {
  return static_cast<uint32_t>(std::min((n + kThreads - 1) / kThreads, kMostBlocks));
}
uint32_t blocks_for(int n, uint32_t each) { return (static_cast<uint32_t>(n) + each - 1) / each; }

}  // namespace

void over_elements(const Handle& handle, const char* suffix, VectorOperation operation, int64_t n,
                   const void* x, int64_t x_increment, const void* y, int64_t y_increment,
                   VectorScalar alpha, VectorScalar beta) {
  if (n <= 0) return;
  VectorArgs args{};
  args.n = n;
  args.x = x;
  args.y = y;
  args.x_increment = x_increment;
  args.y_increment = y_increment;
  args.alpha = alpha;
  args.beta = beta;
  args.operation = operation;
  launch((std::string("cublas_elements_") + suffix).c_str(), {blocks_for(n), 1, 1},
         {kThreads, 1, 1}, args, handle.stream);
}

void reduce(const Handle& handle, const char* kernel, VectorOperation operation, int64_t n,
            const void* x, int64_t x_increment, const void* y, int64_t y_increment, void* result,
            size_t bytes) {
  require(result != nullptr);
  VectorArgs args{};
  args.n = std::max<int64_t>(n, 0);
  args.x = x;
  args.y = y;
  args.x_increment = x_increment;
  args.y_increment = y_increment;
  args.operation = operation;
  args.wide_result = bytes == sizeof(int64_t) ? 1 : 0;
  const bool to_host = handle.pointer_mode == kHostPointers;
  args.result = result;
  if (to_host && cudaMallocAsync(&args.result, bytes, handle.stream) != 0)
    throw Failure{kAllocFailed};
  launch(kernel, {1, 1, 1}, {kThreads, 1, 1}, args, handle.stream);
  if (!to_host) return;
  const bool copied =
      cudaMemcpyAsync(result, args.result, bytes, kCopyDefault, handle.stream) == 0 &&
      cudaFreeAsync(args.result, handle.stream) == 0 && cudaStreamSynchronize(handle.stream) == 0;
  if (!copied) throw Failure{kExecutionFailed};
}

void matrix_vector(const Handle& handle, const char* suffix, const MatrixVectorArgs& args,
                   int64_t batch) {
  require(args.m >= 0 && args.n >= 0 && args.lda >= std::max(1, args.m));
  require(args.x_increment != 0 && args.y_increment != 0 && batch >= 0);
  if (args.m == 0 || args.n == 0 || batch == 0) return;
  const uint32_t blocks =
      args.transpose != 0 ? blocks_for(args.n, kThreads / 32) : blocks_for(args.m, kThreads);
  const std::string kernel = std::string("cublas_gemv_") + suffix;
  const size_t bytes = kernel.ends_with("f64") ? sizeof(double) : sizeof(float);
  in_parts(batch, kMostItems, [&](int64_t first, int64_t items) {
    launch(kernel.c_str(), {blocks, static_cast<uint32_t>(items), 1}, {kThreads, 1, 1},
           products_from(args, first, bytes), handle.stream);
  });
}

void outer(const Handle& handle, const char* suffix, const MatrixVectorArgs& args) {
  require(args.m >= 0 && args.n >= 0 && args.lda >= std::max(1, args.m));
  require(args.x_increment != 0 && args.y_increment != 0);
  if (args.m == 0 || args.n == 0) return;
  require(args.n <= kMostItems, kNotSupported);
  launch((std::string("cublas_ger_") + suffix).c_str(),
         {blocks_for(args.m, kThreads), static_cast<uint32_t>(args.n), 1}, {kThreads, 1, 1}, args,
         handle.stream);
}

void add(const Handle& handle, const char* suffix, const AddArgs& args) {
  require(args.m >= 0 && args.n >= 0 && args.ldc >= std::max(1, args.m));
  require(args.lda >= std::max(1, args.transpose_a != 0 ? args.n : args.m));
  require(args.ldb >= std::max(1, args.transpose_b != 0 ? args.n : args.m));
  if (args.m == 0 || args.n == 0) return;
  require(args.n <= kMostItems, kNotSupported);
  launch((std::string("cublas_geam_") + suffix).c_str(),
         {blocks_for(args.m, kThreads), static_cast<uint32_t>(args.n), 1}, {kThreads, 1, 1}, args,
         handle.stream);
}

}  // namespace nearwarp::cublas
