// Programs that are bound to memory stacks.
#include "host/recording/bind.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>
#include <string_view>

#include "host/core/error.h"

namespace nearwarp::runtime {
namespace {

std::optional<uint32_t> number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

BoundName bound_name(const std::string& text) {
  const size_t at = text.rfind('@');
  if (at == std::string::npos) return {text, 0};
  const std::string_view stacks = std::string_view(text).substr(at + 1);
  const size_t dash = stacks.find('-');
  const auto first = number(stacks.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(stacks.substr(dash + 1));
  const std::string name = text.substr(0, at);
  if (name.empty() || !first || !last || *first > *last)
    throw Error(
        fmt::format("'{}' names no stacks for a program - after @ goes the number of a "
                    "stack, or the first and the last of several: kmeans@0, kmeans@1-3",
                    text));
  if (*last >= kMaxBoundStacks)
    throw Error(fmt::format("'{}': stack {} - programs are bound to stacks 0 to {}", text, *last,
                            kMaxBoundStacks - 1));
  const uint64_t bits = (uint64_t{2} << *last) - (uint64_t{1} << *first);
  return {name, static_cast<uint32_t>(bits)};
}

std::string binding_text(uint32_t stacks) {
  if (stacks == 0) return "";
  const int first = std::countr_zero(stacks), last = 31 - std::countl_zero(stacks);
  return first == last ? fmt::format("@{}", first) : fmt::format("@{}-{}", first, last);
}

void bind(Recording& recording, uint32_t stacks) {
  if (stacks == 0) return;
  if (!recording.applications.empty())
    throw Error("several programs are bound to stacks one by one, before they are joined");
  recording.bound_stacks = {stacks};
  recording.name += binding_text(stacks);
}

}  // namespace nearwarp::runtime
