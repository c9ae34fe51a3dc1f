// Samples of a program: launches that are simulated and stand for all, chosen by features from
// their traces (docs/launches.md).
//
// Units of the same kernels (sample_units.h) are divided into strata with similar features. So many
// units of each stratum are simulated that the sum of all cycles is expected to have the wanted
// error (Neyman's allocation, with finite populations and costs). The cycles of the other units are
// estimated from these; for kernels with enough simulated units by a line over the units' sizes,
// which are known for all (a regression estimator). Source: Cochran, "Sampling techniques", 1977,
// sections 5.5, 5A.7, 7.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

struct Division;

/// Units with similar features.
struct SampleStratum {
  std::string kernels;    ///< names of a unit's kernels, joined by "+"
  uint32_t group = 0;     ///< number of the group of strata with the same kernels
  bool has_line = false;  ///< its group's estimates follow a line over sizes
  uint64_t units = 0, sampled = 0;
  double spread = 0;  ///< expected standard deviation of cycles over their mean
};

/// A unit that is simulated and reported, a piece of the division's parts.
struct SampleUnit {
  static constexpr uint32_t kItself = 0xffffffffu;
  uint32_t stratum = kItself;  ///< kItself: it stands for no other unit
  double weight = 1;           ///< number of units that it stands for
  double size = 0;             ///< its expected cost, in warp-instructions
  /// For thread blocks inside a launch, their number of warp-instructions, which is not the number
  /// committed while they are dispatched. 0: the committed instructions are reported.
  double instructions = 0;
  double share = 1;  ///< its share of its launches
};

struct LaunchSample {
  double error = 0;       ///< wanted relative error of the sum of all cycles, at 95 % confidence
  uint64_t units = 0;     ///< number of the program's units
  uint64_t launches = 0;  ///< launches that are simulated as a whole, without lead-ins
  double simulated = 0;   ///< warp-instructions of parts over those of the program
  /// A policy decides by how busy the machine is, so that launches may rarely take other times.
  /// Agreement of those that are simulated is then no evidence for less spread than was expected.
  bool by_load = false;
  uint64_t divided = 0;               ///< number of the program's launches that are sampled inside
  std::vector<SampleStratum> strata;  ///< without strata whose units are all simulated
  std::vector<SampleUnit> parts;
};

/// The expected relative spread of cycles within a stratum that its features do not show, also for
/// launches that repeat each other; and the number of units whose measured cycles have the same
/// weight as this expectation (estimated; docs/launches-measured.md has measurements).
inline constexpr double kUnseenSpread = 0.05, kSpreadOfTheSame = 0.02;
/// Spread of launches beside each other under a policy that decides by how busy the machine is: all
/// of a launch may be decided one way or the other (measured, see there).
inline constexpr double kSpreadBeside = 0.2;
inline constexpr double kExpectationWeighs = 2;
/// Relative error of the sum of all cycles at 95 % confidence that comes from the lead-ins, after
/// which the machine's state is only nearly that of a whole simulation (measured,
/// docs/launches-measured.md).
inline constexpr double kStartError = 0.01;

/// A sample in words, for InOneGo::tried: "a sample within 2 %".
std::string sample_within(double error);

/// A sample for a relative error (0.02: two percent), which must be above kStartError. Each unit is
/// simulated after a lead-in of `before` launches. The division is empty, so that all is simulated
/// in one go, if the sample would be more than half of that work. The first `together` launches are
/// simulated in one part and stand for themselves.
///
/// Units of a stratum are chosen at random where no rule prefers one; `seed` selects the random
/// choice.
///
/// `resident` has by launch the most thread blocks that any of the machines holds; long launches
/// are then sampled inside if that is less work. Empty: none is. `apart` tells that a machine has
/// its SMs in the parts of memory, so that distances of data are a feature. `by_load`
/// tells that a policy decides by how busy the machine is, so that launches that repeat each other
/// spread, too.
Division sample_launches(const Recording& recording, double error, uint32_t before,
                         uint32_t together = 0, const std::vector<uint64_t>& resident = {},
                         uint64_t seed = 0, bool apart = false, bool by_load = false);

}  // namespace nearwarp::runtime
