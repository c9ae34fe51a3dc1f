// Many systems at a time on a device: as many as fit its memory, others as these finish.
#include "host/timing/run/accelerator_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/timing/run/accelerator_replay.h"
#include "host/timing/run/replay_queue.h"

namespace nearwarp::sim {
namespace {

using kernels::Device;
using kernels::OutOfDeviceMemory;
using kernels::Stop;
using kernels::TeamSystem;

/// Systems on the device beyond those that teams can take at once that a launch waits for, so that
/// a team whose system has ended finds another before the launch is over.
constexpr uint32_t kInReserve = 4;
/// The fewest warps of a team, however many systems there are.
constexpr uint32_t kFewestWarps = 1;
/// Systems in a batch, at most: with a few dozen components due in each, several times what a large
/// device has lanes for.
constexpr size_t kMostInBatch = 4096;

std::string mebibytes(uint64_t bytes) { return fmt::format("{} MiB", (bytes + 1048575) >> 20); }

class Batch {
 public:
  Batch(Device& device, const AcceleratorBatchOptions& options, std::span<const ReplayJob> systems,
        BatchObserver& observer, double& device_seconds)
      : device_(device),
        options_(options),
        systems_(systems),
        observer_(observer),
        device_seconds_(device_seconds),
        ahead_(systems, options.window_ticks),
        committed_(systems.size()) {
    if (options.locate_fault) device.leave_footprints();
  }

  void run() {
    try {
      step_all();
    } catch (...) {  // what has ended is not lost, unless it is the observer that has failed
      while (!telling_ && !ending_.empty()) report_ended();
      throw;
    }
  }

 private:
  struct Aboard {
    size_t number;
    AcceleratorReplay on_device;
  };

