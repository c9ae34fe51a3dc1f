// An experiment as its file says it: studies, which are sweeps, and figures of their results.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/timing/experiment/own_program.h"

namespace nearwarp::experiment {

/// A sweep: every combination of what it names.
struct Study {
  std::string name;
  std::string about;  ///< one sentence; may be empty
  std::vector<std::string> workloads, machines, policies;
  std::vector<std::string> set;  ///< "key=a,b,c", as sweep::parse_axis() reads them
};

/// A published or measured number for a place in a figure.
struct Published {
  std::string x, series, part;  ///< labels of the place; `part` is empty but in stacked figures
  double value = 0;
  std::string source;  ///< e.g. "figure 8"
};

/// Part of a stacked bar.
struct Part {
  std::string label, value;  ///< `value` as Figure::value
};

enum class Kind { kBars, kStacked, kCurve, kHeat };
/// How a value is shown: itself, or related to the reference run's.
enum class Relation { kValue, kMultiple, kSpeedup };
enum class Mean { kNone, kGeometric, kArithmetic, kSum, kFairness };  ///< or what stands for one

struct Figure {
  std::string name, title;
  std::string about;  ///< some sentences; may be empty
  Kind kind = Kind::kBars;
  std::vector<std::string> studies;
  /// The quantity shown: names of quantities or counters, added, perhaps over others: expression.h.
  std::string value;
  std::vector<Part> parts;  ///< of a stacked figure, in place of `value`
  std::string unit;         ///< of an expression; named quantities have their own
  Relation relation = Relation::kValue;
  std::string reference;          ///< policy of the reference run; empty: the study's first
  std::string reference_machine;  ///< of the reference run; empty: the point's own
  std::string reference_study;    ///< where that run is if the point's own study has none
  bool each_program = false;      ///< of a mix, a place has its programs' numbers, not the run's
  bool reference_alone = false;   ///< the reference run is that of the program by itself
  /// Dimensions: "workload", "machine", "policy", "study", a key, or with each_program "program";
  /// several make one label.
  std::vector<std::string> x, series;
  std::vector<std::string> policies, workloads;  ///< only these; empty: all
  Mean mean = Mean::kNone;                       ///< over all points of a place
  Mean summary = Mean::kNone;                    ///< over all x, as a last group
  std::vector<Published> published;
  bool measured = false;  ///< these are measured, from a file
  const char* against() const { return measured ? "measured" : "published"; }
  int line = 0;  ///< in the file
};

struct Experiment {
  std::string name, path;
  std::string title, description, source;
  std::string size;                  ///< of workloads, if the command line names none
  std::vector<OwnProgram> programs;  ///< that studies name beside workloads
  std::vector<Study> studies;
  std::vector<Figure> figures;
  std::string text;  ///< the file

  const OwnProgram* program(const std::string& wanted) const;
  const Study* study(const std::string& wanted) const;
};

/// Loads an experiment by name or path. Throws nearwarp::Error with file and line for what the file
/// has wrong: unknown keys, missing ones, figures of studies that are not there.
Experiment load_experiment(const std::string& name_or_path);
/// Parses the text of such a file: `name` is the experiment's, `file` stands in messages, and
/// paths in it begin in `folder`.
Experiment parse_experiment(std::string text, const std::string& name, const std::string& file,
                            const std::filesystem::path& folder);

/// Names of all that can be found, sorted.
std::vector<std::string> experiment_names();

/// Leave only the figures named, and the studies that they need; all if `names` is empty. Throws
/// UsageError for one that does not exist.
void keep_only(Experiment& experiment, const std::vector<std::string>& names);

}  // namespace nearwarp::experiment
