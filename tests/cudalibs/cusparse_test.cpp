// Are cuSPARSE's products and conversions those of plain code, over formats, operations and
// layouts?
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/on_device.h"

extern "C" {
int cusparseCreate(void**);
int cusparseDestroy(void*);
int cusparseSetPointerMode(void*, int);
int cusparseCreateCsr(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseCreateCsc(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseCreateCoo(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int);
int cusparseDestroySpMat(void*);
int cusparseSpMatGetSize(void*, int64_t*, int64_t*, int64_t*);
int cusparseCsrSetPointers(void*, void*, void*, void*);
int cusparseCooSetPointers(void*, void*, void*, void*);
int cusparseCreateDnVec(void**, int64_t, void*, int);
int cusparseDestroyDnVec(void*);
int cusparseCreateDnMat(void**, int64_t, int64_t, int64_t, void*, int, int);
int cusparseDestroyDnMat(void*);
int cusparseDnMatSetStridedBatch(void*, int, int64_t);
int cusparseSpMV_bufferSize(void*, int, const void*, void*, void*, const void*, void*, int, int,
                            size_t*);
int cusparseSpMV(void*, int, const void*, void*, void*, const void*, void*, int, int, void*);
int cusparseSpMM(void*, int, int, const void*, void*, void*, const void*, void*, int, int, void*);
int cusparseSparseToDense(void*, void*, void*, int, void*);
int cusparseDenseToSparse_bufferSize(void*, void*, void*, int, size_t*);
int cusparseDenseToSparse_analysis(void*, void*, void*, int, void*);
int cusparseDenseToSparse_convert(void*, void*, void*, int, void*);
int cusparseSpGEMM_compute(void*);
const char* cusparseGetErrorName(int);
const char* cusparseGetErrorString(int);
}

namespace nearwarp::cudalibs {
namespace {

constexpr int kCsr = 1, kCsc = 2, kCoo = 3, kColumnMajor = 1, kRowMajor = 2;
constexpr int kInvalidValue = 3, kNotSupported = 10;

template <class T>
constexpr int kType = sizeof(T) == 8 ? 1 : 0;  // cudaDataType
template <class Index>
constexpr int kIndex = sizeof(Index) == 8 ? 3 : 2;  // cusparseIndexType_t

/// Dense, row by row; a part of the elements is 0.
template <class T>
std::vector<T> random_matrix(size_t n, double filled, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values(n);
  for (T& v : values)
    if (static_cast<double>(random() % 1000) < filled * 1000)
      v = static_cast<T>(static_cast<int>(random() % 15) + 1) / 8;
  return values;
}

/// A matrix on the device in a sparse format, and its descriptor.
template <class T, class Index>
class SparseOnDevice {
 public:
  SparseOnDevice(int format, const std::vector<T>& dense, size_t rows, size_t columns, Index base)
      : arrays_(compress(format, dense, rows, columns, base)),
        first_(arrays_.first),
        second_(arrays_.second),
        values_(arrays_.values) {
    const auto r = static_cast<int64_t>(rows), c = static_cast<int64_t>(columns),
               n = static_cast<int64_t>(arrays_.values.size());
    const auto create = format == kCsr ? cusparseCreateCsr : cusparseCreateCsc;
    EXPECT_EQ(format == kCoo
                  ? cusparseCreateCoo(&matrix_, r, c, n, first_.get(), second_.get(), values_.get(),
                                      kIndex<Index>, static_cast<int>(base), kType<T>)
                  : create(&matrix_, r, c, n, first_.get(), second_.get(), values_.get(),
                           kIndex<Index>, kIndex<Index>, static_cast<int>(base), kType<T>),
              0);
  }
  ~SparseOnDevice() { EXPECT_EQ(cusparseDestroySpMat(matrix_), 0); }
  SparseOnDevice(const SparseOnDevice&) = delete;
  SparseOnDevice& operator=(const SparseOnDevice&) = delete;
  void* get() const { return matrix_; }

  struct Arrays {
    std::vector<Index> first, second;
    std::vector<T> values;
  };
  static Arrays compress(int format, const std::vector<T>& dense, size_t rows, size_t columns,
                         Index base) {
    Arrays a;
    const size_t lines = format == kCsc ? columns : rows, length = format == kCsc ? rows : columns;
    if (format != kCoo) a.first.push_back(base);
    for (size_t line = 0; line < lines; ++line) {
      for (size_t i = 0; i < length; ++i) {
        const T v = format == kCsc ? dense[i * columns + line] : dense[line * columns + i];
        if (v == T(0)) continue;
        if (format == kCoo) a.first.push_back(static_cast<Index>(line) + base);
        a.second.push_back(static_cast<Index>(i) + base);
        a.values.push_back(v);
      }
      if (format != kCoo) a.first.push_back(static_cast<Index>(a.values.size()) + base);
    }
    return a;
  }

 private:
  Arrays arrays_;
  OnDevice<Index> first_, second_;
  OnDevice<T> values_;
  void* matrix_ = nullptr;
};

class Cusparse : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cusparseCreate(&handle_), 0); }
  void TearDown() override { EXPECT_EQ(cusparseDestroy(handle_), 0); }

  /// y = alpha op(A) x + beta y, where y is NaN if beta is 0: nothing of it may be left.
  template <class T, class Index>
  void times_vector(int format, size_t rows, size_t columns, int op, T alpha, T beta, Index base) {
    const auto a = random_matrix<T>(rows * columns, 0.2, static_cast<uint32_t>(rows));
    const size_t m = op == 0 ? rows : columns, k = op == 0 ? columns : rows;
    const auto x = random_matrix<T>(k, 1, 7);
    auto y = random_matrix<T>(m, 1, 8);
    if (beta == T(0)) y.assign(m, static_cast<T>(NAN));
    const SparseOnDevice<T, Index> matrix(format, a, rows, columns, base);
    const OnDevice in(x), out(y);
    void *x_vector = nullptr, *y_vector = nullptr;
    ASSERT_EQ(cusparseCreateDnVec(&x_vector, static_cast<int64_t>(k), in.get(), kType<T>), 0);
    ASSERT_EQ(cusparseCreateDnVec(&y_vector, static_cast<int64_t>(m), out.get(), kType<T>), 0);
    size_t bytes = 1;
    EXPECT_EQ(cusparseSpMV_bufferSize(handle_, op, &alpha, matrix.get(), x_vector, &beta, y_vector,
                                      kType<T>, 0, &bytes),
              0);
    ASSERT_EQ(cusparseSpMV(handle_, op, &alpha, matrix.get(), x_vector, &beta, y_vector, kType<T>,
                           0, nullptr),
              0);
    const auto result = out.values();
    for (size_t i = 0; i < m; ++i) {
      double sum = 0;
      for (size_t j = 0; j < k; ++j)
        sum += static_cast<double>(op == 0 ? a[i * columns + j] : a[j * columns + i]) * x[j];
      const double expected = alpha * sum + (beta == T(0) ? 0 : beta * y[i]);
      ASSERT_NEAR(result[i], expected, 1e-5 * (1 + std::abs(expected))) << format << " " << i;
    }
    EXPECT_EQ(cusparseDestroyDnVec(x_vector), 0);
    EXPECT_EQ(cusparseDestroyDnVec(y_vector), 0);
  }

  template <class T>
  void times_matrix(int format, int op_a, int op_b, int order_b, int order_c) {
    constexpr size_t kRows = 33, kColumns = 50, kWidth = 7, kGap = 3;
    const auto a = random_matrix<T>(kRows * kColumns, 0.15, 3);
    const size_t m = op_a == 0 ? kRows : kColumns, k = op_a == 0 ? kColumns : kRows;
    const size_t b_rows = op_b == 0 ? k : kWidth, b_columns = op_b == 0 ? kWidth : k;
    const auto place = [](int order, size_t leading, size_t r, size_t c) {
      return order == kRowMajor ? r * leading + c : c * leading + r;
    };
    const size_t ldb = (order_b == kRowMajor ? b_columns : b_rows) + kGap;
    const size_t ldc = (order_c == kRowMajor ? kWidth : m) + kGap;
    const auto b = random_matrix<T>(ldb * (order_b == kRowMajor ? b_rows : b_columns), 1, 4);
    const auto c = random_matrix<T>(ldc * (order_c == kRowMajor ? m : kWidth), 1, 5);
    const SparseOnDevice<T, int32_t> matrix(format, a, kRows, kColumns, 0);
    const OnDevice in(b), out(c);
    void *b_matrix = nullptr, *c_matrix = nullptr;
    const auto i64 = [](size_t n) { return static_cast<int64_t>(n); };
    ASSERT_EQ(cusparseCreateDnMat(&b_matrix, i64(b_rows), i64(b_columns), i64(ldb), in.get(),
                                  kType<T>, order_b),
              0);
    ASSERT_EQ(
        cusparseCreateDnMat(&c_matrix, i64(m), i64(kWidth), i64(ldc), out.get(), kType<T>, order_c),
        0);
    const T alpha = T(2), beta = T(-0.5);
    ASSERT_EQ(cusparseSpMM(handle_, op_a, op_b, &alpha, matrix.get(), b_matrix, &beta, c_matrix,
                           kType<T>, 0, nullptr),
              0);
    auto expected = c;
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < kWidth; ++j) {
        double sum = 0;
        for (size_t l = 0; l < k; ++l)
          sum += static_cast<double>(op_a == 0 ? a[i * kColumns + l] : a[l * kColumns + i]) *
                 (op_b == 0 ? b[place(order_b, ldb, l, j)] : b[place(order_b, ldb, j, l)]);
        T& e = expected[place(order_c, ldc, i, j)];
        e = static_cast<T>(alpha * sum + beta * e);
      }
    const auto result = out.values();  // what lies between lines stays
    for (size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i], expected[i], 1e-4) << format;
    EXPECT_EQ(cusparseDestroyDnMat(b_matrix), 0);
    EXPECT_EQ(cusparseDestroyDnMat(c_matrix), 0);
  }

  void* handle_ = nullptr;
};

