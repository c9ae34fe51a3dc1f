// Ctrl-C asks a run to stop, so that its results so far are not lost.
#include "host/cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace nearwarp::cli {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // signal handlers may use it

extern "C" void on_interrupt(int) { flag.store(true, std::memory_order_relaxed); }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void forget_interrupt() {
  flag.store(false, std::memory_order_relaxed);
  catch_interrupts();
}

bool interrupted() { return flag.load(std::memory_order_relaxed); }

}  // namespace nearwarp::cli
