// The part of a line behind an instruction's operands, since version 6 of the tracer.
#include "host/recording/accel_sim/async_line.h"

#include <algorithm>

#include "host/recording/accel_sim/tokens.h"

namespace nearwarp::sass {
namespace {

bool is_number(std::string_view word) {
  int64_t whole = 0;
  if (parse_number(word, &whole)) return true;
  double real = 0;
  const auto [stopped, error] = std::from_chars(word.data(), word.data() + word.size(), real);
  return error == std::errc() && stopped == word.data() + word.size();
}

/// Bytes of a box, which shared memory limits.
constexpr uint64_t kMostBulkBytes = uint64_t{1} << 21;

}  // namespace

LineProblem parse_bulk(std::string_view text, BulkLine* to, std::string_view* behind) {
  constexpr LineProblem kWrong = {
      "a bulk copy cannot be read",
      "write behind its width its mbarrier, 0 or 1 and a mask of blocks, its bytes, those outside "
      "of the tensor, and 3 or 4 with its addresses"};
  Tokens words(text);
  uint32_t multicast = 0, mode = 0;
  uint64_t count = 0;
  *to = {};
  if (!parse_number(words.next(), &to->mbarrier, 16) || !parse_number(words.next(), &multicast) ||
      multicast > 1 || (multicast != 0 && !parse_number(words.next(), &to->blocks, 16)) ||
      !parse_number(words.next(), &to->bytes) || !parse_number(words.next(), &to->outside) ||
      to->bytes > kMostBulkBytes || to->outside > to->bytes)
    return kWrong;
  if (!parse_number(words.next(), &mode) || (mode != 3 && mode != 4)) return kWrong;
  uint64_t at = 0;
  if (mode == 4 && !parse_number(words.next(), &at, 16)) return kWrong;
  if (!parse_number(words.next(), &count) || count > to->bytes) return kWrong;
  for (uint64_t i = 0; i < count; ++i) {
    int64_t difference = 0;
    if (mode == 3 ? !parse_number(words.next(), &at, 16)
                  : i != 0 && !parse_number(words.next(), &difference))
      return kWrong;
    at += static_cast<uint64_t>(difference);
    to->addresses.push_back(at);
  }
  *behind = words.rest();
  return {};
}

LineProblem parse_tail(std::string_view text, uint32_t operands, LineTail* to) {
  constexpr LineProblem kWrong = {
      "an instruction's immediates or values cannot be read",
      "write one or two numbers, then NoVal, or Val and for each register 1 or 32 and its values"};
  Tokens words(text);
  *to = {};
  std::string_view word = words.next();
  for (uint32_t i = 0; i < 2; ++i) {
    // Immediates may be negative, or floating point, which mean nothing here.
    if (!parse_number(word, &to->immediate[i]) && !is_number(word)) {
      if (i == 0) return kWrong;
      break;
    }
    word = words.next();
  }
  if (word == "NoVal") return {};
  if (word != "Val") return kWrong;
  for (uint32_t r = 0; r < operands; ++r) {
    uint32_t count = 0;
    if (!parse_number(words.next(), &count) || (count != 1 && count != 32)) return kWrong;
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t value = 0;
      if (!parse_number(words.next(), &value, 16)) return kWrong;
      to->value[i] = static_cast<uint32_t>(value);
    }
    if (count == 1) std::fill(to->value + 1, to->value + 32, to->value[0]);
  }
  to->has_values = operands != 0;
  return {};
}

}  // namespace nearwarp::sass