TEST_F(Cusparse, MatrixTimesVector) {
  for (const int format : {kCsr, kCsc, kCoo})
    for (const int op : {0, 1, 2})
      for (const auto& [rows, columns] : {std::pair<size_t, size_t>{1, 1}, {7, 32}, {129, 60}}) {
        times_vector<float, int32_t>(format, rows, columns, op, 1.5f, 0, 0);
        times_vector<double, int32_t>(format, rows, columns, op, 2, 0.25, 1);
        times_vector<double, int64_t>(format, rows, columns, op, -1, 1, 0);
      }
}

TEST_F(Cusparse, MatrixTimesMatrix) {
  for (const int format : {kCsr, kCsc, kCoo})
    for (const int op_a : {0, 1})
      for (const int op_b : {0, 1})
        for (const int order_b : {kColumnMajor, kRowMajor})
          for (const int order_c : {kColumnMajor, kRowMajor}) {
            times_matrix<float>(format, op_a, op_b, order_b, order_c);
            times_matrix<double>(format, op_a, op_b, order_b, order_c);
          }
}

TEST_F(Cusparse, FactorsOnTheDevice) {
  const OnDevice<float> alpha(std::vector{2.f}), beta(std::vector{10.f}), x(std::vector{1.f, 2.f}),
      y(std::vector{1.f, 1.f});
  const SparseOnDevice<float, int32_t> a(kCsr, {1, 0, 0, 3}, 2, 2, 0);
  void *x_vector = nullptr, *y_vector = nullptr;
  ASSERT_EQ(cusparseCreateDnVec(&x_vector, 2, x.get(), 0), 0);
  ASSERT_EQ(cusparseCreateDnVec(&y_vector, 2, y.get(), 0), 0);
  ASSERT_EQ(cusparseSetPointerMode(handle_, 1), 0);
  ASSERT_EQ(
      cusparseSpMV(handle_, 0, alpha.get(), a.get(), x_vector, beta.get(), y_vector, 0, 0, nullptr),
      0);
  EXPECT_EQ(y.values(), (std::vector{12.f, 22.f}));
  EXPECT_EQ(cusparseDestroyDnVec(x_vector), 0);
  EXPECT_EQ(cusparseDestroyDnVec(y_vector), 0);
}

