// Are cuSPARSE's products those of plain code in every type and format, and in batches? Numbers are
// small integers, so that results are exact in every type.
#include <string>

#include "tests/cudalibs/cusparse_matrix.h"

extern "C" {
int cusparseCreate(void**);
int cusparseDestroy(void*);
int cusparseCsrSetStridedBatch(void*, int, int64_t, int64_t);
int cusparseCooSetStridedBatch(void*, int, int64_t);
int cusparseCreateDnVec(void**, int64_t, void*, int);
int cusparseDestroyDnVec(void*);
int cusparseCreateDnMat(void**, int64_t, int64_t, int64_t, void*, int, int);
int cusparseDnMatSetStridedBatch(void*, int, int64_t);
int cusparseDestroyDnMat(void*);
int cusparseSpMV_bufferSize(void*, int, const void*, void*, void*, const void*, void*, int, int,
                            size_t*);
int cusparseSpMV(void*, int, const void*, void*, void*, const void*, void*, int, int, void*);
int cusparseSpMM_bufferSize(void*, int, int, const void*, void*, void*, const void*, void*, int,
                            int, size_t*);
int cusparseSpMM(void*, int, int, const void*, void*, void*, const void*, void*, int, int, void*);
int cusparseSparseToDense(void*, void*, void*, int, void*);
int cusparseXcoo2csr(void*, const int*, int, int, int*, int);
int cusparseXcsr2coo(void*, const int*, int, int, int*, int);
int cusparseCreateMatDescr(void**);
int cusparseSetMatType(void*, int);
int cusparseGetMatType(void*);
int cusparseDestroyMatDescr(void*);
int cusparseSpMV_preprocess(void*, int, const void*, void*, void*, const void*, void*, int, int,
                            void*);
int cusparseSpMatSetAttribute(void*, int, void*, size_t);
int cusparseSpMatGetAttribute(void*, int, void*, size_t);
}

