// Terms of a combined regression estimate, which fits one line over known sizes to several strata.
// The design and the evaluation of samples share them. Source: Cochran, "Sampling techniques", 3rd
// edition, 1977, section 7.10.
#pragma once

#include <cmath>
#include <cstdint>

namespace nearwarp {

/// The weight of the squared deviation of each sampled unit of a stratum, both in the line's slope
/// and in the error. `sampled` is in [2, units].
inline double line_share(uint64_t units, uint64_t sampled) {
  const auto all = static_cast<double>(units), some = static_cast<double>(sampled);
  return all * all * (1 / some - 1 / all) / (some - 1);
}

/// The difference between a size and its stratum's mean; 0 if they differ only by rounding.
inline double size_from_mean(double size, double mean) {
  constexpr double kSame = 1e-9;
  return std::abs(size - mean) <= kSame * mean ? 0 : size - mean;
}

}  // namespace nearwarp
