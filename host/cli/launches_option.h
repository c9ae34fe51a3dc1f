// --launches and --sample: a part of a program, all of it in parts side by side, or a sample of its
// launches (docs/launches.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/options.h"
#include "host/config/policy.h"
#include "host/recording/division.h"
#include "host/timing/sweep/run.h"

namespace nearwarp::cli {

struct LaunchesOption {
  bool given = false;
  double sample = 0;  ///< of --sample: the error that is wanted, relative; 0: no sample
  bool parallel = false;
  uint64_t first = 1, last = 0;         ///< counted from 1 on, both included; not if parallel
  std::optional<uint32_t> before = {};  ///< none: DivisionNeeds::before
  bool warm = true;                     ///< caches are filled from traces
  uint32_t parts = 0;                   ///< if parallel: at most so many; 0: as suits the program
};

void declare_launches(CommandLine& line);
/// Throws UsageError for what is neither I..J[:K] nor parallel[:K[:PARTS]] nor, of --sample,
/// ERROR[:K].
LaunchesOption launches_option(const CommandLine& line);
/// Throws UsageError if one of these options is given, or the runs are on a device.
void check_beside_launches(const CommandLine& line, const std::vector<std::string>& others,
                           bool on_device);
/// Throws UsageError if parts of a program cannot be simulated by themselves under the policy.
void check_policy_for_parts(const config::PolicyConfig& policy);
/// What is to be simulated of a recording. Throws UsageError for launches that it does not have, or
/// that others run beside.
runtime::Division division_of(const LaunchesOption& option, const runtime::Recording& recording,
                              const runtime::DivisionNeeds& needs);
/// The same for sweeps, with all that is wrong with the option beside others; null if it is not
/// given. `size`: of programs.
sweep::Divide divide_option(const CommandLine& line, const std::string& size, bool on_device);
/// All of the option that determines results, for keys of programs; empty if it is not given.
std::string key_of(const LaunchesOption& option);

}  // namespace nearwarp::cli
