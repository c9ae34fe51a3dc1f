// Whose turn it is with an object that several threads may have.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "host/core/error.h"

namespace nearwarp {

/// One thread works on an object at a time. Long work calls functions of the caller's, which may
/// look at the object, too; nobody else may until it ends.
class Turns {
 public:
  /// `going_on`: words for the long work, as in "a kernel is running".
  explicit Turns(std::string going_on) : going_on_(std::move(going_on)) {}

  /// Does what takes long. Throws UsageError if it is being done already.
  template <class F>
  auto work(F f) {
    begin();
    const End end{*this};
    return f();
  }
  /// Does something short. Throws UsageError while another thread does what takes long.
  template <class F>
  auto look(F f) const {
    const std::lock_guard lock(mutex_);
    if (worker_ != std::thread::id() && worker_ != std::this_thread::get_id())
      throw UsageError(going_on_ + " in another thread - wait, or ask from progress");
    return f();
  }
  /// Does something short that is impossible amid what takes long, in functions that it calls, too.
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
  std::thread::id worker_;  ///< who does what takes long; none: nobody
};

}  // namespace nearwarp