namespace nearwarp::cudalibs {
namespace {

constexpr int kInvalidValue = 3, kNotSupported = 10;

struct Types {
  int in, out, compute;
};
constexpr Types kAllTypes[] = {
    {kF32, kF32, kF32},   {kF64, kF64, kF64},  {kC32, kC32, kC32}, {kC64, kC64, kC64},
    {kF16, kF16, kF32},   {kF16, kF32, kF32},  {kS8, kS32, kS32},  {kS8, kF32, kF32},
    {kBf16, kBf16, kF32}, {kBf16, kF32, kF32},
};

Number operated(const Matrix& m, size_t columns, int op, size_t r, size_t c) {
  if (op == 0) return m[r * columns + c];
  const Number v = m[c * columns + r];
  return op == 2 ? std::conj(v) : v;
}

class CusparseTypes : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cusparseCreate(&handle_), 0); }
  void TearDown() override { EXPECT_EQ(cusparseDestroy(handle_), 0); }

  /// C = alpha op(A) op(B) + beta C of `width` columns; of one by SpMV, too.
  void product(int format, const Types& types, int op_a, int op_b, size_t width) {
    const Matrix a = random_numbers(kRows * kColumns, types.in, 0.3, 1);
    const size_t m = op_a == 0 ? kRows : kColumns, k = op_a == 0 ? kColumns : kRows;
    const Matrix b = random_numbers(k * width, types.in, 1, 2),
                 c = random_numbers(m * width, types.out, 1, 3);
    const bool is_complex_sum = is_complex(types.compute);
    const Number alpha(2, is_complex_sum ? 1 : 0), beta(-1, is_complex_sum ? 2 : 0);
    const Sparse sparse(a, format, types.in);
    const OnDevice<uint8_t> in(encoded(b, types.in)), out(encoded(c, types.out));
    const auto alpha_bytes = encoded({alpha}, types.compute),
               beta_bytes = encoded({beta}, types.compute);
    const auto i64 = [](size_t n) { return static_cast<int64_t>(n); };
    size_t bytes = 0;
    // B lies row by row, C column by column.
    const size_t b_columns = op_b == 0 ? width : k;
    if (width == 1 && op_b == 0) {
      void *x = nullptr, *y = nullptr;
      ASSERT_EQ(cusparseCreateDnVec(&x, i64(k), in.get(), types.in), 0);
      ASSERT_EQ(cusparseCreateDnVec(&y, i64(m), out.get(), types.out), 0);
      ASSERT_EQ(cusparseSpMV_bufferSize(handle_, op_a, alpha_bytes.data(), sparse.get(), x,
                                        beta_bytes.data(), y, types.compute, 0, &bytes),
                0);
      const OnDevice<uint8_t> buffer(bytes);
      ASSERT_EQ(cusparseSpMV(handle_, op_a, alpha_bytes.data(), sparse.get(), x, beta_bytes.data(),
                             y, types.compute, 0, buffer.get()),
                0);
      EXPECT_EQ(cusparseDestroyDnVec(x), 0);
      EXPECT_EQ(cusparseDestroyDnVec(y), 0);
    } else {
      void *x = nullptr, *y = nullptr;
      ASSERT_EQ(cusparseCreateDnMat(&x, i64(op_b == 0 ? k : width), i64(b_columns), i64(b_columns),
                                    in.get(), types.in, kRowMajor),
                0);
      ASSERT_EQ(
          cusparseCreateDnMat(&y, i64(m), i64(width), i64(m), out.get(), types.out, kColumnMajor),
          0);
      ASSERT_EQ(cusparseSpMM_bufferSize(handle_, op_a, op_b, alpha_bytes.data(), sparse.get(), x,
                                        beta_bytes.data(), y, types.compute, 0, &bytes),
                0);
      const OnDevice<uint8_t> buffer(bytes);
      ASSERT_EQ(cusparseSpMM(handle_, op_a, op_b, alpha_bytes.data(), sparse.get(), x,
                             beta_bytes.data(), y, types.compute, 0, buffer.get()),
                0);
      EXPECT_EQ(cusparseDestroyDnMat(x), 0);
      EXPECT_EQ(cusparseDestroyDnMat(y), 0);
    }
    const auto result = out.values();
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < width; ++j) {
        Number sum = 0;
        for (size_t l = 0; l < k; ++l)
          sum += operated(a, kColumns, op_a, i, l) * operated(b, b_columns, op_b, l, j);
        const size_t at = j * m + i;
        ASSERT_EQ(decoded(result, at, types.out), alpha * sum + beta * c[at])
            << "format " << format << " types " << types.in << " " << types.out << " operations "
            << op_a << " " << op_b << " at " << i << " " << j;
      }
  }

  void* handle_ = nullptr;
};

TEST_F(CusparseTypes, ProductsInEveryTypeFormatAndOperation) {
  for (const Types& types : kAllTypes)
    for (const int format : {kCsr, kCsc, kCoo, kBsr, kSlicedEll, kBlockedEll})
      for (const int op_a : {0, 1, 2}) {
        if (op_a != 0 && format > kCoo) continue;
        for (const int op_b : {0, 1, 2})
          for (const size_t width : {1, 5}) product(format, types, op_a, op_b, width);
      }
}

