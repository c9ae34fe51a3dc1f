// Matrices of cuSPARSE's generic interface, and what is done with them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/functional/cudalibs/kernels.h"
#include "host/functional/cudalibs/kernels/cusparse_args.h"

namespace nearwarp::cusparse {

/// cusparseStatus_t
enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kInvalidValue = 3,
  kExecutionFailed = 6,
  kInternalError = 7,
  kNotSupported = 10,
  kInsufficientResources = 11,
};
struct Failure {
  Status status;
};
inline void require(bool holds, Status otherwise = kInvalidValue) {
  if (!holds) throw Failure{otherwise};
}

enum Format : int { kCsr = 1, kCsc = 2, kCoo = 3 };                           // cusparseFormat_t
enum Order : int { kColumnMajor = 1, kRowMajor = 2 };                         // cusparseOrder_t
enum IndexType : int { kIndex32 = 2, kIndex64 = 3 };                          // cusparseIndexType_t
enum Operation : int { kNone = 0, kTranspose = 1, kConjugateTranspose = 2 };  // of real numbers
enum DataType : int { kF32 = 0, kF64 = 1 };                                   // cudaDataType

struct SparseMatrix {
  int format = kCsr;
  int64_t rows = 0, columns = 0, elements = 0;
  void* offsets = nullptr;  ///< of rows (CSR), columns (CSC); rows of elements (COO)
  void* indices = nullptr;
  void* values = nullptr;
  int offset_type = kIndex32, index_type = kIndex32, base = 0, type = kF32;

  int64_t lines() const { return format == kCsc ? columns : rows; }
};
struct DenseMatrix {
  int64_t rows = 0, columns = 0, leading = 0;
  void* values = nullptr;
  int type = kF32, order = kColumnMajor;
  int batch = 1;
  int64_t batch_stride = 0;
};
struct DenseVector {
  int64_t size = 0;
  void* values = nullptr;
  int type = kF32;
};

struct Handle {
  cudalibs::Stream stream = nullptr;
  bool device_pointers = false;
};

// All throw Failure and Problem.

/// C = alpha op(A) op(B) + beta C; factors as the handle's pointer mode says.
void multiply(const Handle& handle, int op_a, int op_b, const void* alpha, const SparseMatrix& a,
              const DenseMatrix& b, const void* beta, const DenseMatrix& c, int compute_type);
/// What multiply() demands of types and sizes.
void check_product(int op_a, int op_b, const SparseMatrix& a, const DenseMatrix& b,
                   const DenseMatrix& c, int compute_type);
/// The vectors as matrices of one column.
DenseMatrix column_of(const DenseVector& vector);

void to_dense(const Handle& handle, const SparseMatrix& from, const DenseMatrix& to);
/// Of the conversion the other way round.
size_t buffer_bytes(const SparseMatrix& to);
/// Counts elements, which `to` has then, and finds where lines begin.
void analyse(const Handle& handle, const DenseMatrix& from, SparseMatrix* to, void* buffer);
void from_dense(const Handle& handle, const DenseMatrix& from, const SparseMatrix& to,
                void* buffer);

}  // namespace nearwarp::cusparse
