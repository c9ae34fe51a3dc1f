// Texts that compare runs of the reference programs on a machine with GPGPU-Sim's figures.
#pragma once

#include <string>
#include <vector>

#include "bench/reference/counts.h"

namespace nearwarp::reference {

/// A run on both simulators.
struct Row {
  std::string name;  ///< name of the run, followed by the configuration's variant
  Figures figures;
  Counts ours, theirs;
};

/// `a` over `b`; empty where b is 0.
std::string ratio_text(double a, double b);

/// A line for each run, and the deviation of the cycles over all runs. `rows` must not be empty.
std::string runs_text(const std::vector<Row>& rows);
/// The slopes of kSlopes both of whose runs are among the rows; empty if there are none.
std::string slopes_text(const std::vector<Row>& rows);
/// A line for each run, with ratios, as CSV.
std::string runs_csv(const std::vector<Row>& rows);

}  // namespace nearwarp::reference
