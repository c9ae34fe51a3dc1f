// Finds the point of a sweep that a line of results, written by another sweep, belongs to.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/timing/sweep/format.h"
#include "host/timing/sweep/plan.h"

namespace nearwarp::sweep {

/// Matches lines with points by what a line says about its point: program, machine, policy and the
/// values that were set. For each line at most as many points are constructed as there are
/// programs.
class Places {
 public:
  /// `plan` must outlive this object.
  explicit Places(const Plan& plan);

  /// The index of the point with the line's id; nothing if the sweep has no such point. Programs
  /// with the line's name are tried first, then all others, since a program may have another name
  /// here.
  std::optional<size_t> of(const Record& record);

 private:
  std::optional<size_t> of(const Record& record, bool named);
  /// The values of an axis, as indices, that a line may mean which does not set the axis's key.
  const std::vector<size_t>& unset(size_t axis, size_t machine, size_t policy);
  std::optional<size_t> among(const Record& record, Point at, size_t axis);

  const Plan& plan_;
  std::vector<std::vector<std::string>> values_;  ///< by axis: its values as they are in lines
  std::map<std::vector<size_t>, std::vector<size_t>> unset_;  ///< results of unset()
};

}  // namespace nearwarp::sweep
