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

/// The first of [first, last) that is due before `end`; of those in front of it the earliest tick
/// goes into `next`. Most components sleep: a function of its own, so that this loop's registers
/// are not those of the models.
[[gnu::noinline]] const uint32_t* first_due(const Component* components, const uint32_t* first,
                                            const uint32_t* last, std::byte* base, Tick end,
                                            Tick& next) {
  Tick earliest = next;
  for (; first != last; ++first) {
    const Component& c = components[*first];
    if (c.poll || c.wake < end) break;
    const Tick due = due_tick(c, base);
    if (due < end) break;
    earliest = min_tick(earliest, due);
  }
  next = earliest;
  return first;
}

template <class G>
Tick step_all(const G& g, std::span<Component> components, std::span<const uint32_t> which,
              const sm::SystemView& system, const Window& window) {
  Horizon horizon;
  Tick next = kNever;
  const uint32_t* const last = which.data() + which.size();
  const auto due_from = [&](const uint32_t* i) {
    return first_due(components.data(), i, last, system.arena, window.end, next);
  };
  for (const uint32_t* i = due_from(which.data()); i != last; i = due_from(i + 1)) {
    Component& c = components[*i];
    const StepResult r = step_component(g, c, system, window, horizon);
    c.wake = r.wake;
    c.poll = r.poll;
    next = min_tick(next, r.wake);
  }
  return min_tick(next, horizon.next);
}

constexpr unsigned kPortionsPerThread = 6;

}  // namespace

CpuExecutor::CpuExecutor(std::span<Component> components, const ExecutorOptions& options)
    : components_(components),
      options_(options),
      portions_per_thread_(options.threads > 1 ? kPortionsPerThread : 1),
      portions_(std::max(1u, options.threads) * portions_per_thread_) {
  // Deal each kind out by itself, so that every portion gets its share of SMs and of vaults.
  const auto n = static_cast<uint32_t>(portions_.size());
  for (int kind = 0; kind <= static_cast<int>(ComponentKind::kFrontEnd); ++kind) {
    std::vector<uint32_t> of_kind;
    for (uint32_t i = 0; i < components.size(); ++i)
      if (static_cast<int>(components[i].kind) == kind) of_kind.push_back(i);
    const auto m = static_cast<uint32_t>(of_kind.size());
    for (uint32_t i = 0; i < m; ++i) portions_[i * n / m].components.push_back(of_kind[i]);
  }
  for (uint32_t i = 0; i < n; ++i) portions_[i].random = options.order_seed + uint64_t{i} * 77;
  for (unsigned t = 1; t < options.threads; ++t)
    threads_.emplace_back([this, t] { thread_loop(t); });
}

CpuExecutor::~CpuExecutor() {
  stop_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void CpuExecutor::step_portion(Portion& portion) {
  if (options_.order_seed != 0) {
    for (size_t i = portion.components.size(); i > 1; --i)
      std::swap(portion.components[i - 1], portion.components[next_random(portion.random) % i]);
  }
  portion.next = options_.shuffle_lanes == 0
                     ? step_all(HostGroup{}, components_, portion.components, *system_, window_)
                     : step_all(ShuffledGroup{options_.shuffle_lanes}, components_,
                                portion.components, *system_, window_);
}

/// Claim and step portions of `round` until none is left. A late thread finds every claim taken:
/// the round cannot end, nor the next begin, while a portion that it did claim is unfinished.
void CpuExecutor::work(unsigned thread, uint32_t round) {
  const auto n = static_cast<uint32_t>(portions_.size());
  for (uint32_t k = 0; k < n; ++k) {
    // Own portions from the first on, then the others' from their last back.
    const uint32_t at =
        k < portions_per_thread_
            ? thread * portions_per_thread_ + k
            : (thread * portions_per_thread_ + n - 1 - (k - portions_per_thread_)) % n;
    Portion& portion = portions_[at];
    uint32_t before = round - 1;
    if (!portion.claimed.compare_exchange_strong(before, round, std::memory_order_acquire))
      continue;
    step_portion(portion);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
  }
}

void CpuExecutor::thread_loop(unsigned thread) {
  uint32_t round = 0;
  while (true) {
    uint32_t now = round_.load(std::memory_order_acquire);
    for (int i = 0; now == round && i < kSpins; ++i) {
      relax();
      now = round_.load(std::memory_order_acquire);
    }
    while (now == round) {
      round_.wait(round);
      now = round_.load(std::memory_order_acquire);
    }
    round = now;
    if (stop_.load(std::memory_order_relaxed)) return;
    work(thread, round);
  }
}

Tick CpuExecutor::step(const sm::SystemView& system, const Window& window) {
  system_ = &system;
  window_ = window;
  Tick next = kNever;
  if (threads_.empty()) {
    step_portion(portions_[0]);
    return portions_[0].next;
  }
  left_.store(static_cast<uint32_t>(portions_.size()), std::memory_order_relaxed);
  const uint32_t round = round_.fetch_add(1, std::memory_order_release) + 1;
  round_.notify_all();
  work(0, round);
  uint32_t left = left_.load(std::memory_order_acquire);
  for (int i = 0; left != 0 && i < kSpins; ++i) {
    relax();
    left = left_.load(std::memory_order_acquire);
  }
  while (left != 0) {
    left_.wait(left);
    left = left_.load(std::memory_order_acquire);
  }
  for (const Portion& p : portions_) next = min_tick(next, p.next);
  return next;
}

void CpuExecutor::run(RunState& run, uint64_t windows) {
  RunControl& c = run.control;
  begin_windows(c);
  for (uint64_t n = 1; c.stop == Stop::kNone; ++n) {
    const Window window = next_window(c);
    const Tick next = step(run.view, window);
    end_window(c, window, next, host_wanted(run, run.front_end_state()), n == windows);
  }
}

}  // namespace nearwarp::kernels
