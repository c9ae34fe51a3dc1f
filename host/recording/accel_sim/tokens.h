// Words and numbers of a line of text.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace nearwarp::sass {

/// Takes words off the front of a line.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) {}

  /// The next word; empty at the end.
  std::string_view next() {
    skip_spaces();
    size_t n = 0;
    while (n < rest_.size() && rest_[n] != ' ' && rest_[n] != '\t') ++n;
    const std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }
  /// The rest of the line, which has not been taken.
  std::string_view rest() const { return rest_; }
  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  void skip(size_t characters) { rest_.remove_prefix(characters); }

 private:
  std::string_view rest_;
};

/// The whole of `word` as a number (hexadecimal with or without 0x); false if it is none or does
/// not fit.
template <class T>
bool parse_number(std::string_view word, T* value, int base = 10) {
  if (base == 16 && word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
    word.remove_prefix(2);
  const char* end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, *value, base);
  return error == std::errc() && stopped == end;
}

}  // namespace nearwarp::sass
