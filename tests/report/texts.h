// Reading back the texts that reports are made of.
#pragma once

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace nearwarp::report::testing {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline size_t widest(const std::string& text) {
  size_t width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, line.size());
  return width;
}

/// The words of the line that begins with `label`, without the label.
inline std::vector<std::string> row(const std::string& text, const std::string& label) {
  for (const std::string& line : lines_of(text)) {
    if (line.rfind(label, 0) != 0) continue;
    std::istringstream stream(line.substr(label.size()));
    return {std::istream_iterator<std::string>(stream), {}};
  }
  return {};
}

using Words = std::vector<std::string>;

/// The text with every run of white space as one blank, so that line breaks do not matter.
inline std::string unwrapped(const std::string& text) {
  std::istringstream stream(text);
  std::string result;
  for (std::string word; stream >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

}  // namespace nearwarp::report::testing