TEST_F(CusparseTypes, BatchesOfSparseAndOfDenseMatrices) {
  // Two diagonal matrices of 3 x 3 times two vectors each; and one of them times both.
  const OnDevice<int> offsets(std::vector{0, 1, 2, 3, 0, 1, 2, 3}), rows(std::vector{0, 1, 2}),
      columns(std::vector{0, 1, 2, 0, 1, 2});
  const OnDevice<float> values(std::vector<float>{1, 2, 3, 10, 20, 30}),
      b(std::vector<float>{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}), c(12);
  const float one = 1, zero = 0;
  void *csr = nullptr, *coo = nullptr, *dense_b = nullptr, *dense_c = nullptr;
  ASSERT_EQ(cusparseCreateCsr(&csr, 3, 3, 3, offsets.get(), columns.get(), values.get(), kIndex32,
                              kIndex32, 0, kF32),
            0);
  ASSERT_EQ(
      cusparseCreateCoo(&coo, 3, 3, 3, rows.get(), columns.get(), values.get(), kIndex32, 0, kF32),
      0);
  ASSERT_EQ(cusparseCreateDnMat(&dense_b, 3, 2, 3, b.get(), kF32, kColumnMajor), 0);
  ASSERT_EQ(cusparseCreateDnMat(&dense_c, 3, 2, 3, c.get(), kF32, kColumnMajor), 0);
  ASSERT_EQ(cusparseDnMatSetStridedBatch(dense_b, 2, 6), 0);
  ASSERT_EQ(cusparseDnMatSetStridedBatch(dense_c, 2, 6), 0);
  const auto multiply = [&](void* a) {
    return cusparseSpMM(handle_, 0, 0, &one, a, dense_b, &zero, dense_c, kF32, 0, nullptr);
  };
  ASSERT_EQ(cusparseCsrSetStridedBatch(csr, 2, 4, 3), 0);
  ASSERT_EQ(multiply(csr), 0);
  EXPECT_EQ(c.values(), (std::vector<float>{1, 2, 3, 2, 4, 6, 30, 60, 90, 40, 80, 120}));
  ASSERT_EQ(multiply(coo), 0);
  EXPECT_EQ(c.values(), (std::vector<float>{1, 2, 3, 2, 4, 6, 3, 6, 9, 4, 8, 12}));
  ASSERT_EQ(cusparseCsrSetStridedBatch(csr, 3, 4, 3), 0);
  EXPECT_EQ(multiply(csr), kInvalidValue);  // three times two
  EXPECT_EQ(cusparseDestroySpMat(csr), 0);
  EXPECT_EQ(cusparseDestroySpMat(coo), 0);
  EXPECT_EQ(cusparseDestroyDnMat(dense_b), 0);
  EXPECT_EQ(cusparseDestroyDnMat(dense_c), 0);
}

TEST_F(CusparseTypes, RowsOfElementsToWhereRowsBeginAndBack) {
  for (const int base : {0, 1}) {
    std::vector<int> rows = {1, 1, 1, 4, 5, 5}, offsets = {0, 0, 3, 3, 3, 4, 6, 6};
    for (int& r : rows) r += base;
    for (int& o : offsets) o += base;
    const OnDevice<int> of_elements(rows), found(8), again(6);
    ASSERT_EQ(cusparseXcoo2csr(handle_, of_elements.get(), 6, 7, found.get(), base), 0);
    EXPECT_EQ(found.values(), offsets);
    ASSERT_EQ(cusparseXcsr2coo(handle_, found.get(), 6, 7, again.get(), base), 0);
    EXPECT_EQ(again.values(), rows);
  }
}

TEST_F(CusparseTypes, DescriptionsAreKept) {
  void* description = nullptr;
  ASSERT_EQ(cusparseCreateMatDescr(&description), 0);
  EXPECT_EQ(cusparseGetMatType(description), 0);
  EXPECT_EQ(cusparseSetMatType(description, 3), 0);
  EXPECT_EQ(cusparseSetMatType(description, 4), kInvalidValue);
  EXPECT_EQ(cusparseGetMatType(description), 3);
  EXPECT_EQ(cusparseDestroyMatDescr(description), 0);
}

