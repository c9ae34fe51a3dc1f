// Puts the command line's options in place of the library's names of its arguments.
#include "host/cli/with_options.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace nearwarp::cli {
namespace {

struct Argument {
  std::string_view name;
  std::string_view option;  ///< without "--"; empty: the argument's name with - for _
};
/// All arguments that the library names between backticks. A test looks for others in the library's
/// sources.
constexpr Argument kArguments[] = {
    {"any_thread", ""},
    {"backend", ""},
    {"buffers", ""},
    {"credit_delay", ""},
    {"follow", ""},
    {"from", ""},
    {"hot_nodes", ""},
    {"input_speedup", ""},
    {"interleave", ""},
    {"kernels", ""},
    {"launches", ""},
    {"link_latency", ""},
    {"loads", "rate"},
    {"locate_fault", ""},
    {"max_trace_bytes", ""},
    {"most", ""},
    {"no_alias", ""},
    {"packet_flits", "flits"},
    {"rate_ppm", "rate"},
    {"reply_flits", ""},
    {"routing", ""},
    {"routing_delay", ""},
    {"sample", ""},
    {"set", ""},
    {"size", ""},
    {"speedup", ""},
    {"strict_bounds", ""},
    {"sw_alloc_delay", ""},
    {"to", ""},
    {"traffic", ""},
    {"traversal_delay", ""},
    {"vc_alloc_delay", ""},
    {"vcs", ""},
    {"vnets", ""},
};

/// The word before a simulated program's failed assertion, which CUDA prints between backticks,
/// too.
constexpr std::string_view kOfProgram = "Assertion ";

std::string option_of(const Argument& argument, const std::string& most) {
  std::string name = "--";
  if (argument.name == "most")
    name += most;
  else
    name += argument.option.empty() ? argument.name : argument.option;
  std::ranges::replace(name, '_', '-');
  return name;
}

/// The end of a user's words between quotation marks that begin at `at`; `at` itself if none do. A
/// mark behind a letter is an apostrophe.
size_t end_of_quoted(std::string_view text, size_t at) {
  const auto is_word = [&](size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
  };
  if (text[at] != '\'' || (at != 0 && is_word(at - 1))) return at;
  for (size_t end = at + 1; end < text.size() && text[end] != '\n'; ++end)
    if (text[end] == '\'' && !is_word(end + 1)) return end + 1;
  return at;
}

/// The argument whose name between backticks begins at `at`; nullptr if none does.
const Argument* argument_at(std::string_view text, size_t at) {
  if (text[at] != '`' || text.substr(0, at).ends_with(kOfProgram)) return nullptr;
  const size_t end = text.find('`', at + 1);
  if (end == std::string_view::npos) return nullptr;
  const Argument* found =
      std::ranges::find(kArguments, text.substr(at + 1, end - at - 1), &Argument::name);
  return found == std::end(kArguments) ? nullptr : found;
}

}  // namespace

std::string with_options(const std::string& text, const std::string& most) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (const Argument* argument = argument_at(text, at); argument != nullptr) {
      result += option_of(*argument, most);
      at += argument->name.size() + 2;
      continue;
    }
    const size_t end = std::max(end_of_quoted(text, at), at + 1);
    result.append(text, at, end - at);
    at = end;
  }
  return result;
}

bool names_argument(std::string_view word) {
  return std::ranges::find(kArguments, word, &Argument::name) != std::end(kArguments);
}

}  // namespace nearwarp::cli
