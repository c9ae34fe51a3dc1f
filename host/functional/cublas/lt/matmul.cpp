#include "host/functional/cublas/lt/matmul.h"

#include <limits>
#include <utility>

#include "host/functional/cublas/batches.h"

namespace nearwarp::cublas {

namespace {

int size(uint64_t n) {
  require(n <= static_cast<uint64_t>(std::numeric_limits<int>::max()));
  return static_cast<int>(n);
}

int epilogue_of(const MatmulDesc& desc) {
  const uint32_t e = desc.epilogue;
  constexpr uint32_t kKnown = kLtDefault | kLtRelu | kLtBias | kLtReluGradient | kLtGelu |
                              kLtGeluGradient | kLtAux | kLtBiasGradients;
  require((e & ~kKnown) == 0, kNotSupported);
  const uint32_t gradients = e & kLtBiasGradients;
  require((gradients & (gradients - 1)) == 0);  // one at most
  int kinds = 0;
  if ((e & kLtBias) != 0) kinds |= kBias;
  if ((e & kLtRelu) != 0) kinds |= kRelu;
  if ((e & kLtGelu) != 0) kinds |= kGelu;
  if ((e & kLtGeluGradient) != 0) kinds |= kGeluGradient;
  if ((e & kLtReluGradient) != 0) kinds |= kReluGradient;
  if ((e & kLtAux) != 0 && (kinds & (kRelu | kGelu)) != 0) kinds |= kStoreAux;
  const bool has_bias = (kinds & kBias) != 0 || gradients != 0;
  require(!has_bias || desc.bias != nullptr);
  require((kinds & kBias) == 0 || gradients == 0);  // one place for both
  require((kinds & (kStoreAux | kGeluGradient | kReluGradient)) == 0 || desc.aux != nullptr);
  return kinds;
}

/// A row-major matrix is its transpose, column-major.
struct Columns {
  uint64_t rows, columns;
};
Columns columns_of(const MatrixLayout& m) {
  return m.order == kRows ? Columns{m.columns, m.rows} : Columns{m.rows, m.columns};
}

Matrix matrix_of(const MatrixLayout& m) { return {nullptr, nullptr, m.ld, m.batch_stride}; }

}  // namespace

bool is_row_major(const MatmulMatrices& x) { return x.d->order == kRows; }

Product product_of(const MatmulDesc& desc, const MatmulMatrices& x) {
  for (const MatrixLayout* m : {x.a, x.b, x.c, x.d})
    require(m->order == kColumns || m->order == kRows, kNotSupported);
  require(x.c->order == x.d->order, kNotSupported);
  require(desc.transpose_c == kNone && desc.fill_mode == 2, kNotSupported);
  require(desc.pointer_mode == kHostPointers || desc.pointer_mode == kDevicePointers,
          kNotSupported);
  require(x.c->type == x.d->type, kNotSupported);
  require(desc.bias_type < 0 || static_cast<uint32_t>(desc.bias_type) == x.d->type, kNotSupported);
  Product p;
  p.a = static_cast<DataType>(x.a->type);
  p.b = static_cast<DataType>(x.b->type);
  p.c = static_cast<DataType>(x.d->type);
  p.compute = static_cast<ComputeType>(desc.compute);
  require(desc.scale == scale_type(p.compute, p.c), kNotSupported);
  const bool rows = is_row_major(x);
  GemmArgs& g = p.args;
  // A matrix that is stored in rows counts as transposed once more.
  g.transpose_a = (desc.transpose_a != kNone ? 1 : 0) ^ (x.a->order == kRows ? 1 : 0);
  g.transpose_b = (desc.transpose_b != kNone ? 1 : 0) ^ (x.b->order == kRows ? 1 : 0);
  const Columns a = columns_of(*x.a), b = columns_of(*x.b), d = columns_of(*x.d);
  g.m = size(rows ? d.columns : d.rows);
  g.n = size(rows ? d.rows : d.columns);
  g.k = size(g.transpose_a != 0 ? a.rows : a.columns);
  require((g.transpose_a != 0 ? a.columns : a.rows) == static_cast<uint64_t>(g.m));
  require((g.transpose_b != 0 ? b.rows : b.columns) == static_cast<uint64_t>(g.n));
  require((g.transpose_b != 0 ? b.columns : b.rows) == static_cast<uint64_t>(g.k));
  require(x.c->rows == x.d->rows && x.c->columns == x.d->columns);
  g.a = matrix_of(*x.a);
  g.b = matrix_of(*x.b);
  g.c = matrix_of(*x.c);
  g.d = matrix_of(*x.d);
  g.epilogue = epilogue_of(desc);
  // Biases are per row of D as it is stored, which would be a column here.
  const bool has_gradient = (desc.epilogue & kLtBiasGradients) != 0;
  require(!rows || ((g.epilogue & ~(kRelu | kGelu)) == 0 && !has_gradient), kNotSupported);
  require((g.epilogue == 0 && !has_gradient) || (p.c != kF64 && p.c != kS32), kNotSupported);
  const bool has_aux = (g.epilogue & (kStoreAux | kGeluGradient | kReluGradient)) != 0;
  const bool is_bits = has_aux && (g.epilogue & (kRelu | kReluGradient)) != 0;
  require(!has_aux || desc.aux_ld >= static_cast<int64_t>(x.d->rows));
  require(!is_bits || desc.aux_ld % 128 == 0);
  g.bias = desc.bias;
  g.bias_stride = desc.bias_stride;
  g.aux = desc.aux;
  g.aux_ld = desc.aux_ld;
  g.aux_stride = desc.aux_stride;
  p.batch = x.d->batch;
  require((g.epilogue == 0 && !has_gradient) || p.batch <= kMostItems, kNotSupported);
  for (const MatrixLayout* m : {x.a, x.b, x.c}) require(m->batch == x.d->batch);
  if (rows) {
    std::swap(p.a, p.b);
    std::swap(g.a, g.b);
    std::swap(g.m, g.n);
    std::swap(g.transpose_a, g.transpose_b);
    g.transpose_a ^= 1;
    g.transpose_b ^= 1;
  }
  return p;
}

}  // namespace nearwarp::cublas
