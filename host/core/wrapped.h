// Breaks text into lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace nearwarp {

/// `text` in lines of at most `width` columns. `indent` precedes all lines but the first and does
/// not count. A list "a,b,c" that is too long for a line is broken behind commas.
inline std::string wrapped(const std::string& text, size_t width, const std::string& indent) {
  std::string result, line;
  const auto next_line = [&] {
    result.append(line).append("\n").append(indent);
    line.clear();
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > width) next_line();
    if (!line.empty()) line += ' ';
    while (line.empty() && word.size() > width) {
      const size_t comma = word.rfind(',', width - 1);
      if (comma == std::string::npos) break;
      line = word.substr(0, comma + 1);
      next_line();
      word.erase(0, comma + 1);
    }
    line += word;
    begin = end + 1;
  }
  return result + line;
}

}  // namespace nearwarp
