// Strata of a sample: units of the same kernels that are alike in what their traces tell, and how
// many of each are to be simulated (Cochran, "Sampling techniques", 1977, chapter 5).
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/sample_units.h"

namespace nearwarp::runtime {

/// Units, by their index in SampleUnits::units.
using Members = std::vector<uint32_t>;

struct Stratum {
  Members members;
  double mean = 0;       ///< size
  double deviation = 0;  ///< of cycles, expected, in units of size
  double work = 0;       ///< mean
  bool same = false;     ///< launches repeat each other, or take turns among few that do
  bool divisible = true;

  double count() const { return static_cast<double>(members.size()); }
};

class Strata {
 public:
  /// `alike`: by launch, the first one that it repeats. `error`: of the sum of all cycles that a
  /// sample may have, relative, at 95 % confidence, what is known beforehand left out. `beginning`:
  /// launches, from the program's first one on, that are simulated in any case. `by_load`: some
  /// policy decides by how busy the machine is.
  Strata(const SampleUnits& found, const std::vector<uint32_t>& alike, double error,
         uint32_t beginning, bool by_load);

  const std::vector<Stratum>& all() const { return strata_; }
  /// How many of each stratum: of what would be cheapest and meet the error if each unit were
  /// simulated by itself this share, but at least two, where there are, and at most `most`.
  std::vector<uint64_t> numbers(double share, uint64_t most) const;
  /// Are so many of each expected to meet the error?
  bool meet(const std::vector<uint64_t>& numbers) const;

 private:
  struct Numbers;
  Stratum stratum_of(Members members) const;
  /// The spread that its features do not show.
  double unseen_spread(const Stratum& stratum) const;
  bool divide_one();
  void divide_by_kind();
  /// The first launches that a unit's repeat.
  std::vector<uint32_t> repeated_by(const Unit& unit) const;
  std::vector<uint64_t> numbers_at(double scale, uint64_t most) const;
  Numbers with(const std::vector<uint64_t>& sampled) const;
  bool meet(const Numbers& numbers) const;
  double scale() const;
  Numbers cheapest() const;

  const std::vector<Unit>& units_;
  const std::vector<uint32_t>& alike_;
  double error_;
  bool by_load_;
  double all_ = 0;    ///< units' sizes, summed
  double scale_ = 0;  ///< of Neyman's numbers that are cheapest
  std::vector<Stratum> strata_;
};

}  // namespace nearwarp::runtime
