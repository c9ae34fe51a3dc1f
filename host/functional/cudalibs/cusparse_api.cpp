// Entry points of cuSPARSE's generic interface.
#include <memory>

#include "host/functional/cudalibs/cusparse.h"
#include "host/functional/cudalibs/not_supported.h"

#define NW_CUSPARSE extern "C" __attribute__((visibility("default"))) nearwarp::cusparse::Status

namespace nearwarp::cusparse {

namespace {

constexpr int kVersion = 12603;

/// Runs a call: f(), whose Failure is what it returns.
template <class F>
Status call(const char* name, F&& f) noexcept {
  try {
    f();
    return kSuccess;
  } catch (const Failure& failure) {
    if (failure.status == kNotSupported)
      cudalibs::say_not_supported(name, "with these types or options", "cuSPARSE",
                                  "CUSPARSE_STATUS_NOT_SUPPORTED");
    return failure.status;
  } catch (const cudalibs::Problem& problem) {
    return problem == cudalibs::Problem::kMemory ? kAllocFailed : kExecutionFailed;
  } catch (...) {
    return kInternalError;
  }
}
/// The same of a call that needs a handle.
template <class F>
Status call(const char* name, const Handle* handle, F&& f) noexcept {
  return handle == nullptr ? kNotInitialized : call(name, f);
}

void check_type(int type) { require(type == kF32 || type == kF64, kNotSupported); }
void check_index(int type) { require(type == kIndex32 || type == kIndex64, kNotSupported); }

Status create(const char* name, SparseMatrix** to, const SparseMatrix& m) {
  return call(name, [&] {
    require(to != nullptr && m.rows >= 0 && m.columns >= 0 && m.elements >= 0);
    require(m.base == 0 || m.base == 1);
    check_type(m.type);
    check_index(m.offset_type);
    check_index(m.index_type);
    *to = std::make_unique<SparseMatrix>(m).release();
  });
}

/// Gives away a member of a descriptor, where somebody wants it.
template <class T, class U>
void give(T* to, const U& value) {
  if (to != nullptr) *to = value;
}

}  // namespace

// --- Handles -------------------------------------------------------------------------------------

NW_CUSPARSE cusparseCreate(Handle** handle) {
  return call(__func__, [&] {
    require(handle != nullptr);
    *handle = std::make_unique<Handle>().release();
  });
}
NW_CUSPARSE cusparseDestroy(Handle* handle) {
  return call(__func__, handle, [&] { delete handle; });
}
NW_CUSPARSE cusparseSetStream(Handle* handle, cudalibs::Stream stream) {
  return call(__func__, handle, [&] { handle->stream = stream; });
}
NW_CUSPARSE cusparseGetStream(Handle* handle, cudalibs::Stream* stream) {
  return call(__func__, handle, [&] {
    require(stream != nullptr);
    *stream = handle->stream;
  });
}
NW_CUSPARSE cusparseSetPointerMode(Handle* handle, int mode) {
  return call(__func__, handle, [&] {
    require(mode == 0 || mode == 1);
    handle->device_pointers = mode == 1;
  });
}
NW_CUSPARSE cusparseGetPointerMode(Handle* handle, int* mode) {
  return call(__func__, handle, [&] {
    require(mode != nullptr);
    *mode = handle->device_pointers ? 1 : 0;
  });
}
NW_CUSPARSE cusparseGetVersion(Handle* handle, int* version) {
  return call(__func__, handle, [&] {
    require(version != nullptr);
    *version = kVersion;
  });
}
NW_CUSPARSE cusparseGetProperty(int which, int* value) {
  return call(__func__, [&] {  // major, minor, patch
    require(value != nullptr && which >= 0 && which <= 2);
    *value = which == 0 ? kVersion / 1000 : which == 1 ? kVersion / 100 % 10 : kVersion % 100;
  });
}
extern "C" __attribute__((visibility("default"))) const char* cusparseGetErrorName(Status status) {
  switch (status) {
    case kSuccess:
      return "CUSPARSE_STATUS_SUCCESS";
    case kNotInitialized:
      return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case kAllocFailed:
      return "CUSPARSE_STATUS_ALLOC_FAILED";
    case kInvalidValue:
      return "CUSPARSE_STATUS_INVALID_VALUE";
    case kExecutionFailed:
      return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case kInternalError:
      return "CUSPARSE_STATUS_INTERNAL_ERROR";
    case kNotSupported:
      return "CUSPARSE_STATUS_NOT_SUPPORTED";
    case kInsufficientResources:
      return "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES";
  }
  return "unrecognized error code";
}
extern "C" __attribute__((visibility("default"))) const char* cusparseGetErrorString(
    Status status) {
  return cusparseGetErrorName(status);
}

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
// Of matrices that stay as they are: the same.
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
    require(m != nullptr && m->format != kCoo);
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
NW_CUSPARSE cusparseDnMatSetValues(DenseMatrix* m, void* values) {
  return call(__func__, [&] {
    require(m != nullptr);
    m->values = values;
  });
}
/// Products of several at once are not supported: multiply() says so.
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

// --- Products: they need no buffer ---------------------------------------------------------------

NW_CUSPARSE cusparseSpMV_bufferSize(Handle* handle, int op, const void*, SparseMatrix* a,
                                    DenseVector* x, const void*, DenseVector* y, int compute_type,
                                    int, size_t* bytes) {
  return call(__func__, handle, [&] {
    require(a != nullptr && x != nullptr && y != nullptr && bytes != nullptr);
    check_product(op, kNone, *a, column_of(*x), column_of(*y), compute_type);
    *bytes = 0;
  });
}
NW_CUSPARSE cusparseSpMV_preprocess(Handle* handle, int op, const void*, SparseMatrix* a,
                                    DenseVector* x, const void*, DenseVector* y, int compute_type,
                                    int, void*) {
  return call(__func__, handle, [&] {
    require(a != nullptr && x != nullptr && y != nullptr);
    check_product(op, kNone, *a, column_of(*x), column_of(*y), compute_type);
  });
}
NW_CUSPARSE cusparseSpMV(Handle* handle, int op, const void* alpha, SparseMatrix* a, DenseVector* x,
                         const void* beta, DenseVector* y, int compute_type, int, void*) {
  return call(__func__, handle, [&] {
    require(a != nullptr && x != nullptr && y != nullptr);
    multiply(*handle, op, kNone, alpha, *a, column_of(*x), beta, column_of(*y), compute_type);
  });
}
NW_CUSPARSE cusparseSpMM_bufferSize(Handle* handle, int op_a, int op_b, const void*,
                                    SparseMatrix* a, DenseMatrix* b, const void*, DenseMatrix* c,
                                    int compute_type, int, size_t* bytes) {
  return call(__func__, handle, [&] {
    require(a != nullptr && b != nullptr && c != nullptr && bytes != nullptr);
    check_product(op_a, op_b, *a, *b, *c, compute_type);
    *bytes = 0;
  });
}
NW_CUSPARSE cusparseSpMM_preprocess(Handle* handle, int op_a, int op_b, const void*,
                                    SparseMatrix* a, DenseMatrix* b, const void*, DenseMatrix* c,
                                    int compute_type, int, void*) {
  return call(__func__, handle, [&] {
    require(a != nullptr && b != nullptr && c != nullptr);
    check_product(op_a, op_b, *a, *b, *c, compute_type);
  });
}
NW_CUSPARSE cusparseSpMM(Handle* handle, int op_a, int op_b, const void* alpha, SparseMatrix* a,
                         DenseMatrix* b, const void* beta, DenseMatrix* c, int compute_type, int,
                         void*) {
  return call(__func__, handle, [&] {
    require(a != nullptr && b != nullptr && c != nullptr);
    multiply(*handle, op_a, op_b, alpha, *a, *b, beta, *c, compute_type);
  });
}

// --- Conversions ---------------------------------------------------------------------------------

NW_CUSPARSE cusparseSparseToDense_bufferSize(Handle* handle, SparseMatrix*, DenseMatrix*, int,
                                             size_t* bytes) {
  return call(__func__, handle, [&] {
    require(bytes != nullptr);
    *bytes = 0;
  });
}
NW_CUSPARSE cusparseSparseToDense(Handle* handle, SparseMatrix* from, DenseMatrix* to, int, void*) {
  return call(__func__, handle, [&] {
    require(from != nullptr && to != nullptr);
    to_dense(*handle, *from, *to);
  });
}
NW_CUSPARSE cusparseDenseToSparse_bufferSize(Handle* handle, DenseMatrix*, SparseMatrix* to, int,
                                             size_t* bytes) {
  return call(__func__, handle, [&] {
    require(to != nullptr && bytes != nullptr);
    *bytes = buffer_bytes(*to);
  });
}
NW_CUSPARSE cusparseDenseToSparse_analysis(Handle* handle, DenseMatrix* from, SparseMatrix* to, int,
                                           void* buffer) {
  return call(__func__, handle, [&] {
    require(from != nullptr && to != nullptr);
    analyse(*handle, *from, to, buffer);
  });
}
NW_CUSPARSE cusparseDenseToSparse_convert(Handle* handle, DenseMatrix* from, SparseMatrix* to, int,
                                          void* buffer) {
  return call(__func__, handle, [&] {
    require(from != nullptr && to != nullptr);
    from_dense(*handle, *from, *to, buffer);
  });
}

}  // namespace nearwarp::cusparse

/// Where entry points end that the library does not implement.
extern "C" int nw_cusparse_not_supported(const char* name) {
  nearwarp::cudalibs::say_not_supported(name, "", "cuSPARSE", "CUSPARSE_STATUS_NOT_SUPPORTED");
  return nearwarp::cusparse::kNotSupported;
}
