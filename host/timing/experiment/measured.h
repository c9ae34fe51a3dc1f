// Measured values for a figure, from a file.
#pragma once

#include <string>
#include <vector>

#include "host/timing/experiment/definition.h"

namespace nearwarp::experiment {

/// Reads a CSV file with columns x and value, and perhaps series, part and source; others are left
/// alone. Throws nearwarp::Error.
std::vector<Published> read_measured(const std::string& path);

}  // namespace nearwarp::experiment
