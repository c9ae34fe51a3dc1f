// What cuSPARSE's kernels get; the host fills it in (cusparse.cpp).
#pragma once

namespace nearwarp::cusparse {

/// A factor: a value, or where it is on the device.
struct Factor {
  double value;
  const void* at;  ///< null: `value`
};

/// Nonzero elements in lines (rows of CSR, columns of CSC), or one by one (COO).
struct Sparse {
  long long lines;  ///< COO: elements
  void* offsets;    ///< of lines, one more than there are; COO: rows
  void* indices;    ///< across lines; COO: columns
  void* values;
  int wide_offsets, wide_indices;  ///< of 64 bits
  int base;
  int is_coordinates;
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
