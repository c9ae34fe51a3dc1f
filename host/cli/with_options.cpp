// The library's words for its arguments, and the command line's.
#include "host/cli/with_options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace nearwarp::cli {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;
/// Options that are not named as the argument is, but for dashes.
constexpr std::array<Pair, 3> kOthers = {
    {{"loads", "rate"}, {"packet_flits", "flits"}, {"rate_ppm", "rate"}}};

constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz_";

std::string option_of(std::string_view argument, const std::string& most) {
  if (argument == "most") return "--" + most;
  const auto* other = std::ranges::find(kOthers, argument, &Pair::first);
  std::string name = "--";
  name += other == kOthers.end() ? argument : other->second;
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

std::string with_options(const std::string& text, const std::string& most) {
  std::string result;
  size_t at = 0;
  for (;;) {
    const size_t begin = text.find('`', at);
    if (begin == std::string::npos) return result + text.substr(at);
    result += text.substr(at, begin - at);
    const size_t end = std::min(text.find_first_not_of(kOfNames, begin + 1), text.size());
    const bool is_name = end < text.size() && text[end] == '`' && end > begin + 1;
    if (is_name)
      result += option_of(text.substr(begin + 1, end - begin - 1), most);
    else
      result += text.substr(begin, end - begin);
    at = is_name ? end + 1 : end;
  }
}

}  // namespace nearwarp::cli
