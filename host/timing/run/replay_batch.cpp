// Many systems at a time, shared among threads.
#include "host/timing/run/replay_batch.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "host/core/workers.h"
#include "host/timing/run/cpu_replay.h"

namespace nearwarp::sim {
namespace {

class Systems {
 public:
  Systems(std::span<const ReplayJob> systems, BatchObserver& observer, unsigned threads)
      : systems_(systems),
        observer_(observer),
        committed_(systems.size()),
        each_(systems.size()),
        workers_(systems.size(), threads),
        threads_(threads),
        has_ended_(systems.size()),
        left_(systems.size()) {}

  void run() {
    ask();
    workers_.run([this](size_t system, unsigned) {
      BatchOutcome outcome = simulated(system);
      has_ended_[system].store(true, std::memory_order_relaxed);
      left_.fetch_sub(1, std::memory_order_relaxed);
      const std::scoped_lock lock(observing_);
      observer_.finished(system, std::move(outcome));
      ask();
    });
  }

 private:
  BatchOutcome simulated(size_t system) {
    const ReplayJob& s = systems_[system];
    BatchOutcome outcome;
    try {
      SimOptions options;
      options.checkpoint = s.checkpoint;
      options.watcher = s.watcher;
      options.part = s.part;
      options.learnt = s.learnt;
      options.threads = threads_of(system);
      options.threads_now = [&] { return threads_of(system); };
      options.progress = [&](const Progress& progress) {
        committed_[system].store(progress.warp_instructions_done, std::memory_order_relaxed);
        outcome.stopped = !go_on();
        return !outcome.stopped;
      };
      outcome.result = replay_on_cpu(*s.recording, *s.machine, *s.policy, options);
    } catch (...) {
      outcome.error = std::current_exception();
    }
    committed_[system].store(work_of(s), std::memory_order_relaxed);
    return outcome;
  }

  /// Threads for which no system is left help those that are running.
  unsigned threads_of(size_t system) const {
    const size_t left = left_.load(std::memory_order_relaxed);
    if (left >= threads_) return 1;
    size_t before = 0;
    for (size_t i = 0; i < system; ++i)
      before += has_ended_[i].load(std::memory_order_relaxed) ? 0 : 1;
    return threads_of_system(threads_, std::max<size_t>(1, left), before);
  }

  /// While systems run, one thread at a time asks the observer; the others do not wait for it.
  bool go_on() {
    const std::unique_lock<std::mutex> lock(observing_, std::try_to_lock);
    if (lock.owns_lock()) ask();
    return !workers_.stopped();
  }

  /// May more be done? Asked before the first system, whenever one has ended, and while they run.
  /// An exception of the observer stops all, and is no error of the system that is running.
  void ask() {
    if (workers_.stopped()) return;
    uint64_t sum = 0;
    for (size_t i = 0; i < committed_.size(); ++i)
      sum += each_[i] = committed_[i].load(std::memory_order_relaxed);
    try {
      observer_.progress_of_each(each_);
      if (!observer_.progress(sum)) workers_.stop();
    } catch (...) {
      workers_.fail();
    }
  }

  std::span<const ReplayJob> systems_;
  BatchObserver& observer_;
  std::vector<std::atomic<uint64_t>> committed_;  ///< warp-instructions, by system
  std::vector<uint64_t> each_;                    ///< the same, as the observer is told
  Workers workers_;
  unsigned threads_;
  std::vector<std::atomic<bool>> has_ended_;  ///< by system
  std::atomic<size_t> left_;                  ///< systems that have not ended
  std::mutex observing_;                      ///< held while the observer is called
};

}  // namespace

void CpuBatch::run(std::span<const ReplayJob> systems, BatchObserver& observer) {
  if (!systems.empty()) Systems(systems, observer, threads_).run();
}

}  // namespace nearwarp::sim
