// Many systems at a time, on a pool of threads.
#include "host/timing/run/replay_batch.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "host/timing/run/cpu_replay.h"

namespace nearwarp::sim {
namespace {

class Pool {
 public:
  Pool(std::span<const ReplayJob> systems, BatchObserver& observer, unsigned threads)
      : systems_(systems), observer_(observer), committed_(systems.size()), each_(systems.size()) {
    workers_ = std::clamp(threads, 1u, static_cast<unsigned>(systems.size()));
    threads_per_system_ = std::max(1u, threads / workers_);
  }

  void run() {
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < workers_; ++i) helpers.emplace_back([this] { work(); });
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    while (begin_next()) {
      const size_t system = next_++;
      if (system >= systems_.size()) return;
      BatchOutcome outcome = simulated(system);
      const std::scoped_lock lock(observing_);
      guarded([&] { observer_.finished(system, std::move(outcome)); });
    }
  }

  BatchOutcome simulated(size_t system) {
    const ReplayJob& s = systems_[system];
    BatchOutcome outcome;
    try {
      SimOptions options;
      options.checkpoint = s.checkpoint;
      options.watcher = s.watcher;
      options.part = s.part;
      options.learnt = s.learnt;
      options.threads = threads_per_system_;
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

  /// The observer has the last word before a system begins.
  bool begin_next() {
    const std::scoped_lock lock(observing_);
    ask();
    return !stop_;
  }

  /// While systems run, whoever comes first asks; the others do not wait.
  bool go_on() {
    const std::unique_lock<std::mutex> lock(observing_, std::try_to_lock);
    if (lock.owns_lock()) ask();
    return !stop_;
  }

  void ask() {
    if (stop_) return;
    uint64_t sum = 0;
    for (size_t i = 0; i < committed_.size(); ++i)
      sum += each_[i] = committed_[i].load(std::memory_order_relaxed);
    guarded([&] {
      observer_.progress_of_each(each_);
      stop_ = !observer_.progress(sum);
    });
  }

  /// Keeps the first thing that the observer throws, and stops then. The mutex is held.
  template <class F>
  void guarded(F call) {
    try {
      call();
    } catch (...) {
      if (failure_ == nullptr) failure_ = std::current_exception();
      stop_ = true;
    }
  }

  std::span<const ReplayJob> systems_;
  BatchObserver& observer_;
  unsigned workers_ = 1, threads_per_system_ = 1;
  std::vector<std::atomic<uint64_t>> committed_;  ///< warp-instructions, by system
  std::vector<uint64_t> each_;                    ///< the same, as the observer is told
  std::atomic<size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex observing_;        ///< held while the observer is called
  std::exception_ptr failure_;  ///< what it threw
};

}  // namespace

void CpuBatch::run(std::span<const ReplayJob> systems, BatchObserver& observer) {
  if (!systems.empty()) Pool(systems, observer, threads_).run();
}

}  // namespace nearwarp::sim