  /// A run that has left the device.
  struct Ending {
    size_t number;
    std::future<report::RunResult> result;
  };
  static bool is_over(const Ending& e) {
    return e.result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  void step_all() {
    while (report_progress()) {
      admit();
      if (aboard_.empty()) {
        if (next_ == systems_.size()) break;
        continue;  // none of the last ones could be built
      }
      launch();
      serve_all();
      while (!ending_.empty() && is_over(ending_.front())) report_ended();
    }
    while (!ending_.empty()) report_ended();
    for (const std::unique_ptr<Aboard>& a : aboard_) {
      if (a->on_device.run().control().windows == 0) continue;  // not begun
      BatchOutcome outcome;
      outcome.stopped = true;
      Replay& run = a->on_device.fetch();
      run.save();
      outcome.result = run.interrupted();
      tell(a->number, std::move(outcome));
    }
  }

  void tell(size_t number, BatchOutcome outcome) {
    telling_ = true;
    observer_.finished(number, std::move(outcome));
    telling_ = false;
  }

  // --- coming and going ---

  /// As many as fit the device's memory, and teams can step at the same time. The next launch waits
  /// for as many to be laid out as there are multiprocessors; beyond them come those that are laid
  /// out already.
  void admit() {
    const size_t wanted = size_t{device_.info().blocks_at_once} + kInReserve;
    const size_t most = most_at_once() + kInReserve;
    while (next_ < systems_.size() && aboard_.size() < most && (aboard_.empty() || !full_)) {
      if (aboard_.size() >= wanted && waiting_ == nullptr && !ahead_.is_ready()) return;
      // Traces of one recording at a time.
      if (!aboard_.empty() && systems_[next_].recording != recording_) return;
      if (!take_aboard(next_)) return;
      next_ += 1;
    }
  }

  /// Can there be batches?
  bool batches() const {
    return options_.way != DeviceWay::kTeams && options_.blocks_per_team == 0 &&
           options_.team_warps == 0 && !options_.locate_fault;
  }
  bool as_batch(size_t systems) const {
    return batches() && (options_.way == DeviceWay::kBatch || is_batch(device_.info(), systems));
  }

  /// Systems that can be stepped at the same time, by teams that are as small as may be.
  size_t most_at_once() const {
    if (batches()) return kMostInBatch;
    const kernels::DeviceInfo& info = device_.info();
    const uint32_t warps = options_.team_warps != 0 ? options_.team_warps : kFewestWarps;
    return kernels::teams_at_once(info, {1, 1, std::min(warps, info.warps_per_block)});
  }

  /// False if there is no room.
  bool take_aboard(size_t number) {
    try {
      const ReplayJob& what = systems_[number];
      if (waiting_ == nullptr) waiting_ = ahead_.next();
      if (!teams_.has_value()) teams_.emplace(device_, systems_.size());
      reserve_batch();
      provide_traces(*what.recording);
      const auto image = images_.get(device_, waiting_->image());
      aboard_.push_back(std::make_unique<Aboard>(
          Aboard{number, AcceleratorReplay(device_, waiting_, image, *traces_)}));
      return true;
    } catch (const OutOfDeviceMemory& e) {
      if (!aboard_.empty()) {
        full_ = true;
        if (!said_full_)
          options_.say(fmt::format("{}'s memory holds {} systems at a time; the others wait",
                                   device_.info().name, aboard_.size()));
        said_full_ = true;
        return false;
      }
      fail(number, std::make_exception_ptr(Error(
                       fmt::format("{} on {}'s memory ({} free) - take `backend` cpu", e.what(),
                                   device_.info().name, mebibytes(device_.free_bytes())))));
    } catch (const Error&) {
      fail(number, std::current_exception());
    }
    waiting_.reset();
    return true;
  }

  /// For a launch with one system more than there are.
  void reserve_batch() {
    if (!batches()) return;
    size_t components = waiting_->system().components().size();
    for (const std::unique_ptr<Aboard>& a : aboard_)
      components += a->on_device.run().system().components().size();
    batch_.reserve(aboard_.size() + 1, components);
  }

  void provide_traces(const runtime::Recording& recording) {
    if (recording_ == &recording) return;
    recording_ = nullptr;
    traces_.reset();
    traces_ = std::make_unique<DeviceTraces>(device_, recording);
    recording_ = &recording;
  }

  void fail(size_t number, std::exception_ptr error) {
    BatchOutcome outcome;
    outcome.error = std::move(error);
    committed_[number] = systems_[number].recording->warp_instructions;
    tell(number, std::move(outcome));
  }

  // --- stepping ---

  void launch() {
    try {
      if (as_batch(aboard_.size()))
        launch_batch();
      else
        launch_teams();
    } catch (const kernels::DeviceError& error) {
      throw Error(fmt::format("{} failed: {} ({})", device_.info().name, error.what(), place()));
    }
  }

  void launch_batch() {
    std::vector<kernels::BatchMember> members;
    for (const std::unique_ptr<Aboard>& a : aboard_) members.push_back(a->on_device.batch_member());
    device_seconds_ += batch_.run(members, options_.slice).seconds;
    for (size_t i = 0; i < members.size(); ++i)
      aboard_[i]->on_device.take(members[i].run.control, members[i].committed);
  }

  void launch_teams() {
    const auto count = static_cast<uint32_t>(aboard_.size());
    const kernels::TeamShape shape = shape_for(count);
    std::vector<TeamSystem> table;
    for (const std::unique_ptr<Aboard>& a : aboard_)
      table.push_back(a->on_device.team_system(shape, options_.locate_fault ? 1 : 0));
    device_seconds_ += teams_->run(table, shape, options_.slice).seconds;
    for (uint32_t i = 0; i < count; ++i)
      aboard_[i]->on_device.take(table[i].run.control, teams_->committed(i));
  }

  kernels::TeamShape shape_for(uint32_t count) const {
    const kernels::DeviceInfo& info = device_.info();
    if (options_.locate_fault) return {1, 1, info.warps_per_block};
    kernels::TeamShape shape =
        team_shape(info, count, aboard_.front()->on_device.run().system().table.count);
    if (options_.blocks_per_team != 0) shape = {1, options_.blocks_per_team, info.warps_per_block};
    if (options_.team_warps != 0) shape = {1, 1, options_.team_warps};
    shape.teams = std::max(1u, std::min(count, kernels::teams_at_once(info, shape)));
    return shape;
  }

  /// Where a launch has failed.
  std::string place() const {
    if (!options_.locate_fault) return "`locate_fault` finds the component and the tick, slowly";
    const kernels::Footprint f = device_.footprint();
    Aboard& a = *aboard_[f.system];
    const ReplayJob& what = systems_[a.number];
    System& system = a.on_device.run().system();
    return fmt::format("in {} of {} under {}, in the window from tick {} on, core cycle {}",
                       system.nodes[f.component].name, what.recording->name, what.policy->name,
                       f.tick, f.tick / system.core_period);
  }

  void serve_all() {
    std::erase_if(aboard_, [&](const std::unique_ptr<Aboard>& a) { return !serve(*a); });
  }

  /// The host's part after a launch; false if the system has left.
  bool serve(Aboard& a) {
    BatchOutcome outcome;
    std::unique_ptr<Replay> ended;
    try {
      switch (a.on_device.stop()) {
        case Stop::kEnded:
          ended = a.on_device.leave();
          break;
        case Stop::kHost:
          a.on_device.fetch().serve();
          a.on_device.put_back();
          return true;
        case Stop::kLimit:
          if (a.on_device.is_over()) {
            ended = a.on_device.leave();
            break;
          }
          [[fallthrough]];
        case Stop::kNone:
        case Stop::kSlice:
          if (a.on_device.run().is_stuck(a.on_device.committed())) a.on_device.fetch().fail_stuck();
          if (a.on_device.run().is_time_to_save()) a.on_device.fetch().save();
          return true;
      }
    } catch (const Error&) {
      outcome.error = std::current_exception();
    }
    committed_[a.number] = systems_[a.number].recording->warp_instructions;
    full_ = false;
    if (ended != nullptr)
      end(a.number, std::move(ended));
    else
      tell(a.number, std::move(outcome));
    return false;
  }

  /// A run is at its end: have its result worked out while the device goes on.
  void end(size_t number, std::unique_ptr<Replay> run) {
    while (ending_.size() >= threads_) report_ended();
    ending_.push_back({number, std::async(std::launch::async, [run = std::move(run)]() mutable {
                         run->save();
                         report::RunResult result = run->finish();
                         run.reset();
                         return result;
                       })});
  }

  /// Tell of the one that ended first; waits for its result.
  void report_ended() {
    Ending first = std::move(ending_.front());
    ending_.pop_front();
    BatchOutcome outcome;
    try {
      outcome.result = first.result.get();
    } catch (...) {
      outcome.error = std::current_exception();
    }
    tell(first.number, std::move(outcome));
  }

  bool report_progress() {
    for (const std::unique_ptr<Aboard>& a : aboard_)
      committed_[a->number] = a->on_device.committed();
    observer_.progress_of_each(committed_);
    return observer_.progress(std::accumulate(committed_.begin(), committed_.end(), uint64_t{0}));
  }

  Device& device_;
  const AcceleratorBatchOptions& options_;
  std::span<const ReplayJob> systems_;
  BatchObserver& observer_;
  bool telling_ = false;  ///< it is being told of an outcome, or has thrown then
  double& device_seconds_;
  ReplayQueue ahead_;
  size_t next_ = 0;                  ///< system that has not been taken aboard
  std::unique_ptr<Replay> waiting_;  ///< its run, if there was no room for it
  bool full_ = false, said_full_ = false;
  std::vector<uint64_t> committed_;                ///< warp-instructions, by system
  const runtime::Recording* recording_ = nullptr;  ///< whose traces are on the device
  std::unique_ptr<DeviceTraces> traces_;
  DeviceImages images_;
  std::optional<kernels::TeamLauncher> teams_;
  kernels::BatchLauncher batch_{device_};
  std::vector<std::unique_ptr<Aboard>> aboard_;  ///< in the order in which they came
  const size_t threads_ = processors();
  std::deque<Ending> ending_;
};

}  // namespace

AcceleratorBatch::AcceleratorBatch(Device& device, AcceleratorBatchOptions options)
    : device_(device), options_(std::move(options)) {}

void AcceleratorBatch::run(std::span<const ReplayJob> systems, BatchObserver& observer) {
  device_seconds_ = 0;
  if (std::any_of(systems.begin(), systems.end(),
                  [](const ReplayJob& s) { return s.part.has_value(); }))
    throw Error("parts of programs are simulated on the CPU only - take `backend` cpu");
  try {
    Batch(device_, options_, systems, observer, device_seconds_).run();
  } catch (const kernels::DeviceError& error) {
    throw Error(fmt::format("{} failed: {}", device_.info().name, error.what()));
  }
}

bool is_batch(const kernels::DeviceInfo& device, size_t systems) {
  // Estimated: what a batch gives grows with its systems, what a device full of teams gives does
  // not.
  return systems > device.multiprocessors / 2;
}

kernels::TeamShape team_shape(const kernels::DeviceInfo& device, uint32_t systems,
                              uint32_t components) {
  kernels::TeamShape shape;
  shape.warps = device.warps_per_block;
  // Larger teams as long as there is a place for all systems, and work for all warps.
  while (shape.blocks * 2 <= device.largest_team &&
         uint64_t{shape.blocks} * 2 * systems <= device.blocks_at_once &&
         shape.team_warps() < components)
    shape.blocks *= 2;
  // Smaller ones until there is.
  while (shape.warps > kFewestWarps && kernels::teams_at_once(device, shape) < systems)
    shape.warps /= 2;
  shape.teams = std::max(1u, std::min(systems, kernels::teams_at_once(device, shape)));
  return shape;
}

}  // namespace nearwarp::sim
