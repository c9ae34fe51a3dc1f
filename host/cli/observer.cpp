#include "host/cli/observer.h"

#include <cstdio>

#include "host/cli/interrupt.h"

namespace nearwarp::cli {

void Terminal::tell(const std::string& message) {
  if (bar_.has_value()) bar_->wipe();
  std::fprintf(stderr, "nearwarp: %s\n", message.c_str());
}

bool Terminal::go_on() { return !interrupted(); }

bool Terminal::progress(const std::string& what, uint64_t done, uint64_t total, const char* unit) {
  if (!bar_.has_value() || what != what_) {
    bar_.emplace(what, unit);
    what_ = what;
  }
  bar_->update(done, total);
  return go_on();
}

}  // namespace nearwarp::cli
