// The programs of an experiment: workloads, and what its user brings.
#pragma once

#include <string>

#include "host/recording/recording.h"
#include "host/timing/experiment/definition.h"
#include "host/timing/sweep/plan.h"

namespace nearwarp::cli {

/// What names in an experiment's studies stand for: its own programs first, then files of
/// recordings and traces, then workloads. Joined by "+" they run at the same time.
class ExperimentPrograms {
 public:
  ExperimentPrograms() = default;
  /// `size` is for workloads. What applications and PTX do is kept in `folder`, empty: nowhere;
  /// traces and workloads in `cache`.
  ExperimentPrograms(const experiment::Experiment& experiment, std::string size, std::string folder,
                     std::string cache);

  /// A study's program. Throws UsageError, or nearwarp::Error, for one that cannot be had.
  sweep::Program program(const std::string& names) const;

  /// Throws UsageError for a machine that a program cannot run on and a policy that its traces do
  /// not suffice for.
  void check(const sweep::Plan& plan, const sweep::Point& point) const;

  /// Executed now, or before.
  runtime::Recording recording(const std::string& names) const;

 private:
  std::string key_of_one(const std::string& name) const;
  runtime::Recording recording_of_one(const std::string& name) const;
  /// The file of a recording or of traces; empty: it is none.
  std::string file_of(const std::string& name) const;

  const experiment::Experiment* experiment_ = nullptr;
  std::string size_, folder_, cache_;
};

}  // namespace nearwarp::cli
