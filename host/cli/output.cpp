// What all commands say in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "host/cli/commands.h"
#include "host/core/error.h"
#include "host/timing/run/models_hash.h"

namespace nearwarp::cli {

std::string wrapped(const std::string& text, size_t width, const std::string& indent) {
  std::string result, line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result.append(line).append("\n").append(indent);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    begin = end + 1;
  }
  return result + line;
}

std::string version() { return fmt::format("{}+{:.8}", NW_VERSION, sim::models_hash); }

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(fmt::format("cannot write to standard output: {} - send it elsewhere",
                            std::strerror(errno)));
  }
}

}  // namespace nearwarp::cli
