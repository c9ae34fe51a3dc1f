// Output that all commands write in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "host/api/nearwarp.h"
#include "host/cli/commands.h"
#include "host/core/error.h"

namespace nearwarp::cli {

std::string fitted_lines(const std::string& text, size_t width) {
  constexpr size_t kFurther = 4;
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const size_t first = std::min(line.find_first_not_of(' '), line.size());
    if (line.size() <= width || first + kFurther >= width) {
      result += line;
    } else {
      // The first line may be longer by what the others are further to the right.
      const size_t space = line.rfind(' ', width);
      const size_t cut =
          space == std::string::npos || space <= first ? line.find(' ', first) : space;
      result += line.substr(0, cut);
      if (cut != std::string::npos) {
        const std::string indent(first + kFurther, ' ');
        const size_t rest = std::min(line.find_first_not_of(' ', cut), line.size());
        result += "\n" + indent + wrapped(line.substr(rest), width - indent.size(), indent);
      }
    }
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

std::string version() { return nearwarp::version(); }

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(fmt::format("cannot write to standard output: {} - send it elsewhere",
                            std::strerror(errno)));
  }
}

}  // namespace nearwarp::cli