/// To every sparse format from both orders of dense ones, and back.
TEST_F(Cusparse, Conversions) {
  constexpr size_t kRows = 600, kColumns = 9;
  const auto dense = random_matrix<double>(kRows * kColumns, 0.3, 11);
  std::vector<double> by_columns(dense.size());
  for (size_t i = 0; i < dense.size(); ++i)
    by_columns[i % kColumns * kRows + i / kColumns] = dense[i];
  for (const int format : {kCsr, kCsc, kCoo})
    for (const int order : {kColumnMajor, kRowMajor}) {
      using Sparse = SparseOnDevice<double, int32_t>;
      const auto expected = Sparse::compress(format, dense, kRows, kColumns, 1);
      const size_t lines = format == kCsc ? kColumns : kRows, n = expected.values.size();
      const OnDevice from(order == kRowMajor ? dense : by_columns);
      const OnDevice<int32_t> first(format == kCoo ? n : lines + 1), second(n);
      const OnDevice<double> values(n);
      void *matrix = nullptr, *sparse = nullptr;
      ASSERT_EQ(cusparseCreateDnMat(&matrix, kRows, kColumns, order == kRowMajor ? kColumns : kRows,
                                    from.get(), 1, order),
                0);
      // An application knows before: no elements, and for CSR and CSC where offsets go.
      ASSERT_EQ(
          format == kCoo
              ? cusparseCreateCoo(&sparse, kRows, kColumns, 0, nullptr, nullptr, nullptr, 2, 1, 1)
              : (format == kCsr ? cusparseCreateCsr : cusparseCreateCsc)(
                    &sparse, kRows, kColumns, 0, first.get(), nullptr, nullptr, 2, 2, 1, 1),
          0);
      size_t bytes = 0;
      ASSERT_EQ(cusparseDenseToSparse_bufferSize(handle_, matrix, sparse, 0, &bytes), 0);
      const OnDevice<char> buffer(bytes);
      ASSERT_EQ(cusparseDenseToSparse_analysis(handle_, matrix, sparse, 0, buffer.get()), 0);
      int64_t rows = 0, columns = 0, elements = 0;
      ASSERT_EQ(cusparseSpMatGetSize(sparse, &rows, &columns, &elements), 0);
      ASSERT_EQ(elements, static_cast<int64_t>(n));
      ASSERT_EQ((format == kCoo ? cusparseCooSetPointers : cusparseCsrSetPointers)(
                    sparse, first.get(), second.get(), values.get()),
                0);
      ASSERT_EQ(cusparseDenseToSparse_convert(handle_, matrix, sparse, 0, buffer.get()), 0);
      EXPECT_EQ(first.values(), expected.first) << format;
      EXPECT_EQ(second.values(), expected.second) << format;
      EXPECT_EQ(values.values(), expected.values) << format;

      ASSERT_EQ(cudaMemcpy(from.get(), std::vector<double>(dense.size(), 5).data(),
                           dense.size() * sizeof(double), kToDevice),
                0);
      ASSERT_EQ(cusparseSparseToDense(handle_, sparse, matrix, 0, nullptr), 0);
      EXPECT_EQ(from.values(), order == kRowMajor ? dense : by_columns) << format;
      EXPECT_EQ(cusparseDestroySpMat(sparse), 0);
      EXPECT_EQ(cusparseDestroyDnMat(matrix), 0);
    }
}

