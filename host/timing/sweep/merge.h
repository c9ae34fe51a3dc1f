// Joins the files of a sweep's parts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nearwarp::sweep {

struct MergeOutcome {
  size_t points = 0;              ///< in the merged file
  size_t duplicates = 0;          ///< lines left out because their point was there already
  size_t failed = 0;              ///< points of the merged file that failed
  std::vector<std::string> torn;  ///< inputs whose last line is cut off; it is left out
};

struct MergeRules {
  /// Ids of the sweeps that come first, in this order.
  std::vector<std::string> order;
  /// The later of two failures of a point stays, instead of an error if they differ.
  bool failures_may_differ = false;
};

/// Write the lines of all `inputs` to `output`, each point once, in the order of the sweep; several
/// sweeps come one after the other, in the order in which they first appear. A finished line takes
/// the place of a failed one, and a failure that of an earlier one in the same input. Throws
/// nearwarp::Error if two lines of a point differ in more than the host's times. `output` is there
/// whole or as before, and may be one of the inputs.
MergeOutcome merge(const std::vector<std::string>& inputs, const std::string& output,
                   const MergeRules& rules = {});

}  // namespace nearwarp::sweep
