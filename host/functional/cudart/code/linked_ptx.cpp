// PTX of several translation units in one text: before each is a comment that tells its length.
#include "host/functional/cudart/code/linked_ptx.h"

#include <charconv>
#include <string_view>

namespace nearwarp::cudart {

namespace {
constexpr std::string_view kMark = "// nearwarp: a linked unit of ", kMarkEnd = " bytes\n";
}

std::string join_ptx(const std::vector<std::string>& units) {
  if (units.size() == 1) return units.front();
  std::string text;
  for (const std::string& unit : units) {
    text += kMark;
    text += std::to_string(unit.size());
    text += kMarkEnd;
    text += unit;
  }
  return text;
}

std::vector<std::string> split_ptx(const std::string& text) {
  std::vector<std::string> units;
  std::string_view rest = text;
  while (rest.starts_with(kMark)) {
    size_t bytes = 0;
    const char* const number = rest.data() + kMark.size();
    const auto [end, error] = std::from_chars(number, rest.data() + rest.size(), bytes);
    std::string_view after = rest.substr(static_cast<size_t>(end - rest.data()));
    if (error != std::errc() || !after.starts_with(kMarkEnd)) break;
    after.remove_prefix(kMarkEnd.size());
    if (bytes > after.size()) break;
    units.emplace_back(after.substr(0, bytes));
    rest = after.substr(bytes);
  }
  if (!rest.empty() || units.empty()) return {text};
  return units;
}

}  // namespace nearwarp::cudart