/// A product of a batch of matrices with a vector is refused alike by all calls that belong to it.
TEST_F(CusparseTypes, BatchesTimesAVectorAreNotSupported) {
  const Sparse a(random_numbers(kRows * kColumns, kF32, 0.3, 1), kCsr, kF32);
  ASSERT_EQ(cusparseCsrSetStridedBatch(a.get(), 2, 0, 0), 0);
  const OnDevice<float> in(kColumns), out(kRows);
  const float one = 1;
  size_t bytes = 0;
  void *x = nullptr, *y = nullptr;
  ASSERT_EQ(cusparseCreateDnVec(&x, kColumns, in.get(), kF32), 0);
  ASSERT_EQ(cusparseCreateDnVec(&y, kRows, out.get(), kF32), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cusparseSpMV_bufferSize(handle_, 0, &one, a.get(), x, &one, y, kF32, 0, &bytes),
            kNotSupported);
  EXPECT_EQ(cusparseSpMV_preprocess(handle_, 0, &one, a.get(), x, &one, y, kF32, 0, nullptr),
            kNotSupported);
  EXPECT_EQ(cusparseSpMV(handle_, 0, &one, a.get(), x, &one, y, kF32, 0, nullptr), kNotSupported);
  const std::string said = testing::internal::GetCapturedStderr();  // once in a process
  EXPECT_NE(said.find("cusparseSpMV() with these types or options is not supported"),
            std::string::npos)
      << said;
  EXPECT_EQ(cusparseDestroyDnVec(x), 0);
  EXPECT_EQ(cusparseDestroyDnVec(y), 0);
}

TEST_F(CusparseTypes, AttributesAreKeptAndOthersRefused) {
  const Sparse a(random_numbers(kRows * kColumns, kF32, 0.3, 1), kCsr, kF32);
  for (const int attribute : {0, 1}) {
    int upper = 1, wrong = 7, kept = -1;
    EXPECT_EQ(cusparseSpMatSetAttribute(a.get(), attribute, &upper, sizeof(upper)), 0);
    EXPECT_EQ(cusparseSpMatSetAttribute(a.get(), attribute, &wrong, sizeof(wrong)), kInvalidValue);
    EXPECT_EQ(cusparseSpMatGetAttribute(a.get(), attribute, &kept, sizeof(kept)), 0);
    EXPECT_EQ(kept, 1);
  }
}

TEST_F(CusparseTypes, WhatIsRefused) {
  const Matrix a = random_numbers(kRows * kColumns, kF32, 0.3, 1);
  const Sparse blocks(a, kBsr, kF32), halves(a, kCsr, kF16);
  const OnDevice<uint8_t> x(size_t{8} * kColumns), y(size_t{8} * kColumns);
  const float one = 1;
  void *in = nullptr, *out = nullptr, *half_in = nullptr, *half_out = nullptr, *dense = nullptr;
  ASSERT_EQ(cusparseCreateDnVec(&in, kRows, x.get(), kF32), 0);
  ASSERT_EQ(cusparseCreateDnVec(&out, kColumns, y.get(), kF32), 0);
  ASSERT_EQ(cusparseCreateDnVec(&half_in, kRows, x.get(), kF16), 0);
  ASSERT_EQ(cusparseCreateDnVec(&half_out, kColumns, y.get(), kF16), 0);
  ASSERT_EQ(cusparseCreateDnMat(&dense, kRows, kColumns, kColumns, y.get(), kF32, kRowMajor), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(
      cusparseSpMV(handle_, 1, &one, blocks.get(), in, &one, out, kF32, 0, nullptr),  // transposed
      kNotSupported);
  EXPECT_EQ(cusparseSparseToDense(handle_, blocks.get(), dense, 0, nullptr), kNotSupported);
  void* other = nullptr;
  EXPECT_EQ(cusparseCreateDnVec(&other, 2, x.get(), 6), kNotSupported);  // complex f16
  EXPECT_EQ(cusparseSpMV(handle_, 1, &one, halves.get(), half_in, &one, half_out, kF32, 0,
                         nullptr),  // without the buffer
            kInvalidValue);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cusparseSparseToDense()"), std::string::npos) << said;
  for (void* vector : {in, out, half_in, half_out}) EXPECT_EQ(cusparseDestroyDnVec(vector), 0);
  EXPECT_EQ(cusparseDestroyDnMat(dense), 0);
}

}  // namespace
}  // namespace nearwarp::cudalibs
