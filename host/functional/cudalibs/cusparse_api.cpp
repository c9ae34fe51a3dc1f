// Entry points of cuSPARSE's generic interface: handles, products, conversions. Matrices are in
// cusparse_matrices.cpp.
#include <iterator>
#include <memory>

#include "host/functional/cudalibs/cusparse_call.h"

namespace nearwarp::cusparse {

namespace {

constexpr int kVersion = 12603;

/// cusparseMatDescr_t
struct Description {
  int type = 0, fill_mode = 0, diagonal = 0, base = 0;
};
/// Sets a member to one of the values from 0 to `most`.
Status set(const char* name, Description* d, int Description::*member, int value, int most) {
  return call(name, [&] {
    require(d != nullptr && value >= 0 && value <= most);
    d->*member = value;
  });
}

/// Checks a product with a vector. Products with batches of vectors are not there.
void check_vectors(const SparseMatrix* a, const DenseVector* x, const DenseVector* y) {
  require(a != nullptr && x != nullptr && y != nullptr);
  require(a->batch == 1, kNotSupported);
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

// --- Names of statuses ---------------------------------------------------------------------------

namespace {

struct StatusName {
  const char *name, *text;  ///< as cuSPARSE words them: programs print them
};
/// cusparseStatus_t, from 0 on.
constexpr StatusName kStatusNames[] = {
    {"CUSPARSE_STATUS_SUCCESS", "success"},
    {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {"CUSPARSE_STATUS_MAPPING_ERROR", "texture memory mapping error"},
    {"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};
StatusName name_of(int status) {
  const bool is_known = status >= 0 && static_cast<size_t>(status) < std::size(kStatusNames);
  return is_known ? kStatusNames[status]
                  : StatusName{"unrecognized error code", "unrecognized error code"};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* cusparseGetErrorName(int status) {
  return name_of(status).name;
}
extern "C" __attribute__((visibility("default"))) const char* cusparseGetErrorString(int status) {
  return name_of(status).text;
}

// --- Products ------------------------------------------------------------------------------------

NW_CUSPARSE cusparseSpMV_bufferSize(Handle* handle, int op, const void*, SparseMatrix* a,
                                    DenseVector* x, const void*, DenseVector* y, int compute_type,
                                    int, size_t* bytes) {
  return call(__func__, handle, [&] {
    check_vectors(a, x, y);
    require(bytes != nullptr);
    *bytes = check_product({op, kNone, *a, column_of(*x), column_of(*y), compute_type});
  });
}
NW_CUSPARSE cusparseSpMV_preprocess(Handle* handle, int op, const void*, SparseMatrix* a,
                                    DenseVector* x, const void*, DenseVector* y, int compute_type,
                                    int, void*) {
  return call(__func__, handle, [&] {
    check_vectors(a, x, y);
    check_product({op, kNone, *a, column_of(*x), column_of(*y), compute_type});
  });
}
NW_CUSPARSE cusparseSpMV(Handle* handle, int op, const void* alpha, SparseMatrix* a, DenseVector* x,
                         const void* beta, DenseVector* y, int compute_type, int, void* buffer) {
  return call(__func__, handle, [&] {
    check_vectors(a, x, y);
    multiply(*handle, {op, kNone, *a, column_of(*x), column_of(*y), compute_type}, alpha, beta,
             buffer);
  });
}
NW_CUSPARSE cusparseSpMM_bufferSize(Handle* handle, int op_a, int op_b, const void*,
                                    SparseMatrix* a, DenseMatrix* b, const void*, DenseMatrix* c,
                                    int compute_type, int, size_t* bytes) {
  return call(__func__, handle, [&] {
    require(a != nullptr && b != nullptr && c != nullptr && bytes != nullptr);
    *bytes = check_product({op_a, op_b, *a, *b, *c, compute_type});
  });
}
NW_CUSPARSE cusparseSpMM_preprocess(Handle* handle, int op_a, int op_b, const void*,
                                    SparseMatrix* a, DenseMatrix* b, const void*, DenseMatrix* c,
                                    int compute_type, int, void*) {
  return call(__func__, handle, [&] {
    require(a != nullptr && b != nullptr && c != nullptr);
    check_product({op_a, op_b, *a, *b, *c, compute_type});
  });
}
NW_CUSPARSE cusparseSpMM(Handle* handle, int op_a, int op_b, const void* alpha, SparseMatrix* a,
                         DenseMatrix* b, const void* beta, DenseMatrix* c, int compute_type, int,
                         void* buffer) {
  return call(__func__, handle, [&] {
    require(a != nullptr && b != nullptr && c != nullptr);
    multiply(*handle, {op_a, op_b, *a, *b, *c, compute_type}, alpha, beta, buffer);
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

/// Rows of elements, in their order, to where each row begins, and back.
NW_CUSPARSE cusparseXcoo2csr(Handle* handle, int* rows, int elements, int num_rows, int* offsets,
                             int base) {
  return call(__func__, handle, [&] {
    require(elements >= 0 && num_rows >= 0 && (base == 0 || base == 1) && offsets != nullptr);
    const RowsArgs args{rows, offsets, num_rows, elements, base};
    cudalibs::launch("cusparse_row_offsets", int64_t{num_rows} + 1, &args, handle->stream);
  });
}
NW_CUSPARSE cusparseXcsr2coo(Handle* handle, int* offsets, int elements, int num_rows, int* rows,
                             int base) {
  return call(__func__, handle, [&] {
    require(elements >= 0 && num_rows >= 0 && (base == 0 || base == 1) && offsets != nullptr);
    const RowsArgs args{rows, offsets, num_rows, elements, base};
    cudalibs::launch("cusparse_rows_of", num_rows, &args, handle->stream);
  });
}

// --- What came before the generic interface: descriptions that programs still make ---------------

NW_CUSPARSE cusparseCreateMatDescr(Description** to) {
  return call(__func__, [&] {
    require(to != nullptr);
    *to = std::make_unique<Description>().release();
  });
}
NW_CUSPARSE cusparseDestroyMatDescr(Description* d) {
  return call(__func__, [&] { delete d; });
}
NW_CUSPARSE cusparseSetMatType(Description* d, int type) {
  return set(__func__, d, &Description::type, type, 3);
}
NW_CUSPARSE cusparseSetMatFillMode(Description* d, int mode) {
  return set(__func__, d, &Description::fill_mode, mode, 1);
}
NW_CUSPARSE cusparseSetMatDiagType(Description* d, int type) {
  return set(__func__, d, &Description::diagonal, type, 1);
}
NW_CUSPARSE cusparseSetMatIndexBase(Description* d, int base) {
  return set(__func__, d, &Description::base, base, 1);
}
// Getters of matrix descriptions return the value itself, not a status.
extern "C" __attribute__((visibility("default"))) int cusparseGetMatType(const Description* d) {
  return d->type;
}
extern "C" __attribute__((visibility("default"))) int cusparseGetMatFillMode(const Description* d) {
  return d->fill_mode;
}
extern "C" __attribute__((visibility("default"))) int cusparseGetMatDiagType(const Description* d) {
  return d->diagonal;
}
extern "C" __attribute__((visibility("default"))) int cusparseGetMatIndexBase(
    const Description* d) {
  return d->base;
}

}  // namespace nearwarp::cusparse

/// Where entry points end that the library does not implement.
extern "C" int nw_cusparse_not_supported(const char* name) {
  nearwarp::cudalibs::say_not_supported(name, "", "cuSPARSE", "CUSPARSE_STATUS_NOT_SUPPORTED");
  return nearwarp::cusparse::kNotSupported;
}
