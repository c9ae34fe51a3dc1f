// Launches as Nsight Compute measured them on a device, beside those of a simulated run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/timing/compare/compare.h"

namespace nearwarp::compare {

/// A launch in the output of `ncu --csv`. A number is 0 if it was not measured.
struct MeasuredLaunch {
  std::string kernel, device;
  double cycles = 0, dram_bytes = 0;
};

/// Is the file one that `ncu --csv` writes, of page "details" or "raw" (whose first line has the
/// metrics' names)?
bool is_nsight(const std::string& path);
/// Read the launches of such a file. Throws nearwarp::Error, with file and line, for data that
/// cannot be used.
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
/// The mean of the errors' magnitudes.
double mean_error(const std::vector<LaunchPair>& pairs);
/// The correlation of measured and simulated cycles; 0 where it is not defined.
double correlation(const std::vector<LaunchPair>& pairs);

/// A text for a terminal: a line for each kernel, the error of all cycles together, and the bytes
/// of DRAM traffic where they were measured.
std::string format(const std::vector<LaunchPair>& pairs,
                   const std::vector<MeasuredLaunch>& measured, const Document& document);

}  // namespace nearwarp::compare
