// Runs of which some are simulated in parts.
#include "host/timing/run/divided_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/core/error.h"
#include "host/core/student.h"
#include "host/recording/sample_units.h"
#include "host/timing/report/parts.h"
#include "host/timing/run/launch_part.h"
#include "host/timing/run/learning.h"

namespace nearwarp::sim {
namespace {

report::SampleReport report_of(const runtime::LaunchSample& sample,
                               const std::vector<report::RunResult>& parts,
                               const std::vector<report::PartWeight>& weights) {
  report::SampleReport r;
  r.error = sample.error;
  r.units = sample.units;
  r.launches = sample.launches;
  r.divided = sample.divided;
  r.simulated = sample.simulated;
  r.expectation = runtime::kExpectationWeighs;
  r.by_load = sample.by_load;
  r.start_error = runtime::kStartError;
  for (const runtime::SampleStratum& s : sample.strata)
    r.strata.push_back({s.kernels, s.group, s.has_line, s.units, s.sampled, s.spread});
  for (size_t i = 0; i < parts.size(); ++i) {
    const runtime::SampleUnit& u = sample.parts[i];
    const report::LaunchesReport& l = *parts[i].launches;
    const bool itself = u.stratum == runtime::SampleUnit::kItself;
    r.parts.push_back(
        {l.first, l.last, itself ? report::SampledLaunches::kItself : u.stratum, u.weight, u.size,
         static_cast<uint64_t>(
             std::llround(static_cast<double>(parts[i].cycles) * weights[i].times / u.weight)),
         l.blocks});
  }
  return r;
}

/// How much faster the second halves are of what was simulated inside launches than the first:
/// machines that were not warmed enough get faster or slower yet.
struct Trend {
  std::vector<double> of_parts = {};

