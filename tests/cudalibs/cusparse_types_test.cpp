// Are cuSPARSE's products those of plain code in every type and format, and in batches? Numbers are
// small integers, so that results are exact in every type.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/support/on_device.h"

extern "C" {
int cusparseCreate(void**);
int cusparseDestroy(void*);
int cusparseCreateCsr(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseCreateCsc(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseCreateCoo(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int);
int cusparseCreateBsr(void**, int64_t, int64_t, int64_t, int64_t, int64_t, void*, void*, void*, int,
                      int, int, int, int);
int cusparseCreateSlicedEll(void**, int64_t, int64_t, int64_t, int64_t, int64_t, void*, void*,
                            void*, int, int, int, int);
int cusparseCreateBlockedEll(void**, int64_t, int64_t, int64_t, int64_t, void*, void*, int, int,
                             int);
int cusparseCsrSetStridedBatch(void*, int, int64_t, int64_t);
int cusparseCooSetStridedBatch(void*, int, int64_t);
int cusparseDestroySpMat(void*);
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
}

namespace nearwarp::cudalibs {
namespace {

using Number = std::complex<double>;
using Matrix = std::vector<Number>;  // row by row

constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kC32 = 4, kC64 = 5, kS32 = 10, kBf16 = 14;
constexpr int kCsr = 1, kCsc = 2, kCoo = 3, kBlockedEll = 5, kBsr = 6, kSlicedEll = 7;
constexpr int kColumnMajor = 1, kRowMajor = 2, kIndex32 = 2;
constexpr int kInvalidValue = 3, kNotSupported = 10;

bool is_complex(int type) { return type == kC32 || type == kC64; }

/// Of a whole number that the type has; other bits than those of its sign, exponent and digits are
/// 0.
uint16_t half_of(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double digits = std::frexp(std::abs(value), &exponent);  // 0.5 to 1
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                               static_cast<int>(digits * 2048 - 1024));
}
double of_half(uint16_t bits) {
  if ((bits & 0x7fff) == 0) return 0;
  const double value = std::ldexp((bits & 0x3ff) + 1024, (bits >> 10 & 31) - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <class T>
void append(std::vector<uint8_t>* to, T value) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  to->insert(to->end(), bytes, bytes + sizeof(T));
}
uint16_t high_half(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}
std::vector<uint8_t> encoded(const Matrix& values, int type) {
  std::vector<uint8_t> bytes;
  for (const Number& v : values) {
    const double x = v.real();
    const auto f = static_cast<float>(x);
    if (type == kF32) append(&bytes, f);
    if (type == kF64) append(&bytes, x);
    if (type == kF16) append(&bytes, half_of(x));
    if (type == kBf16) append(&bytes, high_half(f));
    if (type == kS8) append(&bytes, static_cast<int8_t>(x));
    if (type == kS32) append(&bytes, static_cast<int32_t>(x));
    if (type == kC32) append(&bytes, std::complex<float>(v));
    if (type == kC64) append(&bytes, v);
  }
  return bytes;
}
template <class T>
T part(const std::vector<uint8_t>& bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}
Number decoded(const std::vector<uint8_t>& bytes, size_t i, int type) {
  switch (type) {
    case kF64:
      return part<double>(bytes, i);
    case kF16:
      return of_half(part<uint16_t>(bytes, i));
    case kBf16: {
      const uint32_t bits = uint32_t{part<uint16_t>(bytes, i)} << 16;
      float value = 0;
      std::memcpy(&value, &bits, sizeof(value));
      return static_cast<double>(value);
    }
    case kS32:
      return part<int32_t>(bytes, i);
    case kC32:
      return Number(part<std::complex<float>>(bytes, i));
    case kC64:
      return part<Number>(bytes, i);
    default:
      return static_cast<double>(part<float>(bytes, i));
  }
}

Matrix random_numbers(size_t n, int type, double filled, uint32_t seed) {
  std::mt19937 random(seed);
  Matrix values(n);
  const auto digit = [&] { return static_cast<double>(random() % 5) - 2; };
  for (Number& v : values) {
    if (static_cast<double>(random() % 1000) >= filled * 1000) continue;
    v = digit();
    if (is_complex(type)) v.imag(digit());
  }
  return values;
}

constexpr size_t kRows = 12, kColumns = 18, kBlock = 3, kWidth = 2, kSlice = 5;

/// A matrix of kRows x kColumns on the device.
class Sparse {
 public:
  Sparse(const Matrix& dense, int format, int type) { add(dense, format, type); }
  ~Sparse() {
    EXPECT_EQ(cusparseDestroySpMat(matrix_), 0);
    for (void* array : arrays_) EXPECT_EQ(cudaFree(array), 0);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  void* get() const { return matrix_; }

 private:
  template <class T>
  void* upload(const std::vector<T>& values) {
    void* at = nullptr;
    EXPECT_EQ(cudaMalloc(&at, values.size() * sizeof(T) + 1), 0);
    EXPECT_EQ(cudaMemcpy(at, values.data(), values.size() * sizeof(T), kToDevice), 0);
    arrays_.push_back(at);
    return at;
  }
  void add(const Matrix& dense, int format, int type) {
    std::vector<int> first, second;
    Matrix values;
    const auto at = [&](size_t r, size_t c) { return dense[r * kColumns + c]; };
    const auto is_empty = [&](size_t r, size_t c, size_t height, size_t width) {
      for (size_t i = 0; i < height * width; ++i)
        if (at(r + i / width, c + i % width) != Number(0)) return false;
      return true;
    };
    const auto end = [&] { return static_cast<int>(second.size()); };
    if (format == kCsr || format == kCoo) {
      for (size_t r = 0; r < kRows; ++r) {
        if (format == kCsr) first.push_back(end());
        for (size_t c = 0; c < kColumns; ++c) {
          if (at(r, c) == Number(0)) continue;
          if (format == kCoo) first.push_back(static_cast<int>(r));
          second.push_back(static_cast<int>(c));
          values.push_back(at(r, c));
        }
      }
      if (format == kCsr) first.push_back(end());
    } else if (format == kCsc) {
      for (size_t c = 0; c < kColumns; ++c) {
        first.push_back(end());
        for (size_t r = 0; r < kRows; ++r) {
          if (at(r, c) == Number(0)) continue;
          second.push_back(static_cast<int>(r));
          values.push_back(at(r, c));
        }
      }
      first.push_back(end());
    } else if (format == kBsr) {  // elements of a block column by column
      for (size_t r = 0; r < kRows; r += kBlock) {
        first.push_back(end());
        for (size_t c = 0; c < kColumns; c += kWidth) {
          if (is_empty(r, c, kBlock, kWidth)) continue;
          second.push_back(static_cast<int>(c / kWidth));
          for (size_t i = 0; i < kBlock * kWidth; ++i)
            values.push_back(at(r + i % kBlock, c + i / kBlock));
        }
      }
      first.push_back(end());
    } else if (format == kSlicedEll) {
      for (size_t slice = 0; slice < kRows; slice += kSlice) {
        first.push_back(end());
        std::vector<std::vector<size_t>> of_row(kSlice);
        size_t length = 0;
        for (size_t i = 0; i < kSlice && slice + i < kRows; ++i) {
          for (size_t c = 0; c < kColumns; ++c)
            if (at(slice + i, c) != Number(0)) of_row[i].push_back(c);
          length = std::max(length, of_row[i].size());
        }
        for (size_t j = 0; j < length; ++j)
          for (size_t i = 0; i < kSlice; ++i) {
            const bool there = j < of_row[i].size();
            second.push_back(there ? static_cast<int>(of_row[i][j]) : -1);
            values.push_back(there ? at(slice + i, of_row[i][j]) : Number(1));  // padding: not read
          }
      }
      first.push_back(end());
    } else {  // blocks of kBlock x kBlock, up to four in a row
      constexpr size_t kMost = kColumns / kBlock;
      values.assign(kRows * kMost * kBlock, 1);
      for (size_t r = 0; r < kRows; r += kBlock) {
        size_t n = 0;
        for (size_t c = 0; c < kColumns; c += kBlock) {
          if (is_empty(r, c, kBlock, kBlock)) continue;
          second.push_back(static_cast<int>(c / kBlock));
          for (size_t i = 0; i < kBlock * kBlock; ++i)
            values[(r + i / kBlock) * kMost * kBlock + n * kBlock + i % kBlock] =
                at(r + i / kBlock, c + i % kBlock);
          ++n;
        }
        for (; n < kMost; ++n) second.push_back(-1);
      }
      ASSERT_EQ(cusparseCreateBlockedEll(&matrix_, kRows, kColumns, kBlock, kMost * kBlock,
                                         upload(second), upload(encoded(values, type)), kIndex32, 0,
                                         type),
                0);
      return;
    }
    void *const offsets = upload(first), *const indices = upload(second),
                *const elements = upload(encoded(values, type));
    const auto count = static_cast<int64_t>(values.size());
    int status = -1;
    if (format == kCsr)
      status = cusparseCreateCsr(&matrix_, kRows, kColumns, count, offsets, indices, elements,
                                 kIndex32, kIndex32, 0, type);
    if (format == kCsc)
      status = cusparseCreateCsc(&matrix_, kRows, kColumns, count, offsets, indices, elements,
                                 kIndex32, kIndex32, 0, type);
    if (format == kCoo)
      status = cusparseCreateCoo(&matrix_, kRows, kColumns, count, offsets, indices, elements,
                                 kIndex32, 0, type);
    if (format == kBsr)
      status = cusparseCreateBsr(&matrix_, kRows / kBlock, kColumns / kWidth,
                                 static_cast<int64_t>(second.size()), kBlock, kWidth, offsets,
                                 indices, elements, kIndex32, kIndex32, 0, type, kColumnMajor);
    if (format == kSlicedEll)
      status = cusparseCreateSlicedEll(&matrix_, kRows, kColumns, count, count, kSlice, offsets,
                                       indices, elements, kIndex32, kIndex32, 0, type);
    ASSERT_EQ(status, 0) << format;
  }

  std::vector<void*> arrays_;
  void* matrix_ = nullptr;
};

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
  EXPECT_NE(said.find("cusparseSpMV() with these types or options is not supported"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("cusparseSparseToDense()"), std::string::npos) << said;
  for (void* vector : {in, out, half_in, half_out}) EXPECT_EQ(cusparseDestroyDnVec(vector), 0);
  EXPECT_EQ(cusparseDestroyDnMat(dense), 0);
}

}  // namespace
}  // namespace nearwarp::cudalibs
