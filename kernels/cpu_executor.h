// Steps a system's components through windows on the CPU, with one thread or a fixed pool.
//
// Every thread has its share of the components, divided into a few portions. A thread claims its
// own portions first and then steals other threads' unclaimed ones. So a thread that has lost its
// core to another process delays a window by one portion at most.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "kernels/due_ticks.h"
#include "kernels/run_control.h"
#include "kernels/safe_times.h"

namespace nearwarp::kernels {

/// The function that steps components.
enum class Way : uint8_t {
  kDue,        ///< step_due()
  kCluster,    ///< step_cluster()
  kSafeTimes,  ///< SafeTimes::step_sms()
  kCatchUp,    ///< SafeTimes::catch_up()
};

/// Work of a thread in a window: components to step, and what it needs for that.
struct Work {
  Way way = Way::kDue;
  std::span<Component> components;
  std::span<const uint32_t> places;  ///< in DueTicks
  const sm::SystemView& system;
  Window window;
  DueView due;
  SafeTimes& safe_times;
  std::vector<SafeTimes::Late>& late;
};

/// Steps components of one family: step_on_cpu<Family>.
using StepOnCpu = Tick (*)(const Work& work);

template <class Family>
Tick step_on_cpu(const Work& w) {
  switch (w.way) {
    case Way::kCluster:
      return step_cluster<Family>(w.components, w.places, w.system, w.window, w.due);
    case Way::kSafeTimes:
      return w.safe_times.step_sms<Family>(w.components, w.places, w.system, w.due, w.late);
    case Way::kCatchUp:
      return w.safe_times.catch_up<Family>(w.components, w.system, w.due, w.late);
    default:
      return step_due<Family>(w.components, w.places, w.system, w.window, w.due);
  }
}

/// Options for stepping windows. Results do not depend on any of them, which tests show.
struct ExecutorOptions {
  unsigned threads = 1;
  uint32_t order_seed = 0;     ///< 0: components in order; else a new shuffled order per window
  StepOnCpu family = nullptr;  ///< steps the components' family; null: the ProductFamily
  /// Safe times: with them run()'s windows may be longer than the latency of the control channels.
  SafeTimePlan safe_times = {};
};

class CpuExecutor {
 public:
  /// Starts no more threads than there are components. Throws std::system_error if the host cannot
  /// start them.
  CpuExecutor(std::span<Component> components, const ExecutorOptions& options);
  ~CpuExecutor();
  CpuExecutor(const CpuExecutor&) = delete;
  CpuExecutor& operator=(const CpuExecutor&) = delete;

  /// Step everything that is due through `window`. Returns the earliest tick at which anything in
  /// the machine can happen next, where the next window begins (with safe times it may be before
  /// this window's end); kNever if all components sleep. The caller may have changed components
  /// since the last window.
  Tick step(const sm::SystemView& system, Window window);

  /// Step at most `windows` windows of `run`, whose components these are, until there is a reason
  /// to stop, which is then in run.control.
  void run(RunState& run, uint64_t windows);

 private:
  /// Components that one thread claims and steps together.
  struct alignas(64) Portion {
    std::atomic<uint32_t> claimed{0};  ///< the last round in which a thread claimed it
    // Components, as places in DueTicks:
    std::vector<uint32_t> apart;  ///< in no cluster, and without safe times
    std::vector<std::vector<uint32_t>> clusters;
    std::vector<uint32_t> sms;          ///< SMs with safe times
    std::vector<SafeTimes::Late> late;  ///< SMs that are not at the window's end yet
    Tick next = kNever;
    uint64_t random = 0;
  };
  /// Divide the components into portions.
  void deal();
  /// Look at every component anew, since components, or the arena, may have been changed.
  void forget(std::byte* arena);
  /// step(), for a caller that has changed nothing; `window` becomes the one that was stepped.
  Tick go_on(const sm::SystemView& system, Window& window);
  void shuffle(Portion& portion);
  void work(unsigned thread, uint32_t round);
  /// Step all portions, with all threads.
  void step_portions();
  void step_portion(Portion& portion);
  Tick catch_up();
  Tick step_some(Way way, std::span<const uint32_t> places, std::vector<SafeTimes::Late>& late);
  void thread_loop(unsigned thread);
  void end_threads();

  std::span<Component> components_;
  ExecutorOptions options_;
  unsigned portions_per_thread_ = 1;
  std::vector<Portion> portions_;  ///< those of a thread are side by side
  std::vector<std::thread> threads_;
  const sm::SystemView* system_ = nullptr;
  Window window_;
  std::byte* arena_ = nullptr;  ///< arena whose channels have been told their consumers' places
  DueTicks due_;
  SafeTimes safe_times_;
  std::vector<SafeTimes::Late> late_;           ///< those of all portions
  DueView due_now_;                             ///< the view of due_ in this window
  alignas(64) std::atomic<uint32_t> round_{0};  ///< advanced by the main thread
  alignas(64) std::atomic<uint32_t> left_{0};   ///< portions of the round that are not finished
  std::atomic<bool> stop_{false};
};

}  // namespace nearwarp::kernels
