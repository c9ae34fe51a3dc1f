// Properties of standard output: its width, and whether it is a terminal.
#include "host/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace nearwarp::cli {

bool output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

size_t output_width() {
  constexpr unsigned long kUsual = 80, kLeast = 40, kMost = 400;
  unsigned long width = 0;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr)
    width = std::strtoul(columns, nullptr, 10);
  winsize size{};
  if (width == 0 && output_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    width = size.ws_col;
  return width == 0 ? kUsual : std::clamp(width, kLeast, kMost);
}

}  // namespace nearwarp::cli
