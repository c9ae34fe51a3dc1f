#include "host/cli/progress/notes.h"

#include <cstdio>

#include "host/cli/interrupt.h"
#include "host/cli/with_options.h"

namespace nearwarp::cli {

void Notes::tell(const std::string& message) {
  wipe();
  std::fprintf(stderr, "nearwarp: %s\n", with_options(message).c_str());
}

bool Notes::progress(const std::string& what, uint64_t done, uint64_t total, const char* unit) {
  if (!bar_.has_value() || what != what_) {
    bar_.emplace(what, unit);
    what_ = what;
  }
  bar_->update(done, total);
  return !interrupted();
}

std::function<bool(const Activity&)> Notes::progress_function() {
  return [this](const Activity& a) { return progress(a.what, a.done, a.total, a.unit); };
}

ProgramOptions Notes::program_options() {
  ProgramOptions options;
  options.progress = progress_function();
  options.tell = [this](const std::string& message) { tell(message); };
  return options;
}

}  // namespace nearwarp::cli
