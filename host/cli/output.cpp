// What all commands say in the same way.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "host/cli/commands.h"
#include "host/core/error.h"

namespace nearwarp::cli {

std::string version() { return NW_VERSION; }

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(fmt::format("cannot write to standard output: {} - send it elsewhere",
                            std::strerror(errno)));
  }
}

}  // namespace nearwarp::cli
