// Keeps the calls of several threads on one object apart.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "host/core/error.h"

namespace nearwarp {

/// One thread at a time uses an object. Long work calls functions of the library's user, and these
/// may look at the object, too; calls by other threads fail until it has ended.
class Turns {
 public:
  /// `going_on`: a clause about the long work for messages, e.g. "a kernel is running".
  explicit Turns(std::string going_on) : going_on_(std::move(going_on)) {}

  /// Runs f, which takes long. Throws UsageError if such work is in progress.
  template <class F>
  auto work(F f) {
    begin();
    const End end{*this};
    return f();
  }
  /// Runs f, which is short. Throws UsageError while another thread does long work.
  template <class F>
  auto look(F f) const {
    const std::lock_guard lock(mutex_);
    if (worker_ != std::thread::id() && worker_ != std::this_thread::get_id())
      throw UsageError(going_on_ + " in another thread - wait, or ask from progress");
    return f();
  }
  /// Runs f, which is short and must not run during long work, nor be called by it. Throws
  /// UsageError then.
  template <class F>
  auto change(F f) {
    const std::lock_guard lock(mutex_);
    refuse_amid();
    return f();
  }

 private:
  struct End {
    Turns& turns;
    ~End() {
      const std::lock_guard lock(turns.mutex_);
      turns.worker_ = {};
    }
  };
  void begin() {
    const std::lock_guard lock(mutex_);
    refuse_amid();
    worker_ = std::this_thread::get_id();
  }
  void refuse_amid() const {
    if (worker_ == std::this_thread::get_id())
      throw UsageError(going_on_ + " and has called this function - wait until it has ended");
    if (worker_ != std::thread::id())
      throw UsageError(going_on_ + " in another thread - wait until it has ended");
  }

  std::string going_on_;
  mutable std::mutex mutex_;
  std::thread::id worker_;  ///< the thread that does long work; none: no thread does
};

}  // namespace nearwarp
