// Parameters of cuSPARSE's kernels; the host fills them in (cusparse.cpp).
#pragma once

namespace nearwarp::cusparse {

/// A factor: a value, or where it is on the device.
struct Factor {
  double value, imaginary;
  const void* at;  ///< null: `value`
};

/// How elements lie.
enum Places : int {
  kLines,        ///< line by line: rows of CSR, columns of CSC
  kCoordinates,  ///< one by one: COO
  kBlocks,       ///< dense blocks of `height` x `width`, by rows of blocks: BSR
  kSlices,       ///< rows in slices of `height`, side by side and padded to one length: sliced ELL
  kBlockRows,    ///< rows of `length` elements, of blocks of `height` x `height`: blocked ELL
};

/// Nonzero elements.
struct Sparse {
  long long lines;  ///< kCoordinates: elements; else rows, of CSC columns
  void* offsets;    ///< of lines, rows of blocks, slices, one more than there are; COO: rows
  void* indices;    ///< across lines, of columns or columns of blocks; below 0: padding
  void* values;
  int wide_offsets, wide_indices;  ///< of 64 bits
  int base;
  int places;
  long long height, width, length;
  int by_columns;  ///< kBlocks: so elements of a block lie
};

/// An element lies at row * row_stride + column * column_stride.
struct Dense {
  long long rows, columns, row_stride, column_stride;
  void* values;
};

/// C = alpha A B + beta C. `across`: elements of a line go to the rows of C that their indices say,
/// from the row of B that is the line's; else the other way round. COO: the columns of A are rows
/// of C.
struct ProductArgs {
  Sparse a;
  Dense b, c;
  Factor alpha, beta;
  int across;
  int conjugate_a, conjugate_b;
};

/// Rows of elements, in order, and where each row begins.
struct RowsArgs {
  int *rows, *offsets;
  int num_rows, num_elements, base;
};

/// Between a dense and a sparse matrix; `line_stride` and `step` say how elements of a line lie.
struct ConvertArgs {
  Sparse sparse;
  const void* dense;
  long long line_stride, step, length;
  long long lines;
  long long* counts;  ///< of COO: where each line begins, one more than there are
};

}  // namespace nearwarp::cusparse
