// Which point of a sweep a line is that another sweep has written.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/timing/sweep/format.h"
#include "host/timing/sweep/plan.h"

namespace nearwarp::sweep {

/// A line tells what its point is: program, machine, policy and the values that were set. For each
/// line no more points are made than there are programs.
class Places {
 public:
  /// The plan outlives it.
  explicit Places(const Plan& plan);

  /// The position of the point with the line's id; nothing if the sweep has none. Programs with the
  /// line's name come first, but one may have another name here.
  std::optional<size_t> of(const Record& record);

 private:
  std::optional<size_t> of(const Record& record, bool named);
  /// Positions of values in an axis that a line without its key may stand for.
  const std::vector<size_t>& unset(size_t axis, size_t machine, size_t policy);
  std::optional<size_t> among(const Record& record, Point at, size_t axis);

  const Plan& plan_;
  std::vector<std::vector<std::string>> values_;  ///< by axis, as lines have them
  std::map<std::vector<size_t>, std::vector<size_t>> unset_;
};

}  // namespace nearwarp::sweep
