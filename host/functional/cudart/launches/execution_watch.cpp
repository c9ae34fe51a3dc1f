// Tells of kernels that take long to execute, and when the time allowed is over.
#include "host/functional/cudart/launches/execution_watch.h"

#include <fmt/format.h>

#include "host/core/demangle.h"

namespace nearwarp::cudart {

namespace {

constexpr std::chrono::seconds kFirstMessage(10);  // then after twice as long, and so on

}  // namespace

void ExecutionWatch::begin_launch(const std::string& kernel, uint64_t executed,
                                  Clock::time_point now) {
  kernel_ = kernel;
  executed_before_ = executed;
  begun_ = now;
  next_message_ = kFirstMessage;
}

void ExecutionWatch::end_launch(Clock::time_point now) { before_ += now - begun_; }

bool ExecutionWatch::look(uint64_t executed, Clock::time_point now, std::string* message) {
  const Clock::duration taken = now - begun_;
  if (taken >= next_message_) {
    next_message_ *= 2;
    *message = fmt::format(
        "kernel {} is still being executed: {:.2f} billion warp-instructions in {:.0f} s",
        demangled(kernel_), static_cast<double>(executed - executed_before_) / 1e9,
        std::chrono::duration<double>(taken).count());
  }
  return limit_ == Clock::duration() || before_ + taken < limit_;
}

}  // namespace nearwarp::cudart
