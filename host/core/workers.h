// Threads that share the items of a list, each taking the next one until none is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace nearwarp {

/// Number of this host's processors, which is the default number of threads.
inline unsigned processors() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Threads for one list of items.
class Workers {
 public:
  /// Uses at most `threads` threads and at most one for each item, with the caller's.
  Workers(size_t items, unsigned threads)
      : items_(items), threads_(std::clamp<size_t>(items, 1, std::max(1u, threads))) {}

  /// The number of threads, the caller's among them.
  unsigned threads() const { return static_cast<unsigned>(threads_); }

  /// Calls work(item, thread) for all items; thread 0 is the caller's. Returns when all threads
  /// have ended. The first exception of a call stops the work and is rethrown here.
  template <class Work>
  void run(Work&& work) {
    {
      std::vector<std::jthread> others;
      for (unsigned t = 1; t < threads_; ++t) others.emplace_back([&, t] { take_items(work, t); });
      take_items(work, 0);
    }
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

  /// Lets threads take no more items. Items under way may test stopped() and end early.
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  /// Lets run() rethrow the exception that is being handled, unless there was one before, and
  /// stops.
  void fail() {
    const std::lock_guard lock(failing_);
    if (failure_ == nullptr) failure_ = std::current_exception();
    stop();
  }

 private:
  template <class Work>
  void take_items(Work& work, unsigned thread) {
    while (!stopped()) {
      const size_t item = next_.fetch_add(1, std::memory_order_relaxed);
      if (item >= items_) return;
      try {
        work(item, thread);
      } catch (...) {
        fail();
      }
    }
  }

  const size_t items_, threads_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex failing_;
  std::exception_ptr failure_;
};

}  // namespace nearwarp
