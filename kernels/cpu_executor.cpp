// Steps a system's components through windows on the CPU, with one thread or a fixed pool.
#include "kernels/cpu_executor.h"

#include <algorithm>

namespace nearwarp::kernels {

namespace {

// Spinning longer loses heavily when another process takes a core; parking sooner costs a wake-up
// per window.
constexpr int kSpins = 4000;

void relax() { __builtin_ia32_pause(); }

uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

template <class G>
Tick step_all(const G& g, std::span<Component> components, std::span<const uint32_t> which,
              const sm::SystemView& system, const Window& window) {
  Horizon horizon;
  Tick next = kNever;
  for (const uint32_t i : which) {
    Component& c = components[i];
    if (!c.poll && c.wake >= window.end) {
      const Tick due = due_tick(c, system.arena);
      if (due >= window.end) {
        next = min_tick(next, due);
        continue;
      }
    }
    const StepResult r = step_component(g, c, system, window, horizon);
    c.wake = r.wake;
    c.poll = r.poll;
    next = min_tick(next, r.wake);
  }
  return min_tick(next, horizon.next);
}

}  // namespace

CpuExecutor::CpuExecutor(std::span<Component> components, const ExecutorOptions& options)
    : components_(components), options_(options), workers_(std::max(1u, options.threads)) {
  // Deal each kind out by itself, so that every thread gets its share of SMs and of vaults.
  const auto n = static_cast<uint32_t>(workers_.size());
  for (int kind = 0; kind <= static_cast<int>(ComponentKind::kFrontEnd); ++kind) {
    std::vector<uint32_t> of_kind;
    for (uint32_t i = 0; i < components.size(); ++i)
      if (static_cast<int>(components[i].kind) == kind) of_kind.push_back(i);
    const auto m = static_cast<uint32_t>(of_kind.size());
    for (uint32_t i = 0; i < m; ++i)
      workers_[m < n ? i : i * n / m].components.push_back(of_kind[i]);
  }
  for (uint32_t i = 0; i < n; ++i) workers_[i].random = options.order_seed + uint64_t{i} * 77;
  for (unsigned i = 1; i < n; ++i) threads_.emplace_back([this, i] { worker_loop(i); });
}

CpuExecutor::~CpuExecutor() {
  stop_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void CpuExecutor::step_worker(Worker& worker) {
  if (options_.order_seed != 0) {
    for (size_t i = worker.components.size(); i > 1; --i)
      std::swap(worker.components[i - 1], worker.components[next_random(worker.random) % i]);
  }
  worker.next = options_.shuffle_lanes == 0
                    ? step_all(HostGroup{}, components_, worker.components, *system_, window_)
                    : step_all(ShuffledGroup{options_.shuffle_lanes}, components_,
                               worker.components, *system_, window_);
}

void CpuExecutor::wait_for_round(uint32_t round) {
  for (int i = 0; i < kSpins; ++i) {
    if (round_.load(std::memory_order_acquire) != round) return;
    relax();
  }
  while (round_.load(std::memory_order_acquire) == round) round_.wait(round);
}

void CpuExecutor::worker_loop(unsigned index) {
  uint32_t round = 0;
  while (true) {
    wait_for_round(round);
    ++round;
    if (stop_.load(std::memory_order_relaxed)) return;
    step_worker(workers_[index]);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

Tick CpuExecutor::step(const sm::SystemView& system, const Window& window) {
  system_ = &system;
  window_ = window;
  if (!threads_.empty()) {
    pending_.store(static_cast<uint32_t>(threads_.size()), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  step_worker(workers_[0]);
  if (!threads_.empty()) {
    uint32_t left;
    for (int i = 0; i < kSpins && pending_.load(std::memory_order_acquire) != 0; ++i) relax();
    while ((left = pending_.load(std::memory_order_acquire)) != 0) pending_.wait(left);
  }
  Tick next = kNever;
  for (const Worker& w : workers_) next = min_tick(next, w.next);
  return next;
}

}  // namespace nearwarp::kernels
