// The parts that experiments of the public interface are made of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/api/experiment_programs.h"
#include "host/api/nearwarp.h"
#include "host/api/state.h"
#include "host/timing/experiment/chart.h"
#include "host/timing/experiment/definition.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/sweep/results_folder.h"
#include "host/timing/sweep/run.h"

namespace nearwarp {

struct ExperimentFile::State {
  experiment::Experiment experiment;
};

struct Experiment::State {
  State(ExperimentFile of, std::string size_of_workloads, sim::LaunchChoice choice)
      : file(std::move(of)),
        experiment(Access::of(file).experiment),
        size(std::move(size_of_workloads)),
        launches(choice),
        programs(experiment, size) {}

  const ExperimentFile file;
  const experiment::Experiment& experiment;  ///< the file's
  const std::string size;
  const sim::LaunchChoice launches;
  const ExperimentPrograms programs;
  std::vector<experiment::PlannedStudy> studies;
};

/// Where an experiment's results are in its folder.
inline sweep::ResultsFolder results_folder_of_experiment(const std::string& folder) {
  return {folder, "results"};
}

/// Runs what is missing. Throws nearwarp::Error.
ExperimentOutcome run_experiment(const Experiment::State& e, const SweepOptions& options);

/// Throws nearwarp::Error.
ExperimentReport report_of(const Experiment::State& e, const std::string& folder, size_t width);

}  // namespace nearwarp
