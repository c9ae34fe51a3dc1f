// Values of the factors of products of matrices, as numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "host/functional/ptx/details.h"

namespace nearwarp::exec {

using ptx::Factor;

/// Exactly.
double factor_value(Factor format, uint32_t bits);
/// The values of all numbers of a format of at most 16 bits.
const std::vector<double>& factor_values(Factor format);

/// f(value) for the numbers that some words hold, from the low bits on.
template <class F>
void each_number(Factor format, const uint32_t* words, uint32_t count, F&& f) {
  if (format == Factor::kTF32) {
    for (uint32_t w = 0; w < count; ++w) f(factor_value(format, words[w]));
    return;
  }
  const std::vector<double>& values = factor_values(format);
  const uint32_t bits = ptx::bits_of(format), keep = (1u << bits) - 1;
  for (uint32_t w = 0; w < count; ++w)
    for (uint32_t shift = 0; shift < 32; shift += bits) f(values[words[w] >> shift & keep]);
}

}  // namespace nearwarp::exec
