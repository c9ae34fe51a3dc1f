// Many systems at a time: the interface of what simulates them, and the one that does it on the
// CPU.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>

#include "host/timing/report/result.h"
#include "host/timing/run/replay.h"

namespace nearwarp::sim {

/// The outcome of a system's run.
struct BatchOutcome {
  std::optional<report::RunResult> result;  ///< as of replay_on_cpu(); nothing if it failed
  std::exception_ptr error;                 ///< why it failed
  bool stopped = false;  ///< the observer stopped the batch: the result is partial
};

/// Is told how a batch gets on. Calls come one at a time, from any thread; what they throw ends the
/// batch and leaves BatchRunner::run().
class BatchObserver {
 public:
  virtual ~BatchObserver() = default;
  /// `system`, an index into the batch, has come to its end. Systems end in any order.
  virtual void finished(size_t system, BatchOutcome outcome) = 0;
  /// Called some times a second, and before a system begins, with the warp-instructions that all
  /// systems have committed so far. Returns false to stop: running systems end partially, others
  /// are not begun.
  virtual bool progress(uint64_t warp_instructions) = 0;
  /// Called before it, with those of each system.
  virtual void progress_of_each(std::span<const uint64_t> /*warp_instructions*/) {}
  /// Called if more is to be done than work_of() said: what each system comes to, done and to do.
  virtual void work_of_each(std::span<const uint64_t> /*warp_instructions*/) {}
};

/// How many of so many threads a system has, if so many systems are left, of which so many come
/// before it: all are used, none by two.
constexpr unsigned threads_of_system(unsigned threads, size_t left, size_t before) {
  if (left >= threads) return 1;
  return static_cast<unsigned>(threads / left + (before < threads % left ? 1 : 0));
}

/// Simulates batches of systems. Results do not depend on which runner does it, nor on what else is
/// in the batch.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  /// Returns when every system has come to its end or the observer has stopped the batch.
  virtual void run(std::span<const ReplayJob> systems, BatchObserver& observer) = 0;
};

/// A pool of threads on the CPU: whole systems in parallel, and several threads for a system as
/// soon as there are more threads than systems that have not ended.
class CpuBatch final : public BatchRunner {
 public:
  explicit CpuBatch(unsigned threads) : threads_(threads) {}
  void run(std::span<const ReplayJob> systems, BatchObserver& observer) override;

 private:
  unsigned threads_;
};

}  // namespace nearwarp::sim
