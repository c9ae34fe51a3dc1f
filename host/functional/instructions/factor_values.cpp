// Values of the factors of products of matrices, as numbers.
#include "host/functional/instructions/factor_values.h"

#include <array>
#include <bit>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/small_floats.h"

namespace nearwarp::exec {

double factor_value(Factor format, uint32_t bits) {
  switch (format) {
    case Factor::kF16:
      return half_value(bits, false);
    case Factor::kBF16:
      return half_value(bits, true);
    case Factor::kTF32:  // the last bits count for nothing
      return static_cast<double>(std::bit_cast<float>(bits & 0xffffe000u));
    case Factor::kE5M2:
      return small_value(ptx::SmallFloat::kE5M2, bits);
    case Factor::kE2M3:
      return small_value(ptx::SmallFloat::kE2M3, bits);
    case Factor::kE3M2:
      return small_value(ptx::SmallFloat::kE3M2, bits);
    case Factor::kE2M1:  // in the middle of its byte
      return small_value(ptx::SmallFloat::kE2M1, bits >> 2);
    case Factor::kPackedE2M1:
      return small_value(ptx::SmallFloat::kE2M1, bits);
    case Factor::kU8:
    case Factor::kU4:
    case Factor::kB1:
      return bits;
    case Factor::kS8:
      return static_cast<int8_t>(bits);
    case Factor::kS4:
      return static_cast<int32_t>(bits << 28) >> 28;
    default:
      return small_value(ptx::SmallFloat::kE4M3, bits);
  }
}

/// Values of a format of at most 16 bits, looked up.
const std::vector<double>& factor_values(Factor format) {
  thread_local std::array<std::vector<double>, 16> tables;
  std::vector<double>& table = tables[static_cast<size_t>(format)];
  if (table.empty()) {
    table.resize(size_t{1} << ptx::bits_of(format));
    for (uint32_t i = 0; i < table.size(); ++i) table[i] = factor_value(format, i);
  }
  return table;
}

}  // namespace nearwarp::exec
