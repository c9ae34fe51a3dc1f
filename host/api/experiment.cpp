// The public interface's experiments: what their files say, and which points they have.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "bench/workloads/workload.h"
#include "host/api/backend.h"
#include "host/api/experiment_counters.h"
#include "host/api/experiment_state.h"
#include "host/api/failure.h"
#include "host/api/inside.h"
#include "host/api/sweeps.h"
#include "host/programs/recordings.h"

namespace nearwarp {
namespace {

const experiment::Experiment& of(const ExperimentFile& file) { return Access::of(file).experiment; }

ExperimentFile file_of(experiment::Experiment experiment) {
  return Access::make<ExperimentFile>(
      std::make_shared<ExperimentFile::State>(ExperimentFile::State{std::move(experiment)}));
}

sim::LaunchChoice launches_of(const ExperimentChoice& choice, const std::string& size) {
  BatchOptions options;
  options.launches = choice.launches;
  options.sample = choice.sample;
  options.cold_caches = choice.cold_caches;
  const sim::LaunchChoice launches = launch_choice(options);
  if (launches.given && size == "paper") sim::refuse_paper_size();
  return launches;
}

sweep::Plan plan_study(const Experiment::State& e, const experiment::Study& study) {
  sweep::Definition d;
  d.version = version();
  for (const std::string& name : study.workloads) {
    d.programs.push_back(e.programs.program(name));
    d.programs.back().key += key_of(e.launches);
  }
  d.divided = e.launches.given;
  d.machines = study.machines;
  d.policies = study.policies;
  for (const std::string& text : study.set) d.axes.push_back(sweep::parse_axis(text));
  sweep::Plan plan = sweep::expand(std::move(d));
  for (size_t program = 0; program < plan.definition.programs.size(); ++program) {
    if (e.programs.runs_everywhere(plan.definition.programs[program].name)) continue;
    const size_t first = program * plan.points_of_program();
    for (size_t i = 0; i < plan.points_of_program(); ++i)
      e.programs.check(plan, plan.placed(first + i));
  }
  return plan;
}

std::shared_ptr<const Experiment::State> planned(const ExperimentFile& file,
                                                 const ExperimentChoice& choice) {
  const std::string size = choice.size.empty() ? of(file).size : choice.size;
  workloads::parse_size(size);
  auto e = std::make_shared<Experiment::State>(file, size, launches_of(choice, size));
  for (const experiment::Study& study : e->experiment.studies) {
    try {
      e->studies.emplace_back(&study, plan_study(*e, study));
    } catch (const UsageError& error) {
      throw Error(fmt::format("study {} ({}): {}", study.name, e->experiment.path, error.what()));
    }
  }
  for (const experiment::Figure& figure : e->experiment.figures)
    check_figure(e->experiment, e->studies, figure);
  check_counters(*e);
  return e;
}

}  // namespace

std::vector<std::string> experiment_names() { return experiment::experiment_names(); }

Expected<ExperimentFile> ExperimentFile::load(const std::string& name_or_path) {
  return guarded([&] { return file_of(experiment::load_experiment(name_or_path)); });
}

Expected<ExperimentFile> ExperimentFile::parse(const std::string& toml, const std::string& name,
                                               const std::string& folder) {
  return guarded([&] { return file_of(experiment::parse_experiment(toml, name, name, folder)); });
}

Expected<ExperimentFile> ExperimentFile::only(Texts figures) const {
  return guarded([&] {
    experiment::Experiment fewer = of(*this);
    keep_only(fewer, {figures.begin(), figures.end()});
    return file_of(std::move(fewer));
  });
}

const std::string& ExperimentFile::name() const { return of(*this).name; }
const std::string& ExperimentFile::path() const { return of(*this).path; }
const std::string& ExperimentFile::title() const { return of(*this).title; }
const std::string& ExperimentFile::description() const { return of(*this).description; }
const std::string& ExperimentFile::source() const { return of(*this).source; }
const std::string& ExperimentFile::size() const { return of(*this).size; }

std::vector<std::string> ExperimentFile::own_programs() const {
  std::vector<std::string> names;
  for (const experiment::OwnProgram& program : of(*this).programs) names.push_back(program.name);
  return names;
}

std::vector<Study> ExperimentFile::studies() const {
  std::vector<Study> studies;
  for (const experiment::Study& s : of(*this).studies)
    studies.push_back({s.name, s.about, s.workloads, s.machines, s.policies, s.set});
  return studies;
}

std::vector<Figure> ExperimentFile::figures() const {
  std::vector<Figure> figures;
  for (const experiment::Figure& f : of(*this).figures)
    figures.push_back({f.name, f.title, f.about, f.studies});
  return figures;
}

Expected<Experiment> Experiment::plan(const ExperimentFile& file, const ExperimentChoice& choice) {
  return guarded([&] { return Access::make<Experiment>(planned(file, choice)); });
}

Expected<Experiment> Experiment::load(const std::string& name_or_path,
                                      const ExperimentChoice& choice) {
  const Expected<ExperimentFile> file = ExperimentFile::load(name_or_path);
  if (!file) return file.failure();
  return plan(*file, choice);
}

const ExperimentFile& Experiment::file() const { return Access::of(*this).file; }
const std::string& Experiment::size() const { return Access::of(*this).size; }

std::string Experiment::folder() const {
  const State& e = Access::of(*this);
  bool sized = false;
  for (const experiment::Study& study : e.experiment.studies)
    for (const std::string& name : study.workloads)
      sized |= e.experiment.program(name) == nullptr && !programs::names_recording(name);
  return e.experiment.name + "-" + (sized ? e.size : "report");
}

std::vector<StudyPoint> Experiment::points() const {
  std::vector<StudyPoint> points;
  for (const experiment::PlannedStudy& study : Access::of(*this).studies)
    for (const sweep::Point& point : study.plan.points)
      points.push_back({study.study->name, point_of(study.plan, point)});
  return points;
}

Expected<ExperimentOutcome> Experiment::run(const SweepOptions& options) const {
  return guarded([&] {
    check_options(options);
    return run_experiment(Access::of(*this), options);
  });
}

Expected<ExperimentReport> Experiment::report(const std::string& folder, size_t width) const {
  return guarded([&] { return report_of(Access::of(*this), folder, width); });
}

std::vector<const sweep::Plan*> plans_of(const Experiment& experiment) {
  std::vector<const sweep::Plan*> plans;
  for (const experiment::PlannedStudy& study : Access::of(experiment).studies)
    plans.push_back(&study.plan);
  return plans;
}

}  // namespace nearwarp
