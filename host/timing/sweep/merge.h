// Joins the files of a sweep's parts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nearwarp::sweep {

struct MergeOutcome {
  size_t points = 0;              ///< points of the merged file
  size_t duplicates = 0;          ///< lines of points that have another line
  size_t failed = 0;              ///< points of the merged file that failed
  std::vector<std::string> torn;  ///< inputs whose last line is cut off; it is left out
};

struct MergeRules {
  /// Ids of the sweeps that come first, in this order.
  std::vector<std::string> order;
  /// If true, the later of two different failures of a point is kept; else they are an error.
  bool failures_may_differ = false;
};

/// Write the lines of all `inputs` to `output`, each point once, in the order of the sweep; several
/// sweeps come one after the other, in the order in which they first appear. A finished line takes
/// the place of a failed one, and a failure that of an earlier one in the same input. Throws
/// nearwarp::Error if two lines of a point differ in more than the host's times. `output` may be
/// one of the inputs; it is written as a whole, or left as it was.
MergeOutcome merge(const std::vector<std::string>& inputs, const std::string& output,
                   const MergeRules& rules = {});

}  // namespace nearwarp::sweep
