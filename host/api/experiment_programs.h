// The programs of an experiment: workloads, and what its user brings.
#pragma once

#include <string>
#include <utility>

#include "host/api/nearwarp.h"
#include "host/recording/recording.h"
#include "host/timing/experiment/definition.h"
#include "host/timing/sweep/plan.h"

namespace nearwarp {

/// The programs that names in an experiment's studies stand for: its own first, then files of
/// recordings and traces, then workloads. Joined by "+" they run at the same time.
class ExperimentPrograms {
 public:
  /// `size` is for workloads.
  ExperimentPrograms(const experiment::Experiment& experiment, std::string size)
      : experiment_(experiment), size_(std::move(size)) {}

  /// A study's program. Throws UsageError, or nearwarp::Error, for one that cannot be had.
  sweep::Program program(const std::string& names) const;

  /// Has check() nothing to say of the program, whatever it runs on?
  bool runs_everywhere(const std::string& names) const;

  /// Throws UsageError for a machine that a program cannot run on and a policy that its traces do
  /// not suffice for.
  void check(const sweep::Plan& plan, const sweep::Point& point) const;

  /// Executed now, or before: what applications and PTX do is kept in `folder`.
  runtime::Recording recording(const std::string& names, const std::string& folder,
                               const ProgramOptions& options) const;

 private:
  std::string key_of_one(const std::string& name) const;
  runtime::Recording recording_of_one(const std::string& name, const std::string& folder,
                                      const ProgramOptions& options) const;
  /// The file of a recording or of traces; empty: it is none.
  std::string file_of(const std::string& name) const;

  const experiment::Experiment& experiment_;
  std::string size_;
};

}  // namespace nearwarp
