// Which units of each stratum are simulated.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/sample_strata.h"

namespace nearwarp::runtime {

class SampleChoice {
 public:
  /// Of a program the first `together` launches of which are one part. `alike`: by launch, the
  /// first one that it repeats. Another `seed` makes another choice.
  SampleChoice(const std::vector<Unit>& units, const std::vector<Stratum>& strata,
               const std::vector<uint32_t>& alike, uint32_t together, uint64_t seed);

  /// Of each stratum so many units: of each n-th of it, in the program's order, one at random.
  /// Others do instead of it that repeat it, and what is simulated before it: of these one that is
  /// near to those of other strata is taken, so that launches that follow each other are simulated
  /// in one go. Any other that is near may be more like its neighbours than the rest of its stratum
  /// is, and what it says of the rest would be off by more than chance makes it. Units that lie
  /// between such, and so are simulated with as much before them, come besides where all of a
  /// stratum's repeat each other in this way.
  std::vector<Members> of(const std::vector<uint64_t>& numbers) const;

 private:
  void add_between(std::vector<Members>& chosen) const;

  const std::vector<Unit>& units_;
  std::vector<Members> orders_;       ///< by stratum: units in the program's order
  std::vector<uint32_t> stratum_of_;  ///< by unit
  /// By unit: of those that repeat each other, what is simulated before them too, the same number.
  std::vector<uint32_t> kind_;
  std::vector<bool> same_;  ///< by stratum: all are of one kind
  size_t launches_;
  uint32_t together_;
  uint64_t seed_;
};

/// Is a unit simulated with those before it that end with launch `end`, in one go?
bool follows(const Unit& unit, uint32_t end, uint32_t together);

}  // namespace nearwarp::runtime
