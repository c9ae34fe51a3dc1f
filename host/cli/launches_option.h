// --launches: a part of a program, or all of it in parts side by side (docs/launches.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/options.h"
#include "host/config/policy.h"
#include "host/recording/launch_cuts.h"

namespace nearwarp::cli {

/// Launches simulated before each part unless the command line says otherwise: one leaves up to
/// four times the error (docs/launches.md).
inline constexpr uint32_t kLaunchesBefore = 2;

struct LaunchesOption {
  bool given = false;
  bool parallel = false;
  uint64_t first = 1, last = 0;  ///< counted from 1 on, both included; not if parallel
  uint32_t before = kLaunchesBefore;
  bool warm = true;    ///< caches are filled from traces
  uint32_t parts = 0;  ///< if parallel: at most so many; 0: as suits the program
};

void declare_launches(CommandLine& line);
/// Throws UsageError for what is neither I..J[:K] nor parallel[:K[:PARTS]].
LaunchesOption launches_option(const CommandLine& line);
/// Throws UsageError if parts of a program cannot be simulated by themselves under the policy.
void check_policy_for_parts(const config::PolicyConfig& policy);
/// What is to be simulated of a recording, in order; empty: all of it at once. Throws UsageError
/// for launches that it does not have, or that others run beside.
std::vector<runtime::LaunchPart> parts_of(const LaunchesOption& option,
                                          const runtime::Recording& recording);

}  // namespace nearwarp::cli
