// Runs those points of an experiment for which its folder has no results yet.
#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "host/api/by_caller.h"
#include "host/api/experiment_state.h"
#include "host/api/sweeps.h"
#include "host/core/folder.h"
#include "host/recording/program_studies.h"
#include "host/timing/report/file.h"
#include "host/timing/sweep/shared_points.h"

namespace nearwarp {
namespace {

namespace fs = std::filesystem;

/// Answers to the sweep of one study, whose progress it reports as progress of the whole
/// experiment.
class ExperimentProgress final : public AskedOfSweep {
 public:
  ExperimentProgress(const Experiment::State& e, const SweepOptions& options, size_t points)
      : AskedOfSweep(options), e_(e), points_(points) {}

  void begin(const experiment::PlannedStudy& study) {
    study_ = &study;
    before_.points_done += last_.points_done;
    before_.warp_instructions_done += last_.warp_instructions_done;
    before_.cost_done += last_.cost_done;
    last_ = {};
  }

  runtime::Recording recording(size_t program) override {
    const sweep::Program& p = study_->plan.definition.programs[program];
    runtime::Recording recording = e_.programs.recording(
        p.name, (fs::path(options().out) / "programs").string(), program_options());
    // Analyses of the program that an earlier study made are used again.
    recording.studies = analyses_.of(p.key);
    return recording;
  }

  bool progress(const sweep::Progress& progress) override {
    last_ = progress;
    SweepProgress all;
    all.points = points_;
    all.points_done = before_.points_done + progress.points_done;
    all.warp_instructions_done = before_.warp_instructions_done + progress.warp_instructions_done;
    all.warp_instructions = before_.warp_instructions_done + progress.warp_instructions;
    all.cost_done = before_.cost_done + progress.cost_done;
    all.cost = before_.cost_done + progress.cost;
    // Points of later studies are assumed to cost as much as the known ones on average.
    const size_t known = before_.points_done + progress.points;
    if (known != 0 && points_ > known) {
      all.warp_instructions += all.warp_instructions / known * (points_ - known);
      all.cost *= static_cast<double>(points_) / static_cast<double>(known);
    }
    return go_on(all);
  }

 private:
  const Experiment::State& e_;
  size_t points_;
  const experiment::PlannedStudy* study_ = nullptr;
  sweep::Progress before_, last_;
  runtime::ProgramStudies analyses_;
};

void add(ExperimentOutcome& all, const sweep::Outcome& one) {
  all.points += one.points;
  all.already_there += one.already_there;
  all.finished += one.finished;
  all.failed += one.failed;
  all.stopped = all.stopped || one.stopped;
}

/// The options of each study's sweep. A point that several studies have is run by the first one.
std::vector<sweep::RunOptions> options_of(std::span<const sweep::Plan* const> plans,
                                          const sweep::RunOptions& own) {
  std::vector<sweep::RunOptions> all;
  for (std::unordered_set<size_t>& others : sweep::points_of_earlier(plans)) {
    all.push_back(own);
    all.back().others = std::move(others);
  }
  return all;
}

/// The points of all studies, without running any; those in the file count as already there.
ExperimentOutcome count(const Experiment::State& e, const std::vector<sweep::RunOptions>& own,
                        const sweep::ResultsFile& file) {
  ExperimentOutcome all;
  for (size_t i = 0; i < e.studies.size(); ++i)
    add(all, sweep::count_results(e.studies[i].plan, own[i], file));
  return all;
}

ExperimentOutcome run_studies(const Experiment::State& e, const SweepOptions& how,
                              const std::vector<sweep::RunOptions>& own, sweep::ResultsFile& file) {
  ExperimentOutcome all;
  const ExperimentOutcome before = count(e, own, file);
  ExperimentProgress progress(
      e, how, before.points - before.already_there + (how.retry ? before.failed : 0));
  const auto runner = sweep_runner(how);
  for (size_t i = 0; i < e.studies.size(); ++i) {
    const experiment::PlannedStudy& study = e.studies[i];
    if (all.stopped) {
      all.points += sweep::count_results(study.plan, own[i], file).points;
      continue;
    }
    progress.begin(study);
    add(all, sweep::run_sweep(study.plan, own[i], *runner, progress, file));
  }
  return all;
}

}  // namespace

ExperimentOutcome run_experiment(const Experiment::State& e, const SweepOptions& options) {
  sweep::RunOptions own = run_options(options, e.launches);
  make_folder(options.out, "out");
  if (!own.checkpoints.empty()) make_folder(own.checkpoints, "checkpoints");
  const sweep::ResultsFolder folder = results_folder_of_experiment(options.out);
  const bool is_part = own.shard.parts != 1;
  bool torn = false;
  if (!is_part) {
    std::vector<std::string> order;
    for (const experiment::PlannedStudy& study : e.studies) order.push_back(study.plan.id);
    torn = sweep::join_parts(folder, order);
  }
  sweep::ResultsFile file(folder.part(own.shard));
  if ((torn || file.dropped_torn_line()) && options.tell)
    by_caller([&] {
      options.tell(
          fmt::format("the last line of '{}' was cut off; its point runs again", file.path()));
    });
  std::error_code failed;
  if (is_part && fs::exists(folder.whole(), failed)) file.read_also(folder.whole());
  std::vector<const sweep::Plan*> plans;
  for (const experiment::PlannedStudy& study : e.studies) plans.push_back(&study.plan);
  look_for_points(file, plans, options);
  const std::vector<sweep::RunOptions> of_studies = options_of(plans, own);
  ExperimentOutcome outcome =
      options.only_count ? count(e, of_studies, file) : run_studies(e, options, of_studies, file);
  outcome.file = file.path();
  for (const experiment::PlannedStudy& study : e.studies)
    if (outcome.failed != 0 && outcome.first_failure.empty())
      outcome.first_failure = first_failure(study.plan, own.shard, file);
  if (!options.csv.empty())
    report::write_file(options.csv, report_of(e, options.out, 80).points_csv);
  return outcome;
}

}  // namespace nearwarp
