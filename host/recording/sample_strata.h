// Strata of a sample: sets of units of the same kernels with similar features, and the number of
// units of each stratum to be simulated. Source: Cochran, "Sampling techniques", 1977, chapter 5.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/sample_units.h"

namespace nearwarp::runtime {

/// Units, by their index in SampleUnits::units.
using Members = std::vector<uint32_t>;

struct Stratum {
  Members members;
  double mean = 0;        ///< mean size of its units
  double deviation = 0;   ///< expected standard deviation of their cycles, in units of size
  double work = 0;        ///< mean work of its units
  bool same = false;      ///< its launches repeat each other, or a few of them in turn
  bool divisible = true;  ///< some feature differs within it

  double count() const { return static_cast<double>(members.size()); }
};

class Strata {
 public:
  /// Divides units into strata. `alike` has for each launch the first one that it repeats. `error`
  /// is the relative error of the sum of all cycles that sampling may cause, at 95 % confidence.
  /// The program's first `beginning` launches are simulated in any case. `by_load` tells that
  /// some policy decides by how busy the machine is.
  Strata(const SampleUnits& found, const std::vector<uint32_t>& alike, double error,
         uint32_t beginning, bool by_load);

  const std::vector<Stratum>& all() const { return strata_; }
  /// Number of units to simulate by stratum: `share` of the numbers that meet the error most
  /// cheaply if each unit is simulated by itself, but at least two (if there are two) and at most
  /// `most`.
  std::vector<uint64_t> numbers(double share, uint64_t most) const;
  /// Are these numbers of units, by stratum, expected to meet the error?
  bool meet(const std::vector<uint64_t>& numbers) const;

 private:
  struct Numbers;
  Stratum stratum_of(Members members) const;
  /// The spread that its features do not show.
  double unseen_spread(const Stratum& stratum) const;
  bool divide_one();
  void divide_by_kind();
  /// For each launch of a unit, the first launch that it repeats.
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
  double all_ = 0;    ///< sum of all units' sizes
  double scale_ = 0;  ///< scale of the cheapest numbers, see numbers_at()
  std::vector<Stratum> strata_;
};

}  // namespace nearwarp::runtime