  void add(const std::vector<report::RunResult>& halves) {
    const auto rate = [](const report::RunResult& r) {
      return static_cast<double>(r.launches->blocks->instructions) /
             static_cast<double>(std::max<uint64_t>(1, r.cycles));
    };
    if (const double first = rate(halves.at(0)); first > 0)
      of_parts.push_back(rate(halves.at(1)) / first - 1);
  }
  double mean() const {
    double sum = 0;
    for (const double t : of_parts) sum += t;
    return of_parts.empty() ? 0 : sum / static_cast<double>(of_parts.size());
  }
  /// The error left by too little warming: results are off by half the trend at most.
  double bias() const { return std::abs(mean()) / 2; }
  /// Is the bias more than this, and more than chance, at 95 % confidence?
  bool is_more_than(double error) const {
    const auto n = static_cast<double>(of_parts.size());
    if (n < 2 || bias() <= error) return false;
    double squares = 0;
    for (const double t : of_parts) squares += (t - mean()) * (t - mean());
    return std::abs(mean()) > student_95(n - 1) * std::sqrt(squares / (n - 1) / n);
  }
};

/// The whole program's, of which these parts are a sample.
report::RunResult extrapolated(const ReplayJob& whole, const runtime::LaunchSample& sample,
                               std::vector<report::RunResult> parts, const Trend& trend) {
  std::vector<report::PartWeight> weights;
  double cycles = 0, inside = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const runtime::SampleUnit& u = sample.parts.at(i);
    weights.push_back({u.weight, u.weight, u.share});
    // The instructions committed while thread blocks were dispatched are more or less than theirs.
    if (u.instructions != 0 && parts[i].launches->blocks->instructions != 0)
      weights.back().times *=
          u.instructions / static_cast<double>(parts[i].launches->blocks->instructions);
    const double counts = weights.back().times * static_cast<double>(parts[i].cycles);
    cycles += counts;
    if (u.instructions != 0) inside += counts;
  }
  report::SampleReport sampled = report_of(sample, parts, weights);
  if (cycles > 0)
    sampled.start_error = std::hypot(
        sampled.start_error, std::hypot(runtime::kInsideError, trend.bias()) * inside / cycles);
  report::RunResult all = report::extrapolated(*whole.machine, std::move(parts), weights);
  // Totals that are known of all launches are not estimated.
  if (!all.partial) {
    all.warp_instructions = whole.recording->warp_instructions;
    all.thread_instructions = whole.recording->thread_instructions;
  }
  all.launches->first = 1;
  all.launches->last = all.launches->of;
  all.launches->exact = false;
  all.launches->blocks = {};
  all.launches->sample = std::move(sampled);
  return all;
}

/// The division that was asked for, in words for where it is given up.
std::string asked_for(const runtime::Division& division) {
  return division.sample.has_value() ? runtime::sample_within(division.sample->error)
                                     : "a division into parts";
}

/// Why the parts of a job's division stand for nothing; empty if they can be simulated.
std::string why_not_in_parts(const DividedJob& job) {
  if (std::string why = why_no_parts(*job.whole.policy); !why.empty()) return why;
  const std::vector<runtime::LaunchPart>& parts = job.division->parts;
  const runtime::Recording& recording = *job.whole.recording;
  // A range of launches that was asked for is simulated by itself, whichever SM it begins with.
  if (!job.division->sample.has_value() &&
      (parts.front().first != 0 || parts.back().end != recording.launches.size()))
    return "";
  const auto launch =
      first_unknown_sm(recording, *job.whole.machine, *job.whole.policy, parts.back().begin);
  if (!launch.has_value()) return "";
  return fmt::format(
      "the SM that runs a thread block decides how far its data is away, and after launch {}, "
      "whose thread blocks do not all fit on the machine at once, which one that is depends on "
      "time",
      *launch + 1);
}

/// Is the job simulated in parts?
bool is_divided(const DividedJob& job) {
  return job.division != nullptr && !job.division->parts.empty() && why_not_in_parts(job).empty();
}

/// The systems that are simulated for a job.
struct Systems {
  std::vector<ReplayJob> jobs;
  std::optional<report::InOneGo> in_one_go = {};  ///< why it is one, if parts were asked for
};

/// A job's parts, each with what its policy has learnt before it; all in one go where that takes
/// all launches, or cannot be done.
Systems systems_of(const DividedJob& job, const std::function<bool()>& go_on) {
  if (!is_divided(job)) {
    Systems whole{{job.whole}};
    if (job.division == nullptr) return whole;
    if (const auto& why = job.division->in_one_go; why.has_value())
      whole.in_one_go = {why->tried, why->why};
    else if (!job.division->parts.empty())
      whole.in_one_go = {asked_for(*job.division), why_not_in_parts(job)};
    return whole;
  }
  std::shared_ptr<const Learnt> learnt;
  if (learns(*job.whole.policy)) learnt = learnt_by(job.whole, go_on);
  const std::vector<runtime::LaunchPart>& parts = job.division->parts;
  if (learnt != nullptr && parts.size() > 1 &&
      learnt->launches >= job.whole.recording->launches.size())
    return {{job.whole},
            report::InOneGo{asked_for(*job.division),
                            "the policy learns until the program's last launches have begun"}};
  std::vector<ReplayJob> systems;
  for (const runtime::LaunchPart& part : parts) {
    ReplayJob& system = systems.emplace_back(job.whole);
    system.part = part;
    if (learnt == nullptr || part.begin == 0) continue;
    if (part.first < learnt->launches) {
      system.part->begin = 0;
      system.part->warm = false;
    } else if (learnt->launches != 0) {
      system.learnt = learnt;
    }
  }
  return {std::move(systems)};
}

/// Makes a run in one go one that says why it is.
void say_why(const ReplayJob& whole, const std::optional<report::InOneGo>& why,
             BatchOutcome& outcome) {
  if (!why.has_value() || !outcome.result.has_value() || outcome.result->partial) return;
  report::LaunchesReport& l = outcome.result->launches.emplace();
  l.of = l.last = l.simulated = whole.recording->launches.size();
  l.parts = {1};
  l.exact = true;
  l.in_one_go = why;
}

/// Why a sample is no sound one.
report::InOneGo given_up(const report::LaunchesReport& l, const Trend& trend, bool has_empty) {
  const report::SampleReport& s = *l.sample;
  const auto runs = std::ranges::count_if(
      s.parts, [](const report::SampledLaunches& p) { return p.blocks.has_value(); });
  const double percent = 100 * std::abs(trend.mean());
  return {
      fmt::format("{}, of {} launches and {} runs of thread blocks inside {} long ones ({:.0f} "
                  "% of the program's instructions),",
                  runtime::sample_within(s.error), s.launches, runs, s.divided, 100 * s.simulated),
      has_empty ? "some of these thread blocks took no time of their own"
                : fmt::format("the second halves of these runs were {:.1f} % {} than the "
                              "first, as on a machine that has not been warmed enough",
                              percent, trend.mean() > 0 ? "faster" : "slower")};
}

/// A job whose sample is none.
struct Unsound {
  size_t job = 0;
  report::InOneGo why;
};

/// Makes a job's parts systems of the batch, and their outcomes the job's.
class PartsOfJobs final : public BatchObserver {
 public:
  PartsOfJobs(std::span<const DividedJob> jobs, BatchObserver& observer)
      : jobs_(jobs), observer_(observer), each_(jobs.size()) {
    for (const DividedJob& job : jobs) {
      first_.push_back(systems_.size());
      Systems systems{{job.whole}};
      try {
        systems = systems_of(job, [&] { return observer.progress(0); });
      } catch (const Error&) {  // of a run in one go it is what it is of this one
      }
      std::ranges::move(systems.jobs, std::back_inserter(systems_));
      in_one_go_.push_back(std::move(systems.in_one_go));
    }
    first_.push_back(systems_.size());
    for (size_t i = 0; i < jobs.size(); ++i) {
      job_of_.resize(first_[i + 1], i);
      left_.push_back(first_[i + 1] - first_[i]);
    }
    outcomes_.resize(systems_.size());
  }

