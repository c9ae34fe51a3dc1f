// Operations on the matrices of cuSPARSE's generic interface.
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

const char* suffix(int type) {
  switch (type) {
    case kF64:
      return "f64";
    case kF16:
      return "f16";
    case kBf16:
      return "bf16";
    case kC32:
      return "c32";
    case kC64:
      return "c64";
    case kS8:
      return "s8";
    case kS32:
      return "s32";
    default:
      return "f32";
  }
}
std::string named(const char* kernel, int type) { return std::string(kernel) + "_" + suffix(type); }
/// A kernel of operands of one type and results of another.
std::string named(const char* kernel, int in, int out) {
  return in == out ? named(kernel, in) : named(kernel, in) + "_" + suffix(out);
}

bool is_narrow(int type) { return type == kF16 || type == kBf16; }
bool has_lines(int format) { return format == kCsr || format == kCsc; }

Dense dense_of(const DenseMatrix& m, bool transposed) {
  const bool by_rows = m.order == kRowMajor;
  Dense d{m.rows, m.columns, by_rows ? m.leading : 1, by_rows ? 1 : m.leading, m.values};
  if (transposed) {
    std::swap(d.rows, d.columns);
    std::swap(d.row_stride, d.column_stride);
  }
  return d;
}
Places places_of(int format) {
  switch (format) {
    case kCoo:
      return kCoordinates;
    case kBsr:
      return kBlocks;
    case kSlicedEll:
      return kSlices;
    case kBlockedEll:
      return kBlockRows;
    default:
      return kLines;
  }
}
Sparse sparse_of(const SparseMatrix& m) {
  return {m.format == kCoo ? m.elements : m.lines(),
          m.offsets,
          m.indices,
          m.values,
          m.offset_type == kIndex64 ? 1 : 0,
          m.index_type == kIndex64 ? 1 : 0,
          m.base,
          places_of(m.format),
          m.height,
          m.width,
          m.length,
          m.order == kColumnMajor ? 1 : 0};
}
Factor factor(const Handle& handle, const void* at, int type) {
  require(at != nullptr);
  if (handle.device_pointers) return {0, 0, at};
  switch (type) {
    case kF64:
      return {*static_cast<const double*>(at), 0, nullptr};
    case kC32:
      return {static_cast<const float*>(at)[0], static_cast<const float*>(at)[1], nullptr};
    case kC64:
      return {static_cast<const double*>(at)[0], static_cast<const double*>(at)[1], nullptr};
    case kS32:
      return {static_cast<double>(*static_cast<const int32_t*>(at)), 0, nullptr};
    default:
      return {*static_cast<const float*>(at), 0, nullptr};
  }
}

/// May products of a type be summed up in `compute` and stored as `out`?
bool is_product_type(int in, int out, int compute) {
  if (in == kS8) return compute == out && (out == kS32 || out == kF32);
  if (is_narrow(in)) return compute == kF32 && (out == in || out == kF32);
  return in != kS32 && out == in && compute == in;
}
/// Are elements of a line added to many rows of C?
bool goes_across(const Product& p) { return (p.op_a != kNone) != (p.a.format == kCsc); }
/// Are sums made by additions to what C has, in the compute type?
bool adds_in_place(const Product& p) { return p.a.format == kCoo || goes_across(p); }

/// One of a batch's: arrays that lie so much further.
void* moved(void* at, int64_t elements, size_t bytes) {
  return at == nullptr ? at : static_cast<char*>(at) + elements * static_cast<int64_t>(bytes);
}
size_t index_bytes(int type) { return type == kIndex64 ? 8 : 4; }
SparseMatrix part_of(const SparseMatrix& a, int i) {
  SparseMatrix part = a;
  if (a.batch == 1) return part;
  const int64_t first = a.format == kCoo ? a.elements_stride : a.offsets_stride;
  part.offsets = moved(a.offsets, i * first, index_bytes(a.offset_type));
  part.indices = moved(a.indices, i * a.elements_stride, index_bytes(a.index_type));
  part.values = moved(a.values, i * a.elements_stride, bytes_of(a.type));
  return part;
}
DenseMatrix part_of(const DenseMatrix& m, int i) {
  DenseMatrix part = m;
  if (m.batch != 1) part.values = moved(m.values, i * m.batch_stride, bytes_of(m.type));
  return part;
}

