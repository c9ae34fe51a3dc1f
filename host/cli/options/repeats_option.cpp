#include "host/cli/options/repeats_option.h"

namespace nearwarp::cli {

void declare_repeats(CommandLine& line) {
  line.value("max-repeats",
             "of launches that are the same, simulate the first N (docs/applications.md)", "N");
}

uint32_t max_repeats_option(const CommandLine& line) {
  return line.given("max-repeats")
             ? static_cast<uint32_t>(line.number("max-repeats", 1, 0xffffffffu))
             : 0;
}

}  // namespace nearwarp::cli
