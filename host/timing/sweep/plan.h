// The points of a sweep: the cross product of what varies, in a fixed order, each with an id.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/timing/sweep/axis.h"
#include "host/timing/sweep/configurations.h"

namespace nearwarp::sweep {

/// A workload at a size.
struct Program {
  std::string name, size;
  std::string key;  ///< runtime::recording_key(): all that determines its recording
};

/// What a sweep is to run.
struct Definition {
  std::string version;  ///< of nearwarp
  std::vector<Program> programs;
  std::vector<std::string> machines, policies;  ///< names or paths; speed-ups are over policies[0]
  std::vector<Axis> axes;
  /// Programs are simulated in parts that suit all of their points: ids depend on which there are.
  bool divided = false;
};

/// One point: a program on a machine under a policy, with a value for every axis.
struct Point {
  size_t index = 0;  ///< position in the sweep
  /// 32 hexadecimal digits, a hash of all that determines the result: the program's key, names and
  /// all values of machine and policy, the program's version; of divided programs, the same of all
  /// their points.
  std::string id;
  size_t program = 0, machine = 0, policy = 0;  ///< positions in the definition
  std::vector<size_t> choice;                   ///< by axis: position of the value
  std::string error;                            ///< why the point cannot be run; empty if it can
};

struct PlanConfigurations {
  Configurations<config::MachineConfig> machines{&config::Loader::machine};
  Configurations<config::PolicyConfig> policies{&config::Loader::policy};
};

struct Plan {
  Plan();

  Definition definition;
  /// Programs outermost, then machines, then axes in their order, policies innermost: points that
  /// are compared with each other are neighbours.
  std::vector<Point> points;
  std::string id;  ///< a hash of all points' ids in their order

  std::shared_ptr<PlanConfigurations> configurations;  ///< of all points

  /// What a point's machine and policy are; null if they cannot be had. Loaded when it is asked
  /// for: whoever needs many at a time holds what was returned.
  std::shared_ptr<const config::MachineConfig> machine(const Point& point) const;
  std::shared_ptr<const config::PolicyConfig> policy(const Point& point) const;

  /// The point under the first policy that is otherwise the same.
  const Point& reference(const Point& point) const { return points[point.index - point.policy]; }
  /// "key=value" of every axis, as given.
  std::vector<std::string> overrides(const Point& point) const;
  std::string machine_name(const Point& point) const;
  std::string policy_name(const Point& point) const;
};

/// Points that a sweep may have: more than anybody runs, few enough to be held.
inline constexpr uint64_t kMaxPoints = 1'000'000;

/// The number of points; kMaxPoints + 1 for any that is greater.
uint64_t count_points(const Definition& definition);

/// Expands the product and loads all configurations. A combination of keys that a rule forbids is
/// the error of its points. `progress` is told of the points that are checked, and stops by
/// returning false. Throws nearwarp::Error if a machine or policy cannot be had with any
/// combination, or when stopped; UsageError if a point is there twice, or there are too many.
Plan expand(Definition definition,
            const std::function<bool(uint64_t checked, uint64_t all)>& progress = {});

/// Part `part` of `parts`, counted from 1.
struct Shard {
  uint32_t part = 1, parts = 1;

  /// Of every `parts` consecutive points that begin at a multiple of it, each part gets one; which
  /// one changes from group to group (a generalised Thue-Morse sequence), so that parts do not
  /// differ systematically if an axis has as many values as there are parts.
  bool has(size_t index) const;
};

/// The part, from 1, that the point at this position of a sweep belongs to.
uint32_t part_of(size_t index, uint32_t parts);

/// Reads "i/n"; throws UsageError.
Shard parse_shard(const std::string& text);

}  // namespace nearwarp::sweep
