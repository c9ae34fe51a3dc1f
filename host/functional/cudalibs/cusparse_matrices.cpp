// Entry points of cuSPARSE that make and tell of matrices and vectors.
#include <memory>

#include "host/functional/cudalibs/cusparse_call.h"

namespace nearwarp::cusparse {

namespace {

void check_type(int type) { require(bytes_of(type) != 0, kNotSupported); }
void check_index(int type) { require(type == kIndex32 || type == kIndex64, kNotSupported); }

Status create(const char* name, SparseMatrix** to, const SparseMatrix& m) {
  return call(name, [&] {
    require(to != nullptr && m.rows >= 0 && m.columns >= 0 && m.elements >= 0);
    require(m.base == 0 || m.base == 1);
    require(m.height >= 1 && m.width >= 1 && m.length >= 0 &&
            (m.order == kColumnMajor || m.order == kRowMajor));
    if (m.format == kBlockedEll)
      require(m.rows % m.height == 0 && m.columns % m.width == 0 && m.length % m.height == 0);
    // No document says what the offsets of slices count from under a base of 1.
    require(m.format != kSlicedEll || m.base == 0, kNotSupported);
    check_type(m.type);
    check_index(m.offset_type);
    check_index(m.index_type);
    *to = std::make_unique<SparseMatrix>(m).release();
  });
}

/// Returns a member of a descriptor, unless the caller passes nullptr for it.
template <class T, class U>
void give(T* to, const U& value) {
  if (to != nullptr) *to = value;
}

}  // namespace

// --- Sparse matrices -----------------------------------------------------------------------------

NW_CUSPARSE cusparseCreateCsr(SparseMatrix** to, int64_t rows, int64_t columns, int64_t elements,
                              void* offsets, void* indices, void* values, int offset_type,
                              int index_type, int base, int type) {
  return create(__func__, to,
                {kCsr, rows, columns, elements, offsets, indices, values, offset_type, index_type,
                 base, type});
}
NW_CUSPARSE cusparseCreateCsc(SparseMatrix** to, int64_t rows, int64_t columns, int64_t elements,
                              void* offsets, void* indices, void* values, int offset_type,
                              int index_type, int base, int type) {
  return create(__func__, to,
                {kCsc, rows, columns, elements, offsets, indices, values, offset_type, index_type,
                 base, type});
}
NW_CUSPARSE cusparseCreateCoo(SparseMatrix** to, int64_t rows, int64_t columns, int64_t elements,
                              void* row_indices, void* column_indices, void* values, int index_type,
                              int base, int type) {
  return create(__func__, to,
                {kCoo, rows, columns, elements, row_indices, column_indices, values, index_type,
                 index_type, base, type});
}
// Matrices that stay as they are have calls of their own, which do the same.
NW_CUSPARSE cusparseCreateConstCsr(SparseMatrix** to, int64_t rows, int64_t columns,
                                   int64_t elements, void* offsets, void* indices, void* values,
                                   int offset_type, int index_type, int base, int type) {
  return cusparseCreateCsr(to, rows, columns, elements, offsets, indices, values, offset_type,
                           index_type, base, type);
}
NW_CUSPARSE cusparseCreateConstCsc(SparseMatrix** to, int64_t rows, int64_t columns,
                                   int64_t elements, void* offsets, void* indices, void* values,
                                   int offset_type, int index_type, int base, int type) {
  return cusparseCreateCsc(to, rows, columns, elements, offsets, indices, values, offset_type,
                           index_type, base, type);
}
NW_CUSPARSE cusparseCreateConstCoo(SparseMatrix** to, int64_t rows, int64_t columns,
                                   int64_t elements, void* row_indices, void* column_indices,
                                   void* values, int index_type, int base, int type) {
  return cusparseCreateCoo(to, rows, columns, elements, row_indices, column_indices, values,
                           index_type, base, type);
}
/// Rows of blocks, of `height` x `width` elements each.
NW_CUSPARSE cusparseCreateBsr(SparseMatrix** to, int64_t block_rows, int64_t block_columns,
                              int64_t blocks, int64_t height, int64_t width, void* offsets,
                              void* indices, void* values, int offset_type, int index_type,
                              int base, int type, int order) {
  SparseMatrix m{kBsr,
                 block_rows * height,
                 block_columns * width,
                 blocks * height * width,
                 offsets,
                 indices,
                 values,
                 offset_type,
                 index_type,
                 base,
                 type};
  m.height = height;
  m.width = width;
  m.order = order;
  return create(__func__, to, m);
}
/// Rows of slices are padded to one length and lie side by side.
NW_CUSPARSE cusparseCreateSlicedEll(SparseMatrix** to, int64_t rows, int64_t columns,
                                    int64_t elements, int64_t, int64_t slice, void* offsets,
                                    void* indices, void* values, int offset_type, int index_type,
                                    int base, int type) {
  SparseMatrix m{kSlicedEll, rows,        columns,    elements, offsets, indices,
                 values,     offset_type, index_type, base,     type};
  m.height = slice;
  return create(__func__, to, m);
}
/// Rows of `length` elements each, in blocks of `block` x `block`.
NW_CUSPARSE cusparseCreateBlockedEll(SparseMatrix** to, int64_t rows, int64_t columns,
                                     int64_t block, int64_t length, void* indices, void* values,
                                     int index_type, int base, int type) {
  SparseMatrix m{kBlockedEll, rows,       columns,    rows * length, nullptr, indices,
                 values,      index_type, index_type, base,          type};
  m.height = m.width = block;
  m.length = length;
  return create(__func__, to, m);
}
NW_CUSPARSE cusparseCreateConstBsr(SparseMatrix** to, int64_t block_rows, int64_t block_columns,
                                   int64_t blocks, int64_t height, int64_t width, void* offsets,
                                   void* indices, void* values, int offset_type, int index_type,
                                   int base, int type, int order) {
  return cusparseCreateBsr(to, block_rows, block_columns, blocks, height, width, offsets, indices,
                           values, offset_type, index_type, base, type, order);
}
NW_CUSPARSE cusparseCreateConstSlicedEll(SparseMatrix** to, int64_t rows, int64_t columns,
                                         int64_t elements, int64_t stored, int64_t slice,
                                         void* offsets, void* indices, void* values,
                                         int offset_type, int index_type, int base, int type) {
  return cusparseCreateSlicedEll(to, rows, columns, elements, stored, slice, offsets, indices,
                                 values, offset_type, index_type, base, type);
}
NW_CUSPARSE cusparseCreateConstBlockedEll(SparseMatrix** to, int64_t rows, int64_t columns,
                                          int64_t block, int64_t length, void* indices,
                                          void* values, int index_type, int base, int type) {
  return cusparseCreateBlockedEll(to, rows, columns, block, length, indices, values, index_type,
                                  base, type);
}

// Batches: so many matrices, whose arrays lie so many elements apart.
NW_CUSPARSE cusparseCsrSetStridedBatch(SparseMatrix* m, int batch, int64_t offsets_stride,
                                       int64_t elements_stride) {
  return call(__func__, [&] {
    require(m != nullptr && m->format == kCsr && batch >= 1 && offsets_stride >= 0 &&
            elements_stride >= 0);
    m->batch = batch;
    m->offsets_stride = offsets_stride;
    m->elements_stride = elements_stride;
  });
}
NW_CUSPARSE cusparseCooSetStridedBatch(SparseMatrix* m, int batch, int64_t stride) {
  return call(__func__, [&] {
    require(m != nullptr && m->format == kCoo && batch >= 1 && stride >= 0);
    m->batch = batch;
    m->elements_stride = stride;
  });
}
NW_CUSPARSE cusparseSpMatGetStridedBatch(SparseMatrix* m, int* batch) {
  return call(__func__, [&] {
    require(m != nullptr);
    give(batch, m->batch);
  });
}

// Attributes, of matrices for triangular solves: kept.
NW_CUSPARSE cusparseSpMatSetAttribute(SparseMatrix* m, int attribute, void* value, size_t bytes) {
  return call(__func__, [&] {
    require(m != nullptr && value != nullptr && bytes == sizeof(int) &&
            (attribute == 0 || attribute == 1));
    const int wanted = *static_cast<int*>(value);
    require(wanted == 0 || wanted == 1);  // lower or upper, not unit or unit
    (attribute == 0 ? m->fill_mode : m->diagonal) = wanted;
  });
}
NW_CUSPARSE cusparseSpMatGetAttribute(SparseMatrix* m, int attribute, void* value, size_t bytes) {
  return call(__func__, [&] {
    require(m != nullptr && value != nullptr && bytes == sizeof(int) &&
            (attribute == 0 || attribute == 1));
    *static_cast<int*>(value) = attribute == 0 ? m->fill_mode : m->diagonal;
  });
}
NW_CUSPARSE cusparseDestroySpMat(SparseMatrix* m) {
  return call(__func__, [&] {
    require(m != nullptr);
    delete m;
  });
}
NW_CUSPARSE cusparseCsrGet(SparseMatrix* m, int64_t* rows, int64_t* columns, int64_t* elements,
                           void** offsets, void** indices, void** values, int* offset_type,
                           int* index_type, int* base, int* type) {
  return call(__func__, [&] {
    require(m != nullptr && m->format == kCsr);
    give(rows, m->rows);
    give(columns, m->columns);
    give(elements, m->elements);
    give(offsets, m->offsets);
    give(indices, m->indices);
    give(values, m->values);
    give(offset_type, m->offset_type);
    give(index_type, m->index_type);
    give(base, m->base);
    give(type, m->type);
  });
}
NW_CUSPARSE cusparseConstCsrGet(SparseMatrix* m, int64_t* rows, int64_t* columns, int64_t* elements,
                                void** offsets, void** indices, void** values, int* offset_type,
                                int* index_type, int* base, int* type) {
  return cusparseCsrGet(m, rows, columns, elements, offsets, indices, values, offset_type,
                        index_type, base, type);
}
NW_CUSPARSE cusparseCooGet(SparseMatrix* m, int64_t* rows, int64_t* columns, int64_t* elements,
                           void** row_indices, void** column_indices, void** values,
                           int* index_type, int* base, int* type) {
  return call(__func__, [&] {
    require(m != nullptr && m->format == kCoo);
    give(rows, m->rows);
    give(columns, m->columns);
    give(elements, m->elements);
    give(row_indices, m->offsets);
    give(column_indices, m->indices);
    give(values, m->values);
    give(index_type, m->index_type);
    give(base, m->base);
    give(type, m->type);
  });
}
NW_CUSPARSE cusparseConstCooGet(SparseMatrix* m, int64_t* rows, int64_t* columns, int64_t* elements,
                                void** row_indices, void** column_indices, void** values,
                                int* index_type, int* base, int* type) {
  return cusparseCooGet(m, rows, columns, elements, row_indices, column_indices, values, index_type,
                        base, type);
}
NW_CUSPARSE cusparseSpMatGetSize(SparseMatrix* m, int64_t* rows, int64_t* columns,
                                 int64_t* elements) {
  return call(__func__, [&] {
    require(m != nullptr);
    give(rows, m->rows);
    give(columns, m->columns);
    give(elements, m->elements);
  });
}
NW_CUSPARSE cusparseSpMatGetFormat(SparseMatrix* m, int* format) {
  return call(__func__, [&] {
    require(m != nullptr);
    give(format, m->format);
  });
}
NW_CUSPARSE cusparseSpMatGetIndexBase(SparseMatrix* m, int* base) {
  return call(__func__, [&] {
    require(m != nullptr);
    give(base, m->base);
  });
}
NW_CUSPARSE cusparseSpMatGetValues(SparseMatrix* m, void** values) {
  return call(__func__, [&] {
    require(m != nullptr);
    give(values, m->values);
  });
}
NW_CUSPARSE cusparseConstSpMatGetValues(SparseMatrix* m, void** values) {
  return cusparseSpMatGetValues(m, values);
}
NW_CUSPARSE cusparseSpMatSetValues(SparseMatrix* m, void* values) {
  return call(__func__, [&] {
    require(m != nullptr && values != nullptr);
    m->values = values;
  });
}
NW_CUSPARSE cusparseCsrSetPointers(SparseMatrix* m, void* offsets, void* indices, void* values) {
  return call(__func__, [&] {
    require(m != nullptr && (m->format == kCsr || m->format == kCsc));
    m->offsets = offsets;
    m->indices = indices;
    m->values = values;
  });
}
NW_CUSPARSE cusparseCscSetPointers(SparseMatrix* m, void* offsets, void* indices, void* values) {
  return cusparseCsrSetPointers(m, offsets, indices, values);
}
NW_CUSPARSE cusparseCooSetPointers(SparseMatrix* m, void* rows, void* columns, void* values) {
  return call(__func__, [&] {
    require(m != nullptr && m->format == kCoo);
    m->offsets = rows;
    m->indices = columns;
    m->values = values;
  });
}

// --- Dense ones ----------------------------------------------------------------------------------

NW_CUSPARSE cusparseCreateDnVec(DenseVector** to, int64_t size, void* values, int type) {
  return call(__func__, [&] {
    require(to != nullptr && size >= 0);
    check_type(type);
    *to = std::make_unique<DenseVector>(DenseVector{size, values, type}).release();
  });
}
NW_CUSPARSE cusparseCreateConstDnVec(DenseVector** to, int64_t size, void* values, int type) {
  return cusparseCreateDnVec(to, size, values, type);
}
NW_CUSPARSE cusparseDestroyDnVec(DenseVector* v) {
  return call(__func__, [&] {
    require(v != nullptr);
    delete v;
  });
}
NW_CUSPARSE cusparseDnVecGet(DenseVector* v, int64_t* size, void** values, int* type) {
  return call(__func__, [&] {
    require(v != nullptr);
    give(size, v->size);
    give(values, v->values);
    give(type, v->type);
  });
}
NW_CUSPARSE cusparseDnVecGetValues(DenseVector* v, void** values) {
  return cusparseDnVecGet(v, nullptr, values, nullptr);
}
NW_CUSPARSE cusparseConstDnVecGet(DenseVector* v, int64_t* size, void** values, int* type) {
  return cusparseDnVecGet(v, size, values, type);
}
NW_CUSPARSE cusparseConstDnVecGetValues(DenseVector* v, void** values) {
  return cusparseDnVecGet(v, nullptr, values, nullptr);
}
NW_CUSPARSE cusparseDnVecSetValues(DenseVector* v, void* values) {
  return call(__func__, [&] {
    require(v != nullptr);
    v->values = values;
  });
}
NW_CUSPARSE cusparseCreateDnMat(DenseMatrix** to, int64_t rows, int64_t columns, int64_t leading,
                                void* values, int type, int order) {
  return call(__func__, [&] {
    require(to != nullptr && rows >= 0 && columns >= 0);
    require(order == kColumnMajor || order == kRowMajor);
    require(leading >= (order == kColumnMajor ? rows : columns));
    check_type(type);
    *to = std::make_unique<DenseMatrix>(
              DenseMatrix{rows, columns, leading, values, type, order, 1, 0})
              .release();
  });
}
NW_CUSPARSE cusparseCreateConstDnMat(DenseMatrix** to, int64_t rows, int64_t columns,
                                     int64_t leading, void* values, int type, int order) {
  return cusparseCreateDnMat(to, rows, columns, leading, values, type, order);
}
NW_CUSPARSE cusparseDestroyDnMat(DenseMatrix* m) {
  return call(__func__, [&] {
    require(m != nullptr);
    delete m;
  });
}
NW_CUSPARSE cusparseDnMatGet(DenseMatrix* m, int64_t* rows, int64_t* columns, int64_t* leading,
                             void** values, int* type, int* order) {
  return call(__func__, [&] {
    require(m != nullptr);
    give(rows, m->rows);
    give(columns, m->columns);
    give(leading, m->leading);
    give(values, m->values);
    give(type, m->type);
    give(order, m->order);
  });
}
NW_CUSPARSE cusparseDnMatGetValues(DenseMatrix* m, void** values) {
  return cusparseDnMatGet(m, nullptr, nullptr, nullptr, values, nullptr, nullptr);
}
NW_CUSPARSE cusparseConstDnMatGet(DenseMatrix* m, int64_t* rows, int64_t* columns, int64_t* leading,
                                  void** values, int* type, int* order) {
  return cusparseDnMatGet(m, rows, columns, leading, values, type, order);
}
NW_CUSPARSE cusparseConstDnMatGetValues(DenseMatrix* m, void** values) {
  return cusparseDnMatGetValues(m, values);
}
NW_CUSPARSE cusparseDnMatSetValues(DenseMatrix* m, void* values) {
  return call(__func__, [&] {
    require(m != nullptr);
    m->values = values;
  });
}
NW_CUSPARSE cusparseDnMatSetStridedBatch(DenseMatrix* m, int batch, int64_t stride) {
  return call(__func__, [&] {
    require(m != nullptr && batch >= 1);
    m->batch = batch;
    m->batch_stride = stride;
  });
}
NW_CUSPARSE cusparseDnMatGetStridedBatch(DenseMatrix* m, int* batch, int64_t* stride) {
  return call(__func__, [&] {
    require(m != nullptr);
    give(batch, m->batch);
    give(stride, m->batch_stride);
  });
}

}  // namespace nearwarp::cusparse