  std::span<const ReplayJob> systems() const { return systems_; }

  void finished(size_t system, BatchOutcome outcome) override {
    outcomes_[system] = std::move(outcome);
    const size_t job = job_of_[system];
    if (--left_[job] != 0) return;
    Trend trend;
    // Thread blocks that took no time ended before the machine could be looked at twice.
    const auto is_empty = [](const BatchOutcome& part) {
      return part.result.has_value() && part.result->launches.has_value() &&
             part.result->launches->blocks.has_value() && part.result->cycles == 0;
    };
    bool has_empty = false;
    for (size_t i = first_[job]; i < first_[job + 1]; ++i) has_empty |= is_empty(outcomes_[i]);
    BatchOutcome all = joined(job, trend);
    say_why(jobs_[job].whole, in_one_go_[job], all);
    if (all.result.has_value() && !all.result->partial && all.result->launches.has_value() &&
        all.result->launches->sample.has_value() &&
        (has_empty || trend.is_more_than(all.result->launches->sample->error)))
      unsound_.push_back({job, given_up(*all.result->launches, trend, has_empty)});
    else
      observer_.finished(job, std::move(all));
  }
  /// Jobs whose launches cannot be sampled inside, as it turned out.
  const std::vector<Unsound>& unsound() const { return unsound_; }
  void progress_of_each(std::span<const uint64_t> warp_instructions) override {
    std::fill(each_.begin(), each_.end(), 0);
    for (size_t i = 0; i < warp_instructions.size(); ++i) each_[job_of_[i]] += warp_instructions[i];
    observer_.progress_of_each(each_);
  }
  bool progress(uint64_t warp_instructions) override {
    return observer_.progress(warp_instructions);
  }

