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

enum Format : int { kCsr = 1, kCsc, kCoo, kBlockedEll = 5, kBsr, kSlicedEll };  // cusparseFormat_t
enum Order : int { kColumnMajor = 1, kRowMajor = 2 };                           // cusparseOrder_t
enum IndexType : int { kIndex32 = 2, kIndex64 = 3 };                          // cusparseIndexType_t
enum Operation : int { kNone = 0, kTranspose = 1, kConjugateTranspose = 2 };  // of real numbers
enum DataType : int { kF32, kF64, kF16, kS8, kC32, kC64, kS32 = 10, kBf16 = 14 };  // cudaDataType

struct SparseMatrix {
  int format = kCsr;
  int64_t rows = 0, columns = 0, elements = 0;
  void* offsets = nullptr;  ///< of rows (CSR, BSR), columns (CSC), slices; rows of elements (COO)
  void* indices = nullptr;
  void* values = nullptr;
  int offset_type = kIndex32, index_type = kIndex32, base = 0, type = kF32;

  int64_t height = 1, width = 1;  ///< of blocks; of slices the height
  int64_t length = 0;             ///< of a row of a blocked ELL
  int order = kRowMajor;          ///< of a block's elements
  int batch = 1;                  ///< so many matrices, whose arrays lie so many elements apart
  int64_t offsets_stride = 0, elements_stride = 0;
  int fill_mode = 0, diagonal = 0;  ///< attributes, for triangular solves

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

/// op(A) op(B) into C; sums are of the compute type.
struct Product {
  int op_a, op_b;
  const SparseMatrix& a;
  const DenseMatrix& b;
  const DenseMatrix& c;
  int compute_type;
};
/// C = alpha op(A) op(B) + beta C; factors as the handle's pointer mode says.
void multiply(const Handle& handle, const Product& product, const void* alpha, const void* beta,
              void* buffer);
/// Checks the types and sizes that multiply() demands; returns the size of its buffer.
size_t check_product(const Product& product);
/// The vectors as matrices of one column.
DenseMatrix column_of(const DenseVector& vector);

void to_dense(const Handle& handle, const SparseMatrix& from, const DenseMatrix& to);
/// The size of the buffer for the conversion the other way round.
size_t buffer_bytes(const SparseMatrix& to);
/// Bytes of an element; 0: no type of matrices here.
size_t bytes_of(int type);
/// Counts elements, which `to` has then, and finds where lines begin.
void analyse(const Handle& handle, const DenseMatrix& from, SparseMatrix* to, void* buffer);
void from_dense(const Handle& handle, const DenseMatrix& from, const SparseMatrix& to,
                void* buffer);

}  // namespace nearwarp::cusparse
