#include "host/functional/cublas/complex.h"

#include <algorithm>
#include <string>

#include "host/functional/cublas/batches.h"
#include "host/functional/cublas/kernels.h"
#include "host/functional/cublas/runtime_calls.h"

namespace nearwarp::cublas {

namespace {

constexpr uint32_t kTile = 32, kThreads = 256;  // kernels/complex.cu
constexpr int64_t kMostBlocks = 1 << 20;        // of a loop over elements

uint32_t blocks_for(int64_t n, uint32_t each) {
  return static_cast<uint32_t>((n + each - 1) / each);
}
size_t bytes_of(DataType type) { return type == kC64 ? 2 * sizeof(double) : 2 * sizeof(float); }
template <class Args>
void run(const Handle& handle, DataType type, const char* kernel, Dim blocks, const Args& args) {
  launch((std::string("cublas_complex_") + kernel + "_" + suffix_of(type)).c_str(), blocks,
         {kThreads, 1, 1}, args, handle.stream);
}
bool is_operation(int operation) { return operation >= kNone && operation <= kConjugateTranspose; }
/// Rows of a matrix as it is stored, of an operand of `rows` x `columns`.
bool fits(long long ld, int operation, int rows, int columns) {
  return ld >= std::max(1, operation == kNone ? rows : columns);
}

}  // namespace

void complex_multiply(const Handle& handle, DataType type, const ComplexGemmArgs& args,
                      int64_t batch) {
  require(is_operation(args.operation_a) && is_operation(args.operation_b));
  require(fits(args.a.ld, args.operation_a, args.m, args.k) &&
          fits(args.b.ld, args.operation_b, args.k, args.n) && args.c.ld >= std::max(1, args.m));
  require(batch >= 0);
  if (args.m == 0 || args.n == 0 || batch == 0) return;
  ComplexGemmArgs own = args;
  if (args.alpha.at == nullptr && args.alpha.re == 0 && args.alpha.im == 0)
    own.k = 0;  // A and B are not read
  in_parts(batch, kMostItems, [&](int64_t first, int64_t items) {
    own.a = items_from(args.a, first, bytes_of(type));
    own.b = items_from(args.b, first, bytes_of(type));
    own.c = items_from(args.c, first, bytes_of(type));
    in_parts(args.n, kMostItems * kTile, [&](int64_t column, int64_t columns) {
      own.first_column = static_cast<int>(column);
      run(handle, type, "gemm",
          {blocks_for(args.m, kTile), blocks_for(columns, kTile), static_cast<uint32_t>(items)},
          own);
    });
  });
}

void complex_add(const Handle& handle, DataType type, const ComplexAddArgs& args) {
  require(is_operation(args.operation_a) && is_operation(args.operation_b));
  require(fits(args.lda, args.operation_a, args.m, args.n) &&
          fits(args.ldb, args.operation_b, args.m, args.n) && args.ldc >= std::max(1, args.m));
  if (args.m == 0 || args.n == 0) return;
  require(args.n <= kMostItems, kNotSupported);
  run(handle, type, "geam", {blocks_for(args.m, kThreads), static_cast<uint32_t>(args.n), 1}, args);
}

void complex_matrix_vector(const Handle& handle, DataType type, const ComplexMatrixVectorArgs& args,
                           int64_t batch) {
  require(is_operation(args.operation) && args.lda >= std::max(1, args.m));
  require(args.x_increment != 0 && args.y_increment != 0 && batch >= 0);
  if (args.m == 0 || args.n == 0 || batch == 0) return;
  const uint32_t blocks =
      args.operation == kNone ? blocks_for(args.m, kThreads) : blocks_for(args.n, kThreads / 32);
  in_parts(batch, kMostItems, [&](int64_t first, int64_t items) {
    run(handle, type, "gemv", {blocks, static_cast<uint32_t>(items), 1},
        products_from(args, first, bytes_of(type)));
  });
}

void complex_outer(const Handle& handle, DataType type, const ComplexMatrixVectorArgs& args) {
  require(args.lda >= std::max(1, args.m) && args.x_increment != 0 && args.y_increment != 0);
  if (args.m == 0 || args.n == 0) return;
  require(args.n <= kMostItems, kNotSupported);
  run(handle, type, "ger", {blocks_for(args.m, kThreads), static_cast<uint32_t>(args.n), 1}, args);
}

void complex_elements(const Handle& handle, DataType type, const ComplexVectorArgs& args) {
  if (args.n <= 0) return;
  const int64_t blocks = std::min<int64_t>((args.n + kThreads - 1) / kThreads, kMostBlocks);
  run(handle, type, "elements", {static_cast<uint32_t>(blocks), 1, 1}, args);
}

void complex_reduce(const Handle& handle, DataType type, const char* kernel, ComplexVectorArgs args,
                    void* result, size_t bytes) {
  require(result != nullptr);
  args.n = std::max<int64_t>(args.n, 0);
  const bool to_host = handle.pointer_mode == kHostPointers;
  args.result = result;
  if (to_host && cudaMallocAsync(&args.result, bytes, handle.stream) != 0)
    throw Failure{kAllocFailed};
  run(handle, type, kernel, {1, 1, 1}, args);
  if (!to_host) return;
  const bool copied =
      cudaMemcpyAsync(result, args.result, bytes, kCopyDefault, handle.stream) == 0 &&
      cudaFreeAsync(args.result, handle.stream) == 0 && cudaStreamSynchronize(handle.stream) == 0;
  if (!copied) throw Failure{kExecutionFailed};
}

}  // namespace nearwarp::cublas
