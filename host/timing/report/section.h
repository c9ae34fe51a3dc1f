// Sections that a mechanism adds to reports of a run; they lie in its folder (report/
// there). Reports know no mechanism; they ask all of them in turns.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "host/timing/report/result.h"
#include "host/timing/report/use_json.h"

namespace nearwarp::report {

/// Fewer instances than this say little about those that follow (estimated).
inline constexpr uint64_t kFewInstances = 32;

/// The legend of a section's columns.
struct Legend {
  const char* text;
  bool (*has)(const RunResult&);  ///< is the section there?
};

/// Work of a kernel's code that a mechanism may have executed elsewhere.
struct KernelWork {
  std::string kernel;
  uint64_t instances = 0;  ///< times that a warp came to it
  uint64_t offloaded = 0;  ///< times that it was executed elsewhere
};

/// A stretch of a run, in core cycles.
struct Phase {
  const char* name;
  uint64_t begin, end;
  bool stands_still = false;  ///< no warp goes on in it
};
struct Phases {
  const char* of;  ///< what goes through them
  std::vector<Phase> phases;
};

/// Lines that were accessed near memory, by where they are.
struct NearLines {
  uint64_t local = 0, remote = 0;
};

/// A function f(mine, other's) for each number that is a sum over a run's events.
using EachSum = std::function<void(uint64_t&, uint64_t)>;

/// A mechanism's sections. Null: it has none of that kind. Texts are empty for runs without the
/// section, and else end with a line feed.
struct MechanismReport {
  /// Runs side by side, below the table of all runs.
  std::string (*tables)(std::span<const RunResult> runs, size_t width) = nullptr;
  /// An explanation of one run, where these are asked for; and legends of its columns.
  std::string (*explanation)(const RunResult& run, size_t width) = nullptr;
  std::span<const Legend> legends{};
  /// The reason why a run's numbers do not say what they seem to, in a sentence.
  std::string (*remark)(const RunResult& run) = nullptr;
  /// Its members of a run in JSON, and of a kernel of kernel_totals.
  void (*members)(const RunResult& run, Json& json) = nullptr;
  void (*kernel_members)(const RunResult& run, const std::string& kernel, Json& json) = nullptr;
  std::vector<KernelWork> (*work)(const RunResult& run) = nullptr;
  /// The phases in which it learnt, for timelines; nothing in `phases`: it did not.
  Phases (*phases)(const RunResult& run) = nullptr;
  /// Lines that what runs near memory accessed for a kernel, in its own stack and in others;
  /// `run` is a document of `members`.
  NearLines (*near_lines)(const Json& run, const std::string& kernel) = nullptr;
  /// The part of a run that an experiment's page shows: names of members that are kept there, and
  /// sections {title, text, columns, rows}, made of a document of `members`. A cell is a text, a
  /// number, or {kernel: NAME}.
  std::span<const char* const> kept{};
  void (*page)(const Json& run, Json& sections) = nullptr;
  /// The cycles that it took for itself before anything was gained, as a clause of a
  /// sentence; `run` is a document of `members`, fewer cycles than `least` are not worth one.
  std::string (*cost)(const Json& run, int64_t least) = nullptr;
  /// f for the sums in the sections of `run` that `other` has, too; `add_missing`: what only
  /// `other` has comes to `run`.
  void (*each_sum)(RunResult& run, const RunResult& other, bool add_missing,
                   const EachSum& f) = nullptr;
};

/// The reports of all mechanisms, in the order of their list. Defined beside them
/// (host/mechanisms/reports.cpp), which know this folder.
std::span<const MechanismReport* const> mechanism_reports();

}  // namespace nearwarp::report
