// Which units of each stratum are simulated.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/sample_strata.h"

namespace nearwarp::runtime {

class SampleChoice {
 public:
  /// Of a program with so many launches, the first `together` of which are one part.
  SampleChoice(const std::vector<Unit>& units, const std::vector<Stratum>& strata, size_t launches,
               uint32_t together);

  /// Of each stratum so many units: one of each n-th, in the order of sizes, and then of the
  /// program. Which one is as good as chance for the first stratum; of others it is one that is
  /// near to those that were chosen, so that launches that follow each other are simulated in one
  /// go. Units that lie between such, and so are simulated with as much before them, come besides
  /// where a stratum's launches repeat each other: others that are near to each other may be more
  /// alike than the rest is.
  std::vector<Members> of(const std::vector<uint64_t>& numbers) const;

 private:
  void add_between(std::vector<Members>& chosen) const;

  const std::vector<Unit>& units_;
  std::vector<Members> orders_;       ///< by stratum: units in the order of sizes
  std::vector<uint32_t> stratum_of_;  ///< by unit
  std::vector<bool> same_;            ///< by stratum: its launches repeat each other
  size_t launches_;
  uint32_t together_;
};

/// Is a unit simulated with those before it that end with launch `end`, in one go?
bool follows(const Unit& unit, uint32_t end, uint32_t together);

}  // namespace nearwarp::runtime