TEST_F(Cusparse, WhatIsWrong) {
  const SparseOnDevice<float, int32_t> a(kCsr, {1, 0, 0, 3}, 2, 2, 0);
  const OnDevice<float> x(3);
  const float one = 1;
  void *vector = nullptr, *longer = nullptr, *matrix = nullptr, *other = nullptr;
  ASSERT_EQ(cusparseCreateDnVec(&vector, 2, x.get(), 0), 0);
  ASSERT_EQ(cusparseCreateDnVec(&longer, 3, x.get(), 0), 0);
  EXPECT_EQ(cusparseSpMV(handle_, 0, &one, a.get(), longer, &one, vector, 0, 0, nullptr),
            kInvalidValue);
  EXPECT_EQ(cusparseSpMV(handle_, 3, &one, a.get(), vector, &one, vector, 0, 0, nullptr),
            kInvalidValue);
  EXPECT_EQ(cusparseSpMV(handle_, 0, nullptr, a.get(), vector, &one, vector, 0, 0, nullptr),
            kInvalidValue);
  EXPECT_EQ(cusparseSpMV(nullptr, 0, &one, a.get(), vector, &one, vector, 0, 0, nullptr), 1);
  EXPECT_EQ(cusparseCreateDnMat(&matrix, 4, 4, 3, x.get(), 0, kColumnMajor), kInvalidValue);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cusparseCreateDnVec(&other, 2, x.get(), 6), kNotSupported);  // complex f16
  EXPECT_EQ(cusparseSpGEMM_compute(handle_), kNotSupported);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cusparseCreateDnVec()"), std::string::npos);
  EXPECT_NE(said.find("cusparseSpGEMM_compute()"), std::string::npos);
  EXPECT_STREQ(cusparseGetErrorName(kNotSupported), "CUSPARSE_STATUS_NOT_SUPPORTED");
  EXPECT_STREQ(cusparseGetErrorString(kNotSupported), "operation not supported");
  EXPECT_STREQ(cusparseGetErrorName(4), "CUSPARSE_STATUS_ARCH_MISMATCH");
  EXPECT_STREQ(cusparseGetErrorString(9), "zero pivot");
  EXPECT_STREQ(cusparseGetErrorString(11), "insufficient resources");
  for (const int none : {-1, 12}) {
    EXPECT_STREQ(cusparseGetErrorName(none), "unrecognized error code");
    EXPECT_STREQ(cusparseGetErrorString(none), "unrecognized error code");
  }
  EXPECT_EQ(cusparseDestroyDnVec(vector), 0);
  EXPECT_EQ(cusparseDestroyDnVec(longer), 0);
}

}  // namespace
}  // namespace nearwarp::cudalibs
