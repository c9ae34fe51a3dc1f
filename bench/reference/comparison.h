// The reference programs on a machine, beside GPGPU-Sim's figures, as text.
#pragma once

#include <string>
#include <vector>

#include "bench/reference/counts.h"

namespace nearwarp::reference {

/// A run on both simulators.
struct Row {
  std::string name;  ///< the run's, with the configuration's variant behind it
  Figures figures;
  Counts ours, theirs;
};

/// `a` over `b`; empty where b is 0.
std::string ratio_text(double a, double b);

/// A line for each run, and how far the cycles are off all together. `rows` is not empty.
std::string runs_text(const std::vector<Row>& rows);
/// The slopes of kSlopes whose runs are there; empty if there are none.
std::string slopes_text(const std::vector<Row>& rows);
/// A line for each run, ratios too, separated by commas.
std::string runs_csv(const std::vector<Row>& rows);

}  // namespace nearwarp::reference
