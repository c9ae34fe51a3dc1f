// Steps a system's components through windows on the CPU, with one thread or a fixed pool.
#include "kernels/cpu_executor.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "kernels/component.h"

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

constexpr unsigned kPortionsPerThread = 6;

template <class T>
void shuffle_some(std::vector<T>& all, uint64_t& random) {
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[next_random(random) % i]);
}

/// No more threads than there are components, one of which each has to step.
ExecutorOptions bounded(ExecutorOptions options, size_t components) {
  options.threads = static_cast<unsigned>(
      std::clamp<size_t>(options.threads, 1, std::max<size_t>(1, components)));
  return options;
}

}  // namespace

// For the device that tests emulate.
template StepResult step_in_lane<ProductFamily>(const Component&, std::byte*, const sm::SystemView&,
                                                const Window&, Horizon&);

CpuExecutor::CpuExecutor(std::span<Component> components, const ExecutorOptions& options)
    : components_(components),
      options_(bounded(options, components.size())),
      portions_per_thread_(options_.threads > 1 ? kPortionsPerThread : 1),
      portions_(options_.threads * portions_per_thread_),
      safe_times_(options.safe_times, components.size()) {
  if (options_.family == nullptr) options_.family = step_on_cpu<ProductFamily>;
  deal();
  for (size_t i = 0; i < portions_.size(); ++i)
    portions_[i].random = options.order_seed + uint64_t{i} * 77;
  try {
    for (unsigned t = 1; t < options_.threads; ++t)
      threads_.emplace_back([this, t] { thread_loop(t); });
  } catch (...) {  // there is no destructor of an object that is not finished
    end_threads();
    throw;
  }
}

CpuExecutor::~CpuExecutor() { end_threads(); }

void CpuExecutor::end_threads() {
  stop_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
}

/// Each kind by itself, so that every portion gets its share of SMs and of vaults; then clusters.
void CpuExecutor::deal() {
  const size_t n = portions_.size();
  std::vector<std::vector<uint32_t>> apart(n), sms(n);
  const auto deal_out = [&](std::vector<std::vector<uint32_t>>& to, auto&& belongs) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < components_.size(); ++i)
      if (belongs(i)) all.push_back(i);
    for (size_t i = 0; i < all.size(); ++i) to[i * n / all.size()].push_back(all[i]);
  };
  for (uint32_t kind = 0; kind < ProductFamily::kCount; ++kind)
    deal_out(apart, [&](uint32_t i) {
      return static_cast<uint32_t>(components_[i].kind) == kind && components_[i].cluster == 0 &&
             !safe_times_.holds(i) && !safe_times_.is_front_end(i);
    });
  deal_out(sms, [&](uint32_t i) { return safe_times_.holds(i); });
  for (size_t i = 0; i < n; ++i) {
    portions_[i].apart = due_.add(apart[i]);
    portions_[i].sms = due_.add(sms[i]);
  }
  std::map<uint16_t, std::vector<uint32_t>> clusters;
  for (uint32_t i = 0; i < components_.size(); ++i)
    if (components_[i].cluster != 0) clusters[components_[i].cluster].push_back(i);
  size_t at = 0;
  for (auto& [number, members] : clusters)
    portions_[at++ * n / clusters.size()].clusters.push_back(due_.add(members));
  // It is stepped by nobody's portion, but is sent to as others are.
  if (safe_times_.used()) due_.add({&options_.safe_times.front_end, 1});
  due_.each([&](uint32_t place, uint32_t component) { safe_times_.set_place(component, place); });
}

void CpuExecutor::shuffle(Portion& portion) {
  shuffle_some(portion.apart, portion.random);
  shuffle_some(portion.clusters, portion.random);
  shuffle_some(portion.sms, portion.random);
  for (std::vector<uint32_t>& members : portion.clusters) shuffle_some(members, portion.random);
}

Tick CpuExecutor::step_some(Way way, std::span<const uint32_t> places,
                            std::vector<SafeTimes::Late>& late) {
  return options_.family(
      {way, components_, places, *system_, window_, due_now_, safe_times_, late});
}

void CpuExecutor::step_portion(Portion& portion) {
  if (options_.order_seed != 0) shuffle(portion);
  portion.next = step_some(Way::kDue, portion.apart, portion.late);
  for (const std::vector<uint32_t>& members : portion.clusters)
    portion.next = min_tick(portion.next, step_some(Way::kCluster, members, portion.late));
  if (!portion.sms.empty())
    portion.next = min_tick(portion.next, step_some(Way::kSafeTimes, portion.sms, portion.late));
}

/// Steps the rest of the window, where SMs have safe times.
Tick CpuExecutor::catch_up() {
  late_.clear();
  for (Portion& p : portions_) {
    late_.insert(late_.end(), p.late.begin(), p.late.end());
    p.late.clear();
  }
  return step_some(Way::kCatchUp, {}, late_);
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

Tick CpuExecutor::step(const sm::SystemView& system, Window window) {
  forget(system.arena);
  return go_on(system, window);
}

void CpuExecutor::forget(std::byte* arena) {
  due_.forget();
  if (arena_ == arena) return;
  arena_ = arena;
  due_.tell_channels(components_, arena);
}

Tick CpuExecutor::go_on(const sm::SystemView& system, Window& window) {
  if (safe_times_.used()) window = safe_times_.begin_window(components_, system.arena, window);
  system_ = &system;
  window_ = window;
  due_now_ = due_.begin_window(options_.order_seed == 0);
  if (threads_.empty()) {
    step_portion(portions_[0]);
  } else {
    step_portions();
  }
  Tick next = safe_times_.used() ? catch_up() : kNever;
  for (const Portion& p : portions_) next = min_tick(next, p.next);
  return next;
}

void CpuExecutor::step_portions() {
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
}

void CpuExecutor::run(RunState& run, uint64_t windows) {
  RunControl& c = run.control;
  begin_windows(c);
  forget(run.view.arena);
  for (uint64_t n = 1; c.stop == Stop::kNone; ++n) {
    Window window = next_window(c);
    const Tick next = go_on(run.view, window);
    end_window(c, window, next, host_wanted(run.front_end_state()), n == windows);
  }
}

}  // namespace nearwarp::kernels
