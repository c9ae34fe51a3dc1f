// Some launches of a program that stand for all: which ones, by what their traces tell
// (docs/launches.md).
//
// Units, which are launches or those that may run together, and of long launches thread blocks in a
// row (sample_units.h), of the same kernels are divided into strata whose units are alike in all
// features. Of each stratum some are simulated, as many as it takes for the error that is wanted of
// the sum of all cycles (Neyman's allocation, with finite populations and costs). What the units of
// a stratum that are not simulated would add is estimated from those that are; where a kernel has
// enough of these, with a line over their sizes, which are known of all (a regression estimator).
// Source: Cochran, "Sampling techniques", 1977, sections 5.5, 5A.7, 7.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

struct Division;

/// Units that are alike.
struct SampleStratum {
  std::string kernels;    ///< of a unit, joined by "+"
  uint32_t group = 0;     ///< strata of the same kernels, numbered
  bool has_line = false;  ///< its group's estimates follow a line over sizes
  uint64_t units = 0, sampled = 0;
  double spread = 0;  ///< expected: standard deviation of cycles over their mean
};

/// A unit that is simulated for itself, by piece of the division's parts.
struct SampleUnit {
  static constexpr uint32_t kItself = 0xffffffffu;
  uint32_t stratum = kItself;  ///< kItself: launches that stand for themselves alone
  double weight = 1;           ///< units that it stands for
  double size = 0;             ///< what it is expected to take, in warp-instructions
  /// For thread blocks between a launch's beginning and its end: warp-instructions that they have,
  /// whatever is committed while they are dispatched. 0: what is simulated is all that is reported.
  double instructions = 0;
  double share = 1;  ///< of its launches that it is
};

struct LaunchSample {
  double error = 0;       ///< that is wanted of the sum of all cycles, relative, at 95 %
  uint64_t units = 0;     ///< of the program
  uint64_t launches = 0;  ///< that are simulated for themselves, without those before
  double simulated = 0;   ///< warp-instructions of parts over those of the program
  uint64_t divided = 0;   ///< launches, of the program, that are sampled inside
  std::vector<SampleStratum> strata;  ///< but for those all of whose units are simulated
  std::vector<SampleUnit> parts;
};

/// Spread of cycles within a stratum that its features do not show, and how many units' cycles this
/// expectation weighs as much as (estimated; docs/launches.md has what was found).
inline constexpr double kUnseenSpread = 0.05, kSpreadOfTheSame = 0.02;
/// Spread of launches beside each other under a policy that decides by how busy the machine is: all
/// of a launch may be decided one way or the other (measured, see there).
inline constexpr double kSpreadBeside = 0.2;
inline constexpr double kExpectationWeighs = 2;
/// How far the sum of all cycles is off at 95 % confidence, relative, because each launch that is
/// simulated begins on a machine that others were only nearly simulated on (measured, see there).
inline constexpr double kStartError = 0.01;

/// A sample in words, for where it is tried: "a sample within 2 %".
std::string sample_within(double error);

/// A sample for this error (0.02: two percent; more than kStartError), each launch of which is
/// simulated after `before` others. Empty, so that all is simulated in one go, where a sample would
/// be more than half of that work. The first `together` launches are simulated, in one go, and
/// stand for themselves.
///
/// Which launches those are is left to chance where nothing speaks for one of them: another `seed`
/// takes others.
///
/// `resident`: by launch, the most thread blocks that any of the machines has at a time; long
/// launches are then sampled inside, where that is less work. Empty: none is. `apart`: some of the
/// machines have SMs in the parts of a memory, so that it counts how far data is away. `by_load`:
/// some policy decides by how busy the machine is, so that launches that do the same spread, too.
Division sample_launches(const Recording& recording, double error, uint32_t before,
                         uint32_t together = 0, const std::vector<uint64_t>& resident = {},
                         uint64_t seed = 0, bool apart = false, bool by_load = false);

}  // namespace nearwarp::runtime
