// Steps a system's components through windows on the CPU, with one thread or a fixed pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "kernels/component.h"

namespace nearwarp::kernels {

/// How windows are stepped. Results do not depend on any of it; tests vary it to prove that.
struct ExecutorOptions {
  unsigned threads = 1;
  uint32_t order_seed = 0;     ///< 0: components in order; else a new shuffled order per window
  uint32_t shuffle_lanes = 0;  ///< 0: lanes in order; else the seed of a ShuffledGroup
};

class CpuExecutor {
 public:
  CpuExecutor(std::span<Component> components, const ExecutorOptions& options);
  ~CpuExecutor();
  CpuExecutor(const CpuExecutor&) = delete;
  CpuExecutor& operator=(const CpuExecutor&) = delete;

  /// Step everything that is due through `window`. Returns the earliest tick at which anything in
  /// the machine can happen next: the next window begins there; kNever if all components sleep.
  Tick step(const sm::SystemView& system, const Window& window);

 private:
  struct alignas(64) Worker {
    std::vector<uint32_t> components;
    Tick next = kNever;
    uint64_t random = 0;
  };
  void step_worker(Worker& worker);
  void worker_loop(unsigned index);
  void wait_for_round(uint32_t round);

  std::span<Component> components_;
  ExecutorOptions options_;
  std::vector<Worker> workers_;
  std::vector<std::thread> threads_;
  const sm::SystemView* system_ = nullptr;
  Window window_;
  alignas(64) std::atomic<uint32_t> round_{0};    ///< advanced by the main thread
  alignas(64) std::atomic<uint32_t> pending_{0};  ///< workers that have not finished the round
  std::atomic<bool> stop_{false};
};

}  // namespace nearwarp::kernels
