// The quantities of a run that are compared, from nearwarp's counters and from GPGPU-Sim's.
#pragma once

#include <array>
#include <vector>

#include "bench/reference/configurations.h"
#include "bench/reference/figures.h"
#include "host/timing/report/result.h"

namespace nearwarp::reference {

/// A sector has 32 bytes.
struct Counts {
  double cycles = 0;
  double l1_misses = 0;    ///< lines or sectors, as the configuration counts; writes too
  double l2_misses = 0;    ///< sectors; writes too
  double dram_reads = 0;   ///< sectors
  double dram_writes = 0;  ///< sectors
  double dram_activations = 0;
};

/// Name and place of a quantity, cycles first.
struct Quantity {
  const char* name;
  double Counts::*value;
};
inline constexpr std::array<Quantity, 6> kQuantities = {
    {{"cycles", &Counts::cycles},
     {"L1 misses", &Counts::l1_misses},
     {"L2 misses", &Counts::l2_misses},
     {"DRAM reads", &Counts::dram_reads},
     {"DRAM writes", &Counts::dram_writes},
     {"activations", &Counts::dram_activations}}};

/// The quantities of a run of nearwarp's. Throws nearwarp::Error if the machine lacks a counter.
Counts ours(const report::RunResult& result, const Configuration& configuration);
/// The quantities of a run of GPGPU-Sim's.
Counts theirs(const Figures& figures, const Configuration& configuration);

/// The deviation of ratios from 1.
struct Deviation {
  double geometric_mean = 1;  ///< geometric mean of the ratios
  double mean_factor = 1;     ///< exp(mean |ln ratio|)
  size_t largest = 0;         ///< index of the ratio that is farthest from 1
  double correlation = 0;     ///< correlation of the logarithms; 0 for fewer than two runs
};

/// The deviation of ours[i] / theirs[i]; neither is empty, all are above 0.
Deviation deviation(const std::vector<double>& ours, const std::vector<double>& theirs);

}  // namespace nearwarp::reference
