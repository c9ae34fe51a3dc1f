// Experiments: studies, which are sweeps, figures of their results and a report
// (docs/experiments.md).
#pragma once

#include <nearwarp/failure.h>
#include <nearwarp/sweep.h>
#include <nearwarp/texts.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace nearwarp {

/// Experiments that have names: those of the installation, and of $NEARWARP_CONFIG_PATH.
NEARWARP_API std::vector<std::string> experiment_names();

/// A sweep of an experiment's, as its file has it.
struct Study {
  std::string name;
  std::string about;  ///< one sentence; may be empty
  std::vector<std::string>
      programs;  ///< programs by their names in the file, or as Program::load() takes them
  std::vector<std::string> machines, policies;  ///< names or paths
  std::vector<std::string> values;              ///< values of keys, "KEY=A,B,..."
};

/// A figure, as the file has it.
struct Figure {
  std::string name, title;
  std::string about;                 ///< some sentences; may be empty
  std::vector<std::string> studies;  ///< studies whose points it shows
};

/// The contents of an experiment's file.
class NEARWARP_API ExperimentFile {
 public:
  /// By name ("tom"), or by the path of a .toml file.
  static Expected<ExperimentFile> load(const std::string& name_or_path);
  /// Reads the text of such a file; `name` stands in results and messages, paths in it begin in
  /// `folder`.
  static Expected<ExperimentFile> parse(const std::string& toml,
                                        const std::string& name = "experiment",
                                        const std::string& folder = ".");
  /// These figures alone, and the studies that they need; all if none is named.
  Expected<ExperimentFile> only(Texts figures) const;

  const std::string& name() const;
  const std::string& path() const;  ///< the file's path; the name of an experiment from a text
  const std::string& title() const;
  const std::string& description() const;
  const std::string& source() const;  ///< what it is after, such as a paper; may be empty
  const std::string& size() const;    ///< size of workloads, unless another one is asked for
  /// Names of the programs that it brings along, which come before workloads of the same name.
  std::vector<std::string> own_programs() const;
  std::vector<Study> studies() const;
  std::vector<Figure> figures() const;

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

/// Writes a file to begin with, which asks what policies change of a program and where its cycles
/// go: of one that has a name or is a file, as Program::load() takes it, or of an application,
/// {"./app", "its", "arguments"}. `path` ends with .toml, and is not there yet.
NEARWARP_API Expected<Done> new_experiment(const std::string& path, const std::string& program);
NEARWARP_API Expected<Done> new_experiment(const std::string& path, Texts application);

/// How an experiment is run.
struct ExperimentChoice {
  std::string size = {};                   ///< size of workloads; empty: the file's
  std::string launches = {}, sample = {};  ///< as BatchOptions
  bool cold_caches = false;
};

/// A point of one of the studies.
struct StudyPoint {
  std::string study;
  SweepPoint point;
};

struct ExperimentOutcome {
  size_t points = 0;          ///< points of the part; a point that several studies have counts once
  size_t already_there = 0;   ///< were there before
  size_t finished = 0;        ///< came to an end now
  size_t failed = 0;          ///< points with results that failed
  std::string first_failure;  ///< the first of these, and why it failed; empty: none
  bool stopped = false;       ///< progress() said so: points are left
  std::string file;           ///< results are in
};

/// A figure with its numbers, as texts.
struct FigureTable {
  std::string name, title;
  std::string csv;    ///< a row per value: x, series, part, value, unit, what is published
  std::string latex;  ///< a tabular
  std::string text;   ///< text for a terminal
};

/// The findings of an experiment.
struct NEARWARP_API ExperimentReport {
  std::string summary;  ///< sentences, in lines; may be empty
  std::vector<FigureTable> figures;
  std::string points_csv;  ///< a row per point that has a result, with units in columns' names
  std::string json;        ///< all of it (docs/experiments.md)
  std::string html;        ///< a page that shows it without a network

  /// Writes points.csv, experiment.json, report.html, figures/NAME.csv and figures/NAME.tex into
  /// the folder.
  Expected<Done> write(const std::string& folder) const;
};

/// An experiment whose points are known and can be run.
class NEARWARP_API Experiment {
 public:
  /// Checks that all of its programs, machines, policies and keys can be had, and that its figures
  /// can be made of its points.
  static Expected<Experiment> plan(const ExperimentFile& file, const ExperimentChoice& choice = {});
  /// ExperimentFile::load() and plan().
  static Expected<Experiment> load(const std::string& name_or_path,
                                   const ExperimentChoice& choice = {});

  const ExperimentFile& file() const;
  const std::string& size() const;
  /// Where `nearwarp experiment` keeps results if it is not told: NAME-SIZE, in its own folder.
  std::string folder() const;
  /// All points, study by study.
  std::vector<StudyPoint> points() const;
  /// Runs what is not in the folder SweepOptions::out yet, with what its own programs did kept
  /// there, too. The failure of a point is its result. SweepOptions::csv has the report's
  /// points_csv.
  Expected<ExperimentOutcome> run(const SweepOptions& options) const;
  /// Reports what the folder has, results of all parts included. `width`: columns of what is for
  /// people.
  Expected<ExperimentReport> report(const std::string& folder, size_t width = 80) const;

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

}  // namespace nearwarp
