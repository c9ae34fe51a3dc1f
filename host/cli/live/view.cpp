// What a run that goes on looks like.
#include "host/cli/live/view.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "host/timing/report/kernels.h"
#include "host/timing/report/parts.h"
#include "host/timing/report/use_json.h"

namespace nearwarp::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// Between two samples, of the host's time; and between two looks at that, of the machine's.
constexpr auto kApart = std::chrono::milliseconds(500);
constexpr uint64_t kLookCycles = 2000;

nlohmann::ordered_json uses_json(const report::RunResult& run) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const report::SmCycles& c : run.sm_cycles) {
    nlohmann::ordered_json uses = nlohmann::ordered_json::array();
    for (size_t i = 0; i < report::kCycleUses.size(); ++i)
      uses.push_back({{"what", report::kCycleUses[i].label}, {"share", c.share(i)}});
    classes.push_back(
        {{"sms", c.sms}, {"count", c.count}, {"warps", c.resident()}, {"uses", uses}});
  }
  return classes;
}

}  // namespace

/// Of one policy. `LiveView::set()` is told what it sees.
class LiveView::Watcher final : public sim::RunWatcher {
 public:
  Watcher(LiveView& view, size_t policy) : view_(view), policy_(policy) {}

  void begin(sim::Replay& run) override {
    look_again(run);
    due_ = Clock::now();
  }
  Tick next_look() const override { return next_; }
  void look(sim::Replay& run) override {
    look_again(run);
    if (Clock::now() < due_) return;
    view_.set(policy_, run.so_far(run.cycles()), false);
    due_ = Clock::now() + kApart;
  }
  void end(sim::Replay&, const report::RunResult& result) override {
    view_.set(policy_, result, true);
  }

 private:
  /// Where it stands is beyond what was asked for if it goes on from a checkpoint, or if nothing
  /// has happened for long.
  void look_again(sim::Replay& run) {
    next_ = run.control().next + run.system().core_period * kLookCycles;
  }

  LiveView& view_;
  const size_t policy_;
  Tick next_ = 0;
  Clock::time_point due_;
};

LiveView::LiveView(const config::MachineConfig& machine, std::vector<std::string> policies)
    : machine_(machine) {
  for (size_t i = 0; i < policies.size(); ++i) {
    runs_.emplace_back().policy = std::move(policies[i]);
    watchers_.push_back(std::make_unique<Watcher>(*this, i));
  }
}

LiveView::~LiveView() = default;

sim::RunWatcher* LiveView::watcher(size_t policy) { return watchers_.at(policy).get(); }

void LiveView::begin(const std::string& program, std::span<const uint64_t> work) {
  const std::scoped_lock lock(mutex_);
  program_ = program;
  seconds_left_.reset();
  begun_ = Clock::now();
  for (size_t i = 0; i < runs_.size(); ++i) runs_[i] = {runs_[i].policy, 0, work[i], {}, {}, false};
}

void LiveView::progress(std::span<const uint64_t> done, std::optional<double> seconds_left) {
  const std::scoped_lock lock(mutex_);
  for (size_t i = 0; i < runs_.size() && i < done.size(); ++i) runs_[i].done = done[i];
  seconds_left_ = seconds_left;
}

void LiveView::set(size_t policy, report::RunResult all, bool over) {
  const std::scoped_lock lock(mutex_);
  Run& run = runs_[policy];
  if (run.all.has_value() && run.all->cycles < all.cycles)
    run.of_late = report::between(machine_, *run.all, all);
  if (!run.of_late.has_value()) run.of_late = all;
  run.all = std::move(all);
  run.over = over;
}

std::string LiveView::json() const {
  const std::scoped_lock lock(mutex_);
  nlohmann::ordered_json json = {{"program", program_}, {"machine", machine_.name}};
  json["seconds"] = std::chrono::duration<double>(Clock::now() - begun_).count();
  json["seconds_left"] = nullptr;
  if (seconds_left_.has_value()) json["seconds_left"] = *seconds_left_;
  json["runs"] = nlohmann::ordered_json::array();
  for (const Run& run : runs_) {
    const bool whole = run.over && run.all.has_value() && !run.all->partial;
    nlohmann::ordered_json one = {{"policy", run.policy},
                                  {"done", whole ? run.total : run.done},
                                  {"total", run.total},
                                  {"over", run.over}};
    if (run.all.has_value()) {
      one["cycles"] = run.all->cycles;
      one["ipc"] = run.of_late->ipc();
      one["launches"] = run.all->kernels.size();
      one["kernel"] =
          run.all->kernels.empty() ? "" : report::short_name(run.all->kernels.back().kernel);
      one["utilisation"] = report::utilisation_json(*run.of_late);
      one["sm_cycles"] = uses_json(*run.of_late);
    }
    json["runs"].push_back(std::move(one));
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace nearwarp::cli
