// Sections that a mechanism adds to reports of a run. Their code is in the mechanism's folder, in
// report/. Reports know no mechanism by name; they ask all of them in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "host/timing/report/result.h"
#include "host/timing/report/use_json.h"

namespace nearwarp::report {

/// A mechanism that has learnt from fewer instances than this knows little about later ones
/// (estimated).
inline constexpr uint64_t kFewInstances = 32;

/// The legend of a section's columns.
struct Legend {
  const char* text;
  bool (*has)(const RunResult&);  ///< does the run have the section?
};

/// The code of a kernel that a mechanism may have executed elsewhere, and how often it did.
struct KernelWork {
  std::string kernel;
  uint64_t instances = 0;  ///< times that a warp came to it
  uint64_t offloaded = 0;  ///< times that it was executed elsewhere
};

/// A stretch of a run, in core cycles.
struct Phase {
  const char* name;
  uint64_t begin, end;
  bool stands_still = false;  ///< no warp makes progress in it
};
struct Phases {
  const char* of;  ///< the thing that goes through the phases
  std::vector<Phase> phases;
};

/// Lines that were accessed near memory, by where they are.
struct NearLines {
  uint64_t local = 0, remote = 0;
};

/// A function f(mine, other's) that is called for each number that is a sum over a run's events.
using EachSum = std::function<void(uint64_t&, uint64_t)>;

/// A mechanism's sections. A null pointer says that it has none of that kind. A text is empty for a
/// run without the section, and ends with a line feed otherwise.
struct MechanismReport {
  /// Runs side by side, below the table of all runs.
  std::string (*tables)(std::span<const RunResult> runs, size_t width) = nullptr;
  /// An explanation of one run, for reports that ask for it; and the legends of its columns.
  std::string (*explanation)(const RunResult& run, size_t width) = nullptr;
  std::span<const Legend> legends{};
  /// A sentence that warns why a run's numbers do not say what they seem to.
  std::string (*remark)(const RunResult& run) = nullptr;
  /// Add its members to a run in JSON, and to a kernel in kernel_totals.
  void (*members)(const RunResult& run, Json& json) = nullptr;
  void (*kernel_members)(const RunResult& run, const std::string& kernel, Json& json) = nullptr;
  std::vector<KernelWork> (*work)(const RunResult& run) = nullptr;
  /// The phases in which it learnt, for timelines; none if it did not learn.
  Phases (*phases)(const RunResult& run) = nullptr;
  /// Lines that a kernel's offloaded code accessed, in the stack that it ran in and in others;
  /// `run` is a JSON object that `members` has filled.
  NearLines (*near_lines)(const Json& run, const std::string& kernel) = nullptr;
  /// The part of a run that an experiment's page shows: names of members that are kept there, and
  /// sections {title, text, columns, rows}, made of an object that `members` has filled. A cell is
  /// a text, a number, or {kernel: NAME}.
  std::span<const char* const> kept{};
  void (*page)(const Json& run, Json& sections) = nullptr;
  /// The cycles that the mechanism took for itself before anything was gained, as a clause of a
  /// sentence; empty if they are fewer than `least`. `run` is an object that `members` has filled.
  std::string (*cost)(const Json& run, int64_t least) = nullptr;
  /// Call f for the sums in sections that both `run` and `other` have. With `add_missing`, sections
  /// that only `other` has are added to `run`.
  void (*each_sum)(RunResult& run, const RunResult& other, bool add_missing,
                   const EachSum& f) = nullptr;
};

/// The reports of all mechanisms, in the order of their list. Defined beside them
/// (host/mechanisms/reports.cpp), which know this folder.
std::span<const MechanismReport* const> mechanism_reports();

}  // namespace nearwarp::report
