// Chooses the units of each stratum that are simulated.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/sample_strata.h"

namespace nearwarp::runtime {

class SampleChoice {
 public:
  /// A choice for a program whose first `together` launches are one part. `alike`: by launch, the
  /// first one that it repeats. Another `seed` makes another choice.
  SampleChoice(const std::vector<Unit>& units, const std::vector<Stratum>& strata,
               const std::vector<uint32_t>& alike, uint32_t together, uint64_t seed);

  /// Chooses so many units of each stratum at random, spread over the program's order. In place of
  /// a stratum's n-th another is taken that repeats it and what is simulated before it: the one
  /// that is near to units of other strata, so that launches that follow each other are
  /// simulated in one go. Any other near one may be more like its neighbours than the rest of
  /// its stratum is, and what it says of the rest would be off by more than chance makes it. Units
  /// that lie between such, and so are simulated with as much before them, are added where all
  /// of a stratum's repeat each other in this way.
  std::vector<Members> of(const std::vector<uint64_t>& numbers) const;

 private:
  /// Where in a stratum's order its n units are: each one with the same probability, which segments
  /// of the order that differ by one unit would not give, and nearly one of each n-th. Ordered
  /// pivotal sampling (Deville and Tillé, Biometrika, 1998, section 5; Chauvet, Bernoulli, 2012):
  /// units add up their probabilities in turn, here in n-ths of `count`; while they are less than
  /// one, one of two is out, and when they reach it one of two is drawn, and the other has the
  /// rest.
  std::vector<uint32_t> drawn(uint32_t stratum, uint64_t n) const;
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
