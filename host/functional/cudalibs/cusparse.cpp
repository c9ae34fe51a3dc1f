// What is done with matrices.
#include "host/functional/cudalibs/cusparse.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/functional/cudalibs/own_ptx.h"

namespace nearwarp::cusparse {
extern const char* const kernels_ptx;
}
const char* nearwarp::cudalibs::own_ptx() { return cusparse::kernels_ptx; }

namespace nearwarp::cusparse {

namespace {

constexpr uint32_t kThreads = 256;
constexpr int kWarp = 32;  // kernels/cusparse.cu

std::string named(const char* kernel, int type) {
  return std::string(kernel) + (type == kF64 ? "_f64" : "_f32");
}

Dense dense_of(const DenseMatrix& m, bool transposed) {
  const bool by_rows = m.order == kRowMajor;
  Dense d{m.rows, m.columns, by_rows ? m.leading : 1, by_rows ? 1 : m.leading, m.values};
  if (transposed) {
    std::swap(d.rows, d.columns);
    std::swap(d.row_stride, d.column_stride);
  }
  return d;
}
Sparse sparse_of(const SparseMatrix& m) {
  const bool is_coordinates = m.format == kCoo;
  return {is_coordinates ? m.elements : m.lines(),
          m.offsets,
          m.indices,
          m.values,
          m.offset_type == kIndex64 ? 1 : 0,
          m.index_type == kIndex64 ? 1 : 0,
          m.base,
          is_coordinates ? 1 : 0};
}
Factor factor(const Handle& handle, const void* at, int type) {
  require(at != nullptr);
  if (handle.device_pointers) return {0, at};
  return {type == kF64 ? *static_cast<const double*>(at) : *static_cast<const float*>(at), nullptr};
}

/// Lines of the sparse matrix in the dense one.
ConvertArgs conversion(const DenseMatrix& from, const SparseMatrix& to, void* buffer) {
  require(from.rows == to.rows && from.columns == to.columns && from.type == to.type);
  require(buffer != nullptr, kInvalidValue);
  const Dense d = dense_of(from, to.format == kCsc);
  return {sparse_of(to),
          d.values,
          d.row_stride,
          d.column_stride,
          d.columns,
          d.rows,
          static_cast<long long*>(buffer)};
}

}  // namespace

DenseMatrix column_of(const DenseVector& vector) {
  return {
      vector.size, 1, std::max<int64_t>(vector.size, 1), vector.values, vector.type, kColumnMajor,
      1,           0};
}

void check_product(int op_a, int op_b, const SparseMatrix& a, const DenseMatrix& b,
                   const DenseMatrix& c, int compute_type) {
  require(op_a >= kNone && op_a <= kConjugateTranspose);
  require(op_b >= kNone && op_b <= kConjugateTranspose);
  require((compute_type == kF32 || compute_type == kF64) && a.type == compute_type &&
              b.type == compute_type && c.type == compute_type && b.batch == 1 && c.batch == 1,
          kNotSupported);
  const bool ta = op_a != kNone, tb = op_b != kNone;
  require((ta ? a.columns : a.rows) == c.rows);
  require((ta ? a.rows : a.columns) == (tb ? b.columns : b.rows));
  require((tb ? b.rows : b.columns) == c.columns);
}

void multiply(const Handle& handle, int op_a, int op_b, const void* alpha, const SparseMatrix& a,
              const DenseMatrix& b, const void* beta, const DenseMatrix& c, int compute_type) {
  check_product(op_a, op_b, a, b, c, compute_type);
  if (c.rows == 0 || c.columns == 0) return;
  ProductArgs args{};
  args.a = sparse_of(a);
  args.b = dense_of(b, op_b != kNone);
  args.c = dense_of(c, false);
  args.alpha = factor(handle, alpha, compute_type);
  args.beta = factor(handle, beta, compute_type);
  const bool transposed = op_a != kNone;
  args.across = transposed != (a.format == kCsc) ? 1 : 0;
  const auto run = [&](const char* kernel, int64_t threads) {
    cudalibs::launch(named(kernel, compute_type).c_str(), threads, &args, handle.stream);
  };
  if (a.format != kCoo && args.across == 0) {
    if (c.columns == 1)
      run("cusparse_line_by_warps", args.a.lines * kWarp);
    else
      run("cusparse_lines", args.a.lines * c.columns);
    return;
  }
  run("cusparse_scale", c.rows * c.columns);
  run(a.format == kCoo ? "cusparse_coordinates" : "cusparse_across", args.a.lines * c.columns);
}

void to_dense(const Handle& handle, const SparseMatrix& from, const DenseMatrix& to) {
  require(from.rows == to.rows && from.columns == to.columns && from.type == to.type);
  ProductArgs args{};
  args.a = sparse_of(from);
  args.c = dense_of(to, false);
  args.across = from.format == kCsc ? 1 : 0;
  cudalibs::launch(named("cusparse_scale", to.type).c_str(), to.rows * to.columns, &args,
                   handle.stream);
  cudalibs::launch(named("cusparse_to_dense", to.type).c_str(), args.a.lines, &args, handle.stream);
}

size_t buffer_bytes(const SparseMatrix& to) {
  return static_cast<size_t>(to.lines() + 1) * sizeof(int64_t);
}

void analyse(const Handle& handle, const DenseMatrix& from, SparseMatrix* to, void* buffer) {
  const ConvertArgs args = conversion(from, *to, buffer);
  cudalibs::launch(named("cusparse_count", from.type).c_str(), args.lines, &args, handle.stream);
  cudalibs::launch_blocks("cusparse_add_up", {1, 1, 1}, kThreads, &args, handle.stream);
  if (cudalibs::cudaMemcpyAsync(&to->elements, args.counts + args.lines, sizeof(int64_t),
                                cudalibs::kCopyDefault, handle.stream) != 0 ||
      cudalibs::cudaStreamSynchronize(handle.stream) != 0)
    throw cudalibs::Problem::kLaunch;
}

void from_dense(const Handle& handle, const DenseMatrix& from, const SparseMatrix& to,
                void* buffer) {
  const ConvertArgs args = conversion(from, to, buffer);
  cudalibs::launch(named("cusparse_from_dense", from.type).c_str(), args.lines, &args,
                   handle.stream);
}

}  // namespace nearwarp::cusparse
