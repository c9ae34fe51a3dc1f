// The public interface's sweeps: all combinations of what is named, resumable and in parts.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "host/api/backend.h"
#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/inside.h"
#include "host/api/programs.h"
#include "host/api/state.h"
#include "host/api/sweeps.h"
#include "host/core/folder.h"
#include "host/timing/report/file.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/sweep/results_folder.h"
#include "host/timing/sweep/run.h"
#include "host/timing/sweep/table.h"

namespace nearwarp {

struct Sweep::State {
  sweep::Plan plan;
  sim::LaunchChoice launches;
  uint32_t max_repeats = 0;
};

namespace {

namespace fs = std::filesystem;

sim::LaunchChoice choice_of(const SweepDefinition& definition) {
  BatchOptions options;
  options.launches = definition.launches;
  options.sample = definition.sample;
  options.cold_caches = definition.cold_caches;
  const sim::LaunchChoice choice = launch_choice(options);
  if (choice.given && definition.size == "paper") sim::refuse_paper_size();
  return choice;
}

bool has_workload(const std::string& names) {
  return std::ranges::any_of(names_in(names), [](const ProgramName& name) {
    return name.kind == ProgramName::Kind::kWorkload;
  });
}

sweep::Definition definition_of(const SweepDefinition& d, const sim::LaunchChoice& launches) {
  if (d.programs.empty() || d.machines.empty() || d.policies.empty())
    throw UsageError(
        "a sweep is of programs, machines and policies - name at least one of each, e.g. kmeans, "
        "tom and baseline");
  sweep::Definition all;
  all.version = version();
  if (const Expected<Done> size = check_size(d.size); !size)
    throw UsageError(size.failure().message);
  for (const std::string& name : d.programs)
    all.programs.push_back({name, has_workload(name) ? d.size : "", program_key(name, d.size)});
  if (d.max_repeats != 0)
    for (sweep::Program& program : all.programs)
      program.key += fmt::format(", {} of launches that are the same", d.max_repeats);
  all.divided = launches.given;
  for (sweep::Program& program : all.programs) program.key += key_of(launches);
  all.machines = d.machines;
  all.policies = d.policies;
  for (const std::string& text : d.values) {
    all.axes.push_back(sweep::parse_axis(text));
    for (size_t i = 0; i + 1 < all.axes.size(); ++i)
      if (all.axes[i].key == all.axes.back().key)
        throw UsageError(
            fmt::format("{} is set twice - give all its values in one text, separated by commas",
                        all.axes[i].key));
  }
  return all;
}

/// Throws UsageError for a point whose policy needs more than a program's traces, or whose machine
/// lacks stacks that a program is bound to.
void check_programs(const sweep::Plan& plan,
                    const std::function<bool(uint64_t, uint64_t)>& progress) {
  for (size_t program = 0; program < plan.definition.programs.size(); ++program) {
    const std::string& names = plan.definition.programs[program].name;
    const auto not_everywhere = [](const ProgramName& name) {
      return name.stacks != 0 || name.kind == ProgramName::Kind::kTraces;
    };
    if (!std::ranges::any_of(names_in(names), not_everywhere)) continue;
    for (size_t i = 0; i < plan.points_of_program(); ++i) {
      if (progress && !progress(i, plan.points_of_program()))
        throw Interrupted(
            "interrupted while the sweep's points were checked - there are no results");
      const sweep::Point point = plan.placed(program * plan.points_of_program() + i);
      const auto machine = plan.machine(point);
      const auto policy = plan.policy(point);
      if (machine != nullptr && policy != nullptr) check_program(names, *machine, *policy);
    }
  }
}

/// The folder for results; empty if `out` is a file.
std::optional<sweep::ResultsFolder> results_folder(const std::string& out) {
  std::error_code failed;
  if (!out.ends_with('/') && !fs::is_directory(out, failed)) return std::nullopt;
  return sweep::ResultsFolder{out, "sweep"};
}

/// Makes a sweep's programs for it, and passes its progress to the caller.
class Surroundings final : public AskedOfSweep {
 public:
  Surroundings(const Sweep::State& sweep, const SweepOptions& options)
      : AskedOfSweep(options), sweep_(sweep) {}

