// Matrices of every type and format on the device, for tests of cuSPARSE.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/on_device.h"

extern "C" {
int cusparseCreateCsr(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseCreateCsc(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseCreateCoo(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int);
int cusparseCreateBsr(void**, int64_t, int64_t, int64_t, int64_t, int64_t, void*, void*, void*, int,
                      int, int, int, int);
int cusparseCreateSlicedEll(void**, int64_t, int64_t, int64_t, int64_t, int64_t, void*, void*,
                            void*, int, int, int, int);
int cusparseCreateBlockedEll(void**, int64_t, int64_t, int64_t, int64_t, void*, void*, int, int,
                             int);
int cusparseDestroySpMat(void*);
}

namespace nearwarp::cudalibs {

using Number = std::complex<double>;
using Matrix = std::vector<Number>;  // row by row

constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kC32 = 4, kC64 = 5, kS32 = 10, kBf16 = 14;
constexpr int kCsr = 1, kCsc = 2, kCoo = 3, kBlockedEll = 5, kBsr = 6, kSlicedEll = 7;
constexpr int kColumnMajor = 1, kRowMajor = 2, kIndex32 = 2;

inline bool is_complex(int type) { return type == kC32 || type == kC64; }

/// The half of a whole number that has one; other bits than those of its sign, exponent and digits
/// are 0.
inline uint16_t half_of(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double digits = std::frexp(std::abs(value), &exponent);  // 0.5 to 1
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                               static_cast<int>(digits * 2048 - 1024));
}
inline double of_half(uint16_t bits) {
  if ((bits & 0x7fff) == 0) return 0;
  const double value = std::ldexp((bits & 0x3ff) + 1024, (bits >> 10 & 31) - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <class T>
void append(std::vector<uint8_t>* to, T value) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  to->insert(to->end(), bytes, bytes + sizeof(T));
}
inline uint16_t high_half(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}
inline std::vector<uint8_t> encoded(const Matrix& values, int type) {
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
inline Number decoded(const std::vector<uint8_t>& bytes, size_t i, int type) {
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

inline Matrix random_numbers(size_t n, int type, double filled, uint32_t seed) {
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

}  // namespace nearwarp::cudalibs
