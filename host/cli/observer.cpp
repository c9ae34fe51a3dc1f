#include "host/cli/observer.h"

#include "host/cli/interrupt.h"

namespace nearwarp::cli {

void Terminal::tell(const std::string& message) { notes_.tell(message); }

bool Terminal::go_on() { return !interrupted(); }

bool Terminal::progress(const std::string& what, uint64_t done, uint64_t total, const char* unit) {
  return notes_.progress(what, done, total, unit);
}

}  // namespace nearwarp::cli
