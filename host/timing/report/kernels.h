// Costs of a program's kernels, each summed over its launches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/timing/report/result.h"

namespace nearwarp::report {

struct KernelSummary {
  std::string kernel;
  uint64_t launches = 0;
  uint64_t distinct = 0;   ///< of them; the others repeat one of these: same paths, same addresses
  uint64_t simulated = 0;  ///< of them; all, unless repetitions were left out
  uint64_t cycles = 0;     ///< core cycles
  /// Cycles with the launches left out, each taken to be as the last one that was simulated.
  uint64_t estimated_cycles = 0;
  uint64_t warp_instructions = 0, thread_instructions = 0;
  /// Executions of its code that a mechanism may execute elsewhere; see KernelWork.
  uint64_t instances = 0, offloaded = 0;
  uint32_t registers = 0;  ///< per thread; the most that one of its launches counts
  std::string registers_source;
  std::string code;  ///< what its PTX was made for

  double ipc() const {
    return cycles == 0 ? 0 : static_cast<double>(thread_instructions) / static_cast<double>(cycles);
  }
};

inline constexpr size_t kMostKernels = 24;  ///< rows of a table

/// A kernel's name for a table: where space is short, without parameters, template arguments and
/// namespaces.
std::string short_name(const std::string& kernel);

/// In the order of first launches.
std::vector<KernelSummary> summarize_kernels(const RunResult& run);

/// A table per policy: the kernels that took most cycles first. Empty unless there are several
/// launches. Lines stay within 80 columns.
std::string format_kernels(std::span<const RunResult> runs, size_t width = 80);

}  // namespace nearwarp::report