  runtime::Recording recording(size_t program) override {
    const sweep::Program& p = sweep_.plan.definition.programs[program];
    ProgramOptions options = program_options();
    options.max_repeats = sweep_.max_repeats;
    return loaded_program(p.name, p.size, options).recording;
  }
  bool progress(const sweep::Progress& p) override {
    return go_on({p.points_done, p.points, p.warp_instructions_done, p.warp_instructions,
                  p.cost_done, p.cost});
  }

 private:
  const Sweep::State& sweep_;
};

SweepOutcome run_sweep(const Sweep::State& sweep, const SweepOptions& options) {
  const sweep::Plan& plan = sweep.plan;
  const sweep::RunOptions own = run_options(options, sweep.launches);
  const auto folder = results_folder(options.out);
  if (folder.has_value()) make_folder(options.out, "out");
  const std::string path = folder.has_value() ? folder->part(own.shard) : options.out;
  const bool is_part = own.shard.parts != 1;
  bool torn = false;
  if (folder.has_value() && !is_part) torn = sweep::join_parts(*folder, {plan.id});
  sweep::ResultsFile file(path);
  if ((torn || file.dropped_torn_line()) && options.tell)
    by_caller([&] {
      options.tell(fmt::format("the last line of '{}' was cut off; its point runs again", path));
    });
  std::error_code failed;
  if (folder.has_value() && is_part && fs::exists(folder->whole(), failed))
    file.read_also(folder->whole());
  sweep::Outcome outcome;
  if (options.only_count) {
    const sweep::Plan* const one = &plan;
    look_for_points(file, {&one, 1}, options);
    outcome = sweep::count_results(plan, own, file);
  } else {
    Surroundings surroundings(sweep, options);
    const auto runner = sweep_runner(options);
    outcome = sweep::run_sweep(plan, own, *runner, surroundings, file);
  }
  if (!options.csv.empty())
    report::write_file(options.csv, sweep::format_csv(plan, own.shard, file));
  return {outcome.points,
          outcome.already_there,
          outcome.finished,
          outcome.failed,
          outcome.failed == 0 ? "" : first_failure(plan, own.shard, file),
          outcome.stopped,
          file.path(),
          sweep::format_table(plan, file)};
}

}  // namespace

Expected<Sweep> Sweep::plan(const SweepDefinition& definition,
                            const std::function<bool(uint64_t, uint64_t)>& progress) {
  return guarded([&] {
    const sim::LaunchChoice launches = choice_of(definition);
    std::function<bool(uint64_t, uint64_t)> asked;
    if (progress)
      asked = [&](uint64_t done, uint64_t all) {
        return by_caller([&] { return progress(done, all); });
      };
    auto state =
        std::make_shared<State>(State{sweep::expand(definition_of(definition, launches), asked),
                                      launches, definition.max_repeats});
    check_programs(state->plan, asked);
    return Access::make<Sweep>(std::move(state));
  });
}

size_t Sweep::points() const { return Access::of(*this).plan.points.size(); }

Expected<SweepPoint> Sweep::point(size_t index) const {
  return guarded([&] {
    const sweep::Plan& plan = Access::of(*this).plan;
    if (index >= plan.points.size())
      throw UsageError(
          fmt::format("the sweep has no point {} - 0 to {}", index, plan.points.size() - 1));
    return point_of(plan, plan.points[index]);
  });
}

Expected<SweepOutcome> Sweep::run(const SweepOptions& options) const {
  return guarded([&] {
    check_options(options);
    return run_sweep(Access::of(*this), options);
  });
}

Expected<Done> check(const SweepOptions& options) {
  return guarded([&] {
    check_options(options);
    return Done{};
  });
}

const sweep::Plan& plan_of(const Sweep& sweep) { return Access::of(sweep).plan; }

}  // namespace nearwarp
