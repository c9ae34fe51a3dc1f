// Values of keys: checks them against their ranges and choices, and writes them as text.
#include <fmt/format.h>

#include <algorithm>

#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

/// Calls `visit` with each of the blank-separated words.
template <class F>
void for_each_word(std::string_view words, F visit) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    visit(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

/// The text on one line, as a basic string of TOML, which is one of JSON, too.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (const auto code = static_cast<unsigned char>(c); code < 0x20 || code == 0x7f) {
      result += c == '\n' ? "\\n" : c == '\t' ? "\\t" : fmt::format("\\u{:04x}", code);
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

uint64_t number_of(const Member& member) {
  if (const auto* narrow = std::get_if<uint32_t*>(&member)) return **narrow;
  if (const auto* optional = std::get_if<std::optional<uint64_t>*>(&member)) return ***optional;
  return *std::get<uint64_t*>(member);
}

}  // namespace

std::string allowed(const Member& member, uint64_t min, uint64_t max, bool power_of_two,
                    std::string_view choices) {
  if (std::holds_alternative<bool*>(member)) return "true or false";
  if (std::holds_alternative<std::string*>(member)) {
    if (choices.empty()) return "any text";
    std::string list;
    for_each_word(choices, [&](std::string_view word) {
      list += fmt::format("{}\"{}\"", list.empty() ? "" : " or ", word);
    });
    return list;
  }
  if (std::holds_alternative<std::vector<std::string>*>(member)) return "a list of texts";
  if (min == max) return fmt::format("exactly {}", min);
  const bool optional = std::holds_alternative<std::optional<uint64_t>*>(member);
  return fmt::format("{} to {}{}{}", min, max, power_of_two ? ", a power of two" : "",
                     optional ? ", or \"unknown\"" : "");
}

bool is_choice(std::string_view choices, std::string_view word) {
  bool found = false;
  for_each_word(choices, [&](std::string_view choice) { found = found || choice == word; });
  return found;
}

std::vector<std::string_view> joined_words(std::string_view joined) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t end = joined.find('+');
    words.push_back(joined.substr(0, end));
    if (end == std::string_view::npos) return words;
    joined.remove_prefix(end + 1);
  }
}

bool are_choices(std::string_view choices, std::string_view joined) {
  const std::vector<std::string_view> words = joined_words(joined);
  const std::string_view alone = choices.substr(0, choices.find(' '));
  for (size_t i = 0; i < words.size(); ++i) {
    if (!is_choice(choices, words[i])) return false;
    if (words[i] == alone && words.size() != 1) return false;
    if (std::find(words.begin(), words.begin() + static_cast<ptrdiff_t>(i), words[i]) !=
        words.begin() + static_cast<ptrdiff_t>(i))
      return false;
  }
  return true;
}

bool obeys(const Member& member, uint64_t min, uint64_t max, bool power_of_two,
           std::string_view choices) {
  if (std::holds_alternative<bool*>(member)) return true;
  if (std::holds_alternative<std::vector<std::string>*>(member)) return true;
  if (const auto* text = std::get_if<std::string*>(&member)) {
    return choices.empty() || is_choice(choices, **text);
  }
  if (const auto* number = std::get_if<std::optional<uint64_t>*>(&member)) {
    if (!(*number)->has_value()) return true;
  }
  const uint64_t value = number_of(member);
  return value >= min && value <= max && (!power_of_two || (value & (value - 1)) == 0);
}

std::string value_text(const Member& member) {
  if (const auto* flag = std::get_if<bool*>(&member)) return **flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string*>(&member)) return quoted(**text);
  if (const auto* texts = std::get_if<std::vector<std::string>*>(&member)) {
    std::string list;
    for (const std::string& text : **texts) list += (list.empty() ? "" : ", ") + quoted(text);
    return "[" + list + "]";
  }
  if (const auto* number = std::get_if<std::optional<uint64_t>*>(&member)) {
    if (!(*number)->has_value()) return "\"unknown\"";
  }
  return std::to_string(number_of(member));
}

}  // namespace nearwarp::config
