// Terms shared by design and evaluation of a stratified sample, which fits a line over known size
// to what several strata have in common (a combined regression estimate; Cochran, Sampling
// Techniques, 3rd edition, 7.10).
#pragma once

#include <cmath>
#include <cstdint>

namespace nearwarp {

/// Factor by which the squared deviation of each of a stratum's sampled units counts, for the
/// line's slope as for the error. `sampled` is in [2, units].
inline double line_share(uint64_t units, uint64_t sampled) {
  const auto all = static_cast<double>(units), some = static_cast<double>(sampled);
  return all * all * (1 / some - 1 / all) / (some - 1);
}

/// How far a size is from its stratum's mean; nothing where all are the same, whatever the mean's
/// last digits are.
inline double size_from_mean(double size, double mean) {
  constexpr double kSame = 1e-9;
  return std::abs(size - mean) <= kSame * mean ? 0 : size - mean;
}

}  // namespace nearwarp
