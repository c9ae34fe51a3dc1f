// Launches as Nsight Compute measured them on a device, beside those of a simulated run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/timing/compare/compare.h"

namespace nearwarp::compare {

/// A launch in `ncu --csv`; 0: not measured.
struct MeasuredLaunch {
  std::string kernel, device;
  double cycles = 0, dram_bytes = 0;
};

/// True for what `ncu --csv` writes: pages "details" and "raw" (with names of metrics in the head).
bool is_nsight(const std::string& path);
/// Throws nearwarp::Error, with file and line, for what cannot be used.
std::vector<MeasuredLaunch> read_nsight(const std::string& path);

struct LaunchPair {
  std::string kernel;
  double measured = 0, simulated = 0;  ///< core cycles
  double error() const { return simulated / measured - 1; }
};
/// Launches of the document's only run beside those that were measured, in their order. Throws
/// nearwarp::Error if they are not the same kernels.
std::vector<LaunchPair> launch_pairs(const std::vector<MeasuredLaunch>& measured,
                                     const Document& document);
/// Mean of errors' magnitudes, and the correlation of cycles (0 where there is none).
double mean_error(const std::vector<LaunchPair>& pairs);
double correlation(const std::vector<LaunchPair>& pairs);

/// For a terminal: a line for each kernel, how far cycles are off together, and bytes of memory
/// where they were measured.
std::string format(const std::vector<LaunchPair>& pairs,
                   const std::vector<MeasuredLaunch>& measured, const Document& document);

}  // namespace nearwarp::compare
