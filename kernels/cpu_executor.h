// Steps a system's components through windows on the CPU, with one thread or a fixed pool.
//
// Every thread has its share of the components, cut into a few portions. A thread claims its own
// portions first and then what others have left, so a thread that lost its core to another process
// delays a window by one portion at most, instead of stopping the machine until it runs again.
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

/// In which way components are stepped.
enum class Way : uint8_t {
  kDue,        ///< step_due()
  kCluster,    ///< step_cluster()
  kSafeTimes,  ///< SafeTimes::step_sms()
  kCatchUp,    ///< SafeTimes::catch_up()
};

/// A thread's work in a window.
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

/// Steps components of a family.
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

/// How windows are stepped. Results do not depend on any of it; tests vary it to prove that.
struct ExecutorOptions {
  unsigned threads = 1;
  uint32_t order_seed = 0;     ///< 0: components in order; else a new shuffled order per window
  StepOnCpu family = nullptr;  ///< of the components' family; null: the ProductFamily's
  /// Safe times, with which run()'s windows may be longer than the control channels that they name.
  SafeTimePlan safe_times = {};
};

class CpuExecutor {
 public:
  /// Takes no more threads than there are components. Throws std::system_error if the host has not
  /// as many.
  CpuExecutor(std::span<Component> components, const ExecutorOptions& options);
  ~CpuExecutor();
  CpuExecutor(const CpuExecutor&) = delete;
  CpuExecutor& operator=(const CpuExecutor&) = delete;

  /// Step everything that is due through `window`. Returns the earliest tick at which anything in
  /// the machine can happen next: the next window begins there; kNever if all components sleep.
  /// Who calls it may have changed components since the last window.
  /// (With safe times that may be before the window's end.)
  Tick step(const sm::SystemView& system, Window window);

  /// Step the windows of `run`, whose components these are, until there is a reason to stop;
  /// `windows` at most. The reason is in run.control.
  void run(RunState& run, uint64_t windows);

 private:
  /// Components that are claimed, and stepped, together.
  struct alignas(64) Portion {
    std::atomic<uint32_t> claimed{0};  ///< the last round in which a thread took it
    // Places in DueTicks.
    std::vector<uint32_t> apart;  ///< of components in no cluster, those below apart
    std::vector<std::vector<uint32_t>> clusters;
    std::vector<uint32_t> sms;  ///< that have safe times
    std::vector<SafeTimes::Late> late;
    Tick next = kNever;
    uint64_t random = 0;
  };
  void deal();
  /// Components, or the arena, may have changed since the last window.
  void forget(std::byte* arena);
  /// Steps as step() does, for who has changed nothing; `window` becomes the one that was stepped.
  Tick go_on(const sm::SystemView& system, Window& window);
  void shuffle(Portion& portion);
  void work(unsigned thread, uint32_t round);
  /// All of them, with all threads.
  void step_portions();
  void step_portion(Portion& portion);
  Tick catch_up();
  Tick step_some(Way way, std::span<const uint32_t> places, std::vector<SafeTimes::Late>& late);
  void thread_loop(unsigned thread);
  void end_threads();

  std::span<Component> components_;
  ExecutorOptions options_;
  unsigned portions_per_thread_ = 1;
  std::vector<Portion> portions_;  ///< thread t's own ones are neighbours
  std::vector<std::thread> threads_;
  const sm::SystemView* system_ = nullptr;
  Window window_;
  std::byte* arena_ = nullptr;  ///< whose channels know their consumers' places
  DueTicks due_;
  SafeTimes safe_times_;
  std::vector<SafeTimes::Late> late_;           ///< of all portions
  DueView due_now_;                             ///< in the window
  alignas(64) std::atomic<uint32_t> round_{0};  ///< advanced by the main thread
  alignas(64) std::atomic<uint32_t> left_{0};   ///< portions of the round that are not finished
  std::atomic<bool> stop_{false};
};

}  // namespace nearwarp::kernels