 private:
  BatchOutcome joined(size_t job, Trend& trend) {
    const std::span<BatchOutcome> outcomes =
        std::span(outcomes_).subspan(first_[job], first_[job + 1] - first_[job]);
    BatchOutcome all;
    std::vector<report::RunResult> results;
    size_t ended = 0;
    for (BatchOutcome& outcome : outcomes) {
      all.stopped |= outcome.stopped;
      if (all.error == nullptr) all.error = outcome.error;
      ended += outcome.result.has_value() ? 1 : 0;
      if (outcome.result.has_value()) {
        std::vector<report::RunResult> pieces = std::move(outcome.result->pieces);
        const auto& l = outcome.result->launches;
        const bool in_halves = !pieces.empty() && l.has_value() && l->blocks.has_value();
        if (in_halves) {
          trend.add(pieces);
          pieces.clear();
        }
        if (pieces.empty()) pieces.push_back(std::move(*outcome.result));
        std::ranges::move(pieces, std::back_inserter(results));
      }
      outcome = {};
    }
    if (all.error != nullptr || results.empty()) return all;
    const DividedJob& j = jobs_[job];
    const bool in_parts = ended == outcomes.size() && results[0].launches.has_value();
    if (in_parts && j.division->sample.has_value())
      all.result = extrapolated(j.whole, *j.division->sample, std::move(results), trend);
    else
      all.result = results.size() == 1 ? std::move(results[0])
                                       : report::joined(*j.whole.machine, std::move(results));
    return all;
  }

  std::span<const DividedJob> jobs_;
  BatchObserver& observer_;
  std::vector<ReplayJob> systems_;
  std::vector<size_t> first_;   ///< [job]: its first system; one more for the end
  std::vector<size_t> job_of_;  ///< [system]
  std::vector<size_t> left_;    ///< [job]: systems that have not ended
  std::vector<BatchOutcome> outcomes_;
  std::vector<std::optional<report::InOneGo>> in_one_go_;  ///< [job]
  std::vector<Unsound> unsound_;
  std::vector<uint64_t> each_;  ///< [job]: warp-instructions committed so far
};

/// Jobs of others, in one go each.
class WholeJobs final : public BatchObserver {
 public:
  WholeJobs(std::span<const DividedJob> jobs, const std::vector<Unsound>& which,
            BatchObserver& observer)
      : which_(which), observer_(observer) {
    for (const DividedJob& job : jobs) parts_.push_back(work_of(job));
    each_ = parts_;
    for (const Unsound& u : which) {
      systems_.push_back(jobs[u.job].whole);
      each_[u.job] += work_of(systems_.back());
    }
    observer_.work_of_each(each_);
  }
  std::span<const ReplayJob> systems() const { return systems_; }

  void finished(size_t system, BatchOutcome outcome) override {
    say_why(systems_[system], which_[system].why, outcome);
    observer_.finished(which_[system].job, std::move(outcome));
  }
  bool progress(uint64_t warp_instructions) override {
    return observer_.progress(std::accumulate(parts_.begin(), parts_.end(), warp_instructions));
  }
  void progress_of_each(std::span<const uint64_t> warp_instructions) override {
    each_ = parts_;
    for (size_t i = 0; i < warp_instructions.size(); ++i)
      each_[which_[i].job] += warp_instructions[i];
    observer_.progress_of_each(each_);
  }

 private:
  std::vector<uint64_t> parts_;  ///< [job]: warp-instructions of its parts, which are done
  std::vector<uint64_t> each_;   ///< [job]: those of what is simulated whole, too
  const std::vector<Unsound>& which_;
  BatchObserver& observer_;
  std::vector<ReplayJob> systems_;
};

}  // namespace

uint64_t work_of(const DividedJob& job) {
  if (!is_divided(job)) return work_of(job.whole);
  uint64_t sum = 0;
  ReplayJob system = job.whole;
  for (const runtime::LaunchPart& part : job.division->parts) {
    system.part = part;
    sum += work_of(system);
  }
  return sum;
}

void run_divided(BatchRunner& runner, std::span<const DividedJob> jobs, BatchObserver& observer) {
  PartsOfJobs parts(jobs, observer);
  runner.run(parts.systems(), parts);
  if (parts.unsound().empty()) return;
  WholeJobs whole(jobs, parts.unsound(), observer);
  runner.run(whole.systems(), whole);
}

}  // namespace nearwarp::sim
