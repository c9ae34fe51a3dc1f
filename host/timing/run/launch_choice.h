// A user's choice of launches of a program: some of them, all of it in parts side by side, or a
// sample of its launches (docs/launches.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "host/recording/divide.h"
#include "host/recording/division.h"
#include "host/recording/recording.h"
#include "host/timing/run/replay_batch.h"

namespace nearwarp::sim {

struct LaunchChoice {
  bool given = false;            ///< else all of the program, in one go
  double sample = 0;             ///< the error that is wanted of a sample, relative; 0: no sample
  uint64_t seed = 0;             ///< of a sample: another one takes other launches
  bool parallel = false;         ///< all of the program, in parts
  uint64_t first = 1, last = 0;  ///< counted from 1 on, both included; not if parallel
  std::optional<uint32_t> before =
      {};              ///< launches simulated before each part; none: as machine and policy need
  bool warm = true;    ///< caches are filled from traces
  uint32_t parts = 0;  ///< if parallel: at most so many; 0: as suits the program and so many cores
  uint32_t cores = runtime::kUsualCores;
};

/// I..J[:K], parallel[:K[:PARTS]] or parallel[@CORES][:K]. Throws UsageError for anything else;
/// `option` is what users know the text by, for messages.
LaunchChoice parse_launches(const std::string& text, const std::string& option);
/// ERROR[:[K][:SEED]], in percent, as parse_launches().
LaunchChoice parse_sample(const std::string& text, const std::string& option);

/// Programs of size paper end in the middle, and so cannot be divided: throws UsageError.
[[noreturn]] void refuse_paper_size();

/// Needs of the systems that simulate a recording, for its division. `go_on`: as
/// learning_launches().
runtime::DivisionNeeds division_needs(std::span<const ReplayJob> jobs,
                                      const std::function<bool()>& go_on);

/// The division of a recording by the choice. Throws UsageError for launches that it does not have,
/// or that others run beside.
runtime::Division division_of(const LaunchChoice& choice, const runtime::Recording& recording,
                              const runtime::DivisionNeeds& needs);

/// All of the choice that determines results, for keys of programs; empty if none is given.
std::string key_of(const LaunchChoice& choice);

}  // namespace nearwarp::sim
