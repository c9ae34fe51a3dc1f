// Facts that a policy learns in a program's beginning.
#include "host/timing/run/learning.h"

#include <algorithm>
#include <optional>

#include "host/config/mechanism.h"
#include "host/core/error.h"
#include "host/recording/launch_cuts.h"
#include "host/timing/run/checkpoint.h"
#include "host/timing/run/cpu_replay.h"

namespace nearwarp::sim {
namespace {

/// Core cycles between looks at whether all is known.
constexpr uint64_t kLookCycles = 1000;

/// Launches that have begun, up to a place where the program can be divided; one more where none
/// runs, for the program goes on with it.
uint32_t launches_begun(Replay& run) {
  const frontend::DispatchState& d = run.system().front_end().dispatch;
  const auto& recorded = run.image().recorded_launch;
  const frontend::LaunchState* launches = d.launches.in(run.system().arena.base());
  const std::vector<bool> cuts = runtime::launch_cuts(run.recording());
  const auto all = static_cast<uint32_t>(cuts.size()) - 1;
  uint32_t end = 0;
  for (size_t i = 0; i < recorded.size(); ++i)
    if (launches[i].number != 0) end = recorded[i] + 1;
  if (d.ended == d.begun) end = std::min(end + 1, all);
  while (!cuts[end]) ++end;
  return end;
}

/// Looks at a run until all is known.
class Looker final : public RunWatcher {
 public:
  void begin(Replay& run) override {
    if (run.learns()) return;
    learnt_.emplace();
  }
  Tick next_look() const override { return learnt_.has_value() ? kNever : next_; }
  void look(Replay& run) override {
    next_ += kLookCycles * run.system().core_period;
    std::optional<std::vector<std::string>> all = run.learnt();
    if (all.has_value()) learnt_ = {launches_begun(run), std::move(*all)};
  }
  const std::optional<Learnt>& learnt() const { return learnt_; }

 private:
  Tick next_ = 0;
  std::optional<Learnt> learnt_;
};

Learnt learn(const ReplayJob& job, const std::function<bool()>& go_on) {
  Looker looker;
  bool stopped = false;
  SimOptions options;
  options.shape = job.shape;
  options.mechanisms = job.mechanisms;
  options.watcher = &looker;
  options.progress_interval = {};
  options.progress = [&](const Progress&) {
    stopped = !looker.learnt().has_value() && !go_on();
    return !looker.learnt().has_value() && !stopped;
  };
  replay_on_cpu(*job.recording, *job.machine, *job.policy, options);
  if (stopped) throw Interrupted("interrupted while a mapping of data was learnt");
  if (looker.learnt().has_value()) return *looker.learnt();
  return {static_cast<uint32_t>(job.recording->launches.size()), {}};
}

}  // namespace

bool learns(const config::PolicyConfig& policy) { return config::learns_mapping(policy); }

std::shared_ptr<const Learnt> learnt_by(const ReplayJob& job, const std::function<bool()>& go_on) {
  return job.recording->studies->of<Learnt>("learnt by " + run_fingerprint(job),
                                            [&] { return learn(job, go_on); });
}

uint32_t learning_launches(std::span<const ReplayJob> jobs, const std::function<bool()>& go_on) {
  uint32_t most = 0;
  for (const ReplayJob& job : jobs) {
    if (!learns(*job.policy)) continue;
    try {
      most = std::max(most, learnt_by(job, go_on)->launches);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {  // said of the job when it is run
    }
  }
  return most;
}

}  // namespace nearwarp::sim
