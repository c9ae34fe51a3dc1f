// The modifiers of a machine instruction: the words behind its name, separated by dots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "host/recording/accel_sim/tokens.h"

namespace nearwarp::sass {

class Modifiers {
 public:
  explicit Modifiers(std::string_view opcode) {
    size_t dot = opcode.find('.');
    name_ = opcode.substr(0, dot);
    while (dot != std::string_view::npos) {
      opcode.remove_prefix(dot + 1);
      dot = opcode.find('.');
      words_.push_back(opcode.substr(0, dot));
    }
  }
  std::string_view name() const { return name_; }
  const std::vector<std::string_view>& words() const { return words_; }
  bool has(std::string_view word) const {
    return std::find(words_.begin(), words_.end(), word) != words_.end();
  }
  /// Bytes that a lane accesses, by a modifier such as .64, .128, .U8 or .S16; 4 without one.
  uint32_t lane_bytes() const {
    for (std::string_view word : words_) {
      if (!word.empty() && (word[0] == 'U' || word[0] == 'S')) word.remove_prefix(1);
      uint32_t bits = 0;
      if (parse_number(word, &bits) && bits >= 8 && bits <= 128) return bits / 8;
    }
    return 4;
  }
  /// Number of 8 x 8 matrices of an ldmatrix; 1 without a modifier.
  uint32_t matrices() const { return has("4") ? 4 : has("2") ? 2 : 1; }

 private:
  std::string_view name_;
  std::vector<std::string_view> words_;
};

/// The shape of a matrix product.
struct MatrixShape {
  uint32_t m = 8, n = 8, k = 4;  ///< by default the smallest shape
};
/// The shape in a modifier such as "16816" (m16n8k16), or "64x256x16" of a warpgroup's product.
inline MatrixShape matrix_shape(const Modifiers& mods) {
  MatrixShape s;
  for (const std::string_view word : mods.words()) {
    const size_t x = word.find('x'), y = word.rfind('x');
    uint32_t numbers[3] = {};
    if (x != y && parse_number(word.substr(0, x), &numbers[0]) &&
        parse_number(word.substr(x + 1, y - x - 1), &numbers[1]) &&
        parse_number(word.substr(y + 1), &numbers[2])) {
      s = {numbers[0], numbers[1], numbers[2]};
    } else if (word.starts_with("168") && parse_number(word.substr(3), &numbers[2])) {
      s = {16, 8, numbers[2]};
    } else if (word.starts_with("88") && parse_number(word.substr(2), &numbers[2])) {
      s = {8, 8, numbers[2]};
    }
  }
  return s;
}

}  // namespace nearwarp::sass
