// The common parts of sweeps and of experiments, which are several of them.
#include "host/api/sweeps.h"

#include <fmt/format.h>

#include "host/api/backend.h"
#include "host/core/error.h"
#include "host/timing/report/file.h"

namespace nearwarp {
namespace {

BatchOptions batch_options(const SweepOptions& options) {
  BatchOptions batch;
  batch.threads = options.threads;
  batch.backend = options.backend;
  batch.device = options.device;
  batch.locate_fault = options.locate_fault;
  batch.tell = options.tell;
  return batch;
}

}  // namespace

void look_for_points(sweep::ResultsFile& file, std::span<const sweep::Plan* const> plans,
                     const SweepOptions& options) {
  file.place(plans, [&] {
    return !options.progress || by_caller([&] { return options.progress(SweepProgress()); });
  });
}

std::string first_failure(const sweep::Plan& plan, const sweep::Shard& part,
                          const sweep::ResultsFile& file) {
  for (size_t i = 0; i < plan.points.size(); ++i) {
    const sweep::ResultsFile::Entry* there = part.has(i) ? find_point(plan, file, i) : nullptr;
    if (there == nullptr || !there->second.failed()) continue;
    const sweep::Point point = plan.placed(i);
    std::string title =
        fmt::format("{} on {} under {}", plan.definition.programs[point.program].name,
                    plan.machine_name(point), plan.policy_name(point));
    for (const std::string& change : plan.overrides(point)) title += ", " + change;
    return fmt::format("{}: {}", title, there->second.error);
  }
  return "";
}

sweep::RunOptions run_options(const SweepOptions& options, const sim::LaunchChoice& launches) {
  sweep::RunOptions own;
  if (!options.part.empty()) own.shard = sweep::parse_shard(options.part, "part");
  own.retry = options.retry;
  own.checkpoints = options.checkpoints;
  if (!launches.given) return own;
  if (options.backend != "cpu")
    throw UsageError("launches and sample work on the CPU - take backend \"cpu\"");
  if (!options.checkpoints.empty())
    throw UsageError("checkpoints are of whole programs - leave launches and sample out");
  own.divide = [launches](const runtime::Recording& recording,
                          const runtime::DivisionNeeds& needs) {
    return sim::division_of(launches, recording, needs);
  };
  return own;
}

void check_options(const SweepOptions& options) {
  if (options.out.empty())
    throw UsageError("out is missing - name a file or folder for the results");
  if (!options.part.empty()) sweep::parse_shard(options.part, "part");
  if (const Expected<Done> batch = check(batch_options(options)); !batch)
    throw UsageError(batch.failure().message);
  if (!options.csv.empty()) report::check_writable(options.csv);
}

std::unique_ptr<sim::BatchRunner> sweep_runner(const SweepOptions& options) {
  return batch_runner(batch_options(options));
}

ProgramOptions AskedOfSweep::program_options() {
  ProgramOptions own;
  own.cache = options_.cache;
  own.progress = [this](const Activity& activity) {
    stopped_ = stopped_ || (options_.program && !options_.program(activity));
    return !stopped_;
  };
  own.tell = options_.tell;
  return own;
}

SweepPoint point_of(const sweep::Plan& plan, const sweep::Point& point) {
  const sweep::Program& program = plan.definition.programs[point.program];
  return {point.index,
          program.name,
          program.size,
          plan.machine_name(point),
          plan.policy_name(point),
          plan.overrides(point),
          point.id,
          point.error};
}

}  // namespace nearwarp