void multiply_one(const Handle& handle, const Product& p, const void* alpha, const void* beta,
                  void* buffer) {
  ProductArgs args{};
  args.a = sparse_of(p.a);
  args.b = dense_of(p.b, p.op_b != kNone);
  args.c = dense_of(p.c, false);
  args.alpha = factor(handle, alpha, p.compute_type);
  args.beta = factor(handle, beta, p.compute_type);
  args.across = goes_across(p) ? 1 : 0;
  args.conjugate_a = p.op_a == kConjugateTranspose ? 1 : 0;
  args.conjugate_b = p.op_b == kConjugateTranspose ? 1 : 0;
  const auto run = [&](const std::string& kernel, int64_t threads) {
    cudalibs::launch(kernel.c_str(), threads, &args, handle.stream);
  };
  if (!adds_in_place(p)) {
    if (p.c.columns == 1)
      run(named("cusparse_line_by_warps", p.a.type, p.c.type), args.a.lines * kWarp);
    else
      run(named("cusparse_lines", p.a.type, p.c.type), args.a.lines * p.c.columns);
    return;
  }
  // Sums of narrow types are made in the buffer, and rounded once.
  const bool buffered = is_narrow(p.c.type);
  const Dense result = args.c;
  const Factor beta_of_result = args.beta;
  if (buffered) {
    args.c = {p.c.rows, p.c.columns, p.c.columns, 1, buffer};
    args.beta = {};
  }
  run(named("cusparse_scale", p.compute_type), p.c.rows * p.c.columns);
  run(named(p.a.format == kCoo ? "cusparse_coordinates" : "cusparse_across", p.a.type,
            p.compute_type),
      args.a.lines * p.c.columns);
  if (!buffered) return;
  args.b = args.c;
  args.c = result;
  args.beta = beta_of_result;
  run(named("cusparse_round_off", p.c.type), p.c.rows * p.c.columns);
}

/// Lines of the sparse matrix in the dense one.
ConvertArgs conversion(const DenseMatrix& from, const SparseMatrix& to, void* buffer) {
  require(from.rows == to.rows && from.columns == to.columns && from.type == to.type);
  require((has_lines(to.format) || to.format == kCoo) && to.type != kS8 && to.type != kS32 &&
              from.batch == 1 && to.batch == 1,
          kNotSupported);
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

size_t bytes_of(int type) {
  switch (type) {
    case kS8:
      return 1;
    case kF16:
    case kBf16:
      return 2;
    case kF32:
    case kS32:
      return 4;
    case kF64:
    case kC32:
      return 8;
    case kC64:
      return 16;
    default:
      return 0;
  }
}

size_t check_product(const Product& p) {
  require(p.op_a >= kNone && p.op_a <= kConjugateTranspose);
  require(p.op_b >= kNone && p.op_b <= kConjugateTranspose);
  require(p.a.type == p.b.type && is_product_type(p.a.type, p.c.type, p.compute_type),
          kNotSupported);
  require(has_lines(p.a.format) || p.a.format == kCoo || p.op_a == kNone, kNotSupported);
  const bool ta = p.op_a != kNone, tb = p.op_b != kNone;
  require((ta ? p.a.columns : p.a.rows) == p.c.rows);
  require((ta ? p.a.rows : p.a.columns) == (tb ? p.b.columns : p.b.rows));
  require((tb ? p.b.rows : p.b.columns) == p.c.columns);
  require((p.a.batch == 1 || p.a.batch == p.c.batch) &&
          (p.b.batch == 1 || p.b.batch == p.c.batch) && p.c.batch >= 1);
  return adds_in_place(p) && is_narrow(p.c.type)
             ? static_cast<size_t>(p.c.rows * p.c.columns) * sizeof(float)
             : 0;
}

void multiply(const Handle& handle, const Product& p, const void* alpha, const void* beta,
              void* buffer) {
  require(check_product(p) == 0 || buffer != nullptr);
  if (p.c.rows == 0 || p.c.columns == 0) return;
  for (int i = 0; i < p.c.batch; ++i)
    multiply_one(
        handle, {p.op_a, p.op_b, part_of(p.a, i), part_of(p.b, i), part_of(p.c, i), p.compute_type},
        alpha, beta, buffer);
}

void to_dense(const Handle& handle, const SparseMatrix& from, const DenseMatrix& to) {
  require(from.rows == to.rows && from.columns == to.columns && from.type == to.type);
  require((has_lines(from.format) || from.format == kCoo) && from.type != kS8 &&
              from.type != kS32 && from.batch == 1 && to.batch == 1,
          kNotSupported);
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
