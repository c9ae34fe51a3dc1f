// The points of a sweep: the cross product of what varies, in a fixed order, each with an id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/timing/sweep/axis.h"

namespace nearwarp::sweep {

/// A workload at a size.
struct Program {
  std::string name, size;
  std::string key;  ///< runtime::recording_key(): all that determines its recording
};

/// The definition of a sweep: all that it is to run.
struct Definition {
  std::string version;  ///< of nearwarp
  std::vector<Program> programs;
  std::vector<std::string> machines, policies;  ///< names or paths; speed-ups are over policies[0]
  std::vector<Axis> axes;
  /// Programs are simulated in parts that suit several of their points (Plan::examples()): ids
  /// depend on which there are.
  bool divided = false;
};

/// One point: a program on a machine under a policy, with a value for every axis.
struct Point {
  size_t index = 0;  ///< position in the sweep
  /// 32 hexadecimal digits, a hash of all that determines the result: the program's key, names and
  /// all values of machine and policy, the program's version; of divided programs, also of the
  /// machines, policies and axes that the sweep has.
  std::string id;
  size_t program = 0, machine = 0, policy = 0;  ///< positions in the definition
  std::vector<size_t> choice;                   ///< by axis: position of the value
  std::string error;                            ///< why the point cannot be run; empty if it can
};

class PointMaker;

/// All points of a sweep, in order. A point is made, and its machine and policy checked, when it is
/// asked for.
class Points {
 public:
  explicit Points(std::shared_ptr<PointMaker> maker = nullptr) : maker_(std::move(maker)) {}

  size_t size() const;
  Point operator[](size_t index) const;
  /// Throws std::out_of_range.
  Point at(size_t index) const;
  /// The number of points made so far, repeated ones included; one takes about a tenth of a
  /// millisecond.
  size_t made() const;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Point;
    using difference_type = std::ptrdiff_t;
    using pointer = const Point*;
    using reference = Point;

    Iterator(const Points& points, size_t index) : points_(&points), index_(index) {}
    Point operator*() const { return (*points_)[index_]; }
    Iterator& operator++() {
      index_ += 1;
      return *this;
    }
    void operator++(int) { index_ += 1; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Points* points_;
    size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  std::shared_ptr<PointMaker> maker_;
};

/// Where a point stands, which is known without its configuration.
struct PointPlace {
  size_t program = 0, machine = 0, policy = 0;  ///< positions in the definition
};

struct Plan {
  Definition definition;
  /// Programs outermost, then machines, then axes in their order, policies innermost: points that
  /// are compared with each other are neighbours.
  Points points;
  std::string id;  ///< a hash of all that determines which points there are

  std::shared_ptr<PointMaker> maker;  ///< of all points

  /// A point's machine and policy; null if they cannot be had. They are loaded when they are asked
  /// for, and only the last ones stay loaded: a caller that needs many at a time holds them.
  std::shared_ptr<const config::MachineConfig> machine(const Point& point) const;
  std::shared_ptr<const config::PolicyConfig> policy(const Point& point) const;

  /// Points of a program, which are neighbours.
  size_t points_of_program() const;
  PointPlace place(size_t index) const;
  /// The index of the point that has these positions in the definition.
  size_t index(const Point& at) const;
  /// The point without its id, and whether it can be run: that is known at once.
  Point placed(size_t index) const;
  /// Some of a program's points, in order, which stand for all of them where all would be too many:
  /// each machine under each policy, with each value of each axis beside the first ones of others.
  std::vector<size_t> examples(size_t program) const;
  /// "key=value" of every axis, as given.
  std::vector<std::string> overrides(const Point& point) const;
  std::string machine_name(const Point& point) const;
  std::string policy_name(const Point& point) const;
};

/// The most points that a sweep may have.
inline constexpr uint64_t kMaxPoints = 1'000'000;

/// The number of points; kMaxPoints + 1 for any that is greater.
uint64_t count_points(const Definition& definition);

/// Checks the sweep as a whole, each value of an axis with the first ones of the others: a point's
/// own combination is checked when the point is asked for, and if a rule forbids it, that is the
/// point's error. More are checked if nothing can be said after these. `progress` is told how far
/// that is, and stops by returning false. Throws nearwarp::Error if a machine or policy cannot be
/// had with any combination; Interrupted when stopped; UsageError if a point is there twice, or
/// there are too many.
Plan expand(Definition definition,
            const std::function<bool(uint64_t checked, uint64_t all)>& progress = {});

/// Part `part` of `parts`, counted from 1.
struct Shard {
  uint32_t part = 1, parts = 1;

  /// Each part gets one of every `parts` consecutive points that begin at a multiple of it; which
  /// one changes from group to group (a generalised Thue-Morse sequence), so that parts do not
  /// differ systematically if an axis has as many values as there are parts.
  bool has(size_t index) const;
};

/// The part, from 1, that the point at this position of a sweep belongs to.
uint32_t part_of(size_t index, uint32_t parts);

/// Reads "i/n"; throws UsageError. `option`: what users know it by.
Shard parse_shard(const std::string& text, const std::string& option = "part");

}  // namespace nearwarp::sweep
