// Splits PTX text into tokens.
#include "host/functional/ptx/lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <system_error>

#include "host/core/error.h"

namespace nearwarp::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

constexpr size_t kMaxTokenInMessage = 60;

}  // namespace

std::string quoted(std::string_view name) {
  std::string text = "'";
  for (const char c : name.substr(0, kMaxTokenInMessage)) {
    const bool printable = c >= 0x20 && c < 0x7f;
    text += printable ? c : '?';
  }
  if (name.size() > kMaxTokenInMessage) text += "...";
  text += '\'';
  return text;
}

std::string describe(const Token& token) {
  return token.kind == Token::Kind::kEnd ? "the end of the file" : quoted(token.text);
}

Lexer::Lexer(std::string_view text, std::string_view path) : text_(text), path_(path) { scan(); }

void Lexer::fail(uint32_t line, const std::string& what, const std::string& right) const {
  throw Error(what + " (" + path_ + ":" + std::to_string(line) + ")" +
              (right.empty() ? "" : " - " + right));
}

Token Lexer::next() {
  const Token taken = token_;
  scan();
  return taken;
}

Token Lexer::next_mnemonic() {
  Token taken = token_;
  size_t end = token_offset_;
  while (is_name_char(at(end)) || at(end) == '.' || (at(end) == ':' && at(end + 1) == ':')) {
    end += at(end) == ':' ? 2 : 1;
  }
  taken.text = text_.substr(token_offset_, end - token_offset_);
  pos_ = end;
  scan();
  return taken;
}

void Lexer::skip_braces() {
  const uint32_t first_line = token_.line;
  for (int depth = 1; depth > 0;) {
    if (token_.kind == Token::Kind::kEnd) fail(first_line, "unclosed '{'", "a '}' is missing");
    if (token_.is('{')) ++depth;
    if (token_.is('}')) --depth;
    scan();
  }
}

void Lexer::skip_space() {
  for (;;) {
    const char c = at(pos_);
    if (c == '\n') {
      ++line_;
      ++pos_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++pos_;
    } else if (c == '/' && at(pos_ + 1) == '/') {
      const size_t end = text_.find('\n', pos_);
      pos_ = end == std::string_view::npos ? text_.size() : end;
    } else if (c == '/' && at(pos_ + 1) == '*') {
      const uint32_t first_line = line_;
      for (pos_ += 2; !(at(pos_) == '*' && at(pos_ + 1) == '/'); ++pos_) {
        if (pos_ >= text_.size()) fail(first_line, "unclosed comment", "'*/' is missing");
        if (text_[pos_] == '\n') ++line_;
      }
      pos_ += 2;
    } else if (c == '\0' && pos_ + 1 == text_.size()) {
      ++pos_;  // images that the CUDA runtime hands over end with a zero byte
    } else {
      return;
    }
  }
}

void Lexer::scan() {
  skip_space();
  token_offset_ = pos_;
  token_ = Token{};
  token_.line = line_;
  if (pos_ >= text_.size()) return;
  const char c = text_[pos_];
  if (is_name_start(c) && (c != '%' || is_name_char(at(pos_ + 1)))) {
    scan_name();
  } else if (is_digit(c)) {
    scan_number();
  } else if (c == '.' && (is_name_char(at(pos_ + 1)))) {
    size_t end = pos_ + 1;
    while (is_name_char(at(end))) ++end;
    token_.kind = Token::Kind::kDirective;
    token_.text = text_.substr(pos_, end - pos_);
    pos_ = end;
  } else if (c == '"') {
    size_t end = pos_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
      end += text_[end] == '\\' && at(end + 1) != '\n' ? 2 : 1;
    }
    if (end >= text_.size() || text_[end] != '"') {
      fail(line_, "unclosed string", "a closing '\"' on the same line");
    }
    token_.kind = Token::Kind::kString;
    token_.text = text_.substr(pos_ + 1, end - pos_ - 1);
    pos_ = end + 1;
  } else if (c > ' ' && c < 0x7f) {
    token_.kind = Token::Kind::kPunct;
    token_.text = text_.substr(pos_, 1);
    ++pos_;
  } else {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    fail(line_, std::string("unexpected byte 0x") + kHex[byte >> 4] + kHex[byte & 15],
         "PTX is plain ASCII text");
  }
}

void Lexer::scan_name() {
  size_t end = pos_ + 1;
  while (is_name_char(at(end))) ++end;
  // The parts of a vector register belong to its name.
  if (text_[pos_] == '%' && at(end) == '.' && at(end + 1) >= 'w' && at(end + 1) <= 'z' &&
      !is_name_char(at(end + 2))) {
    end += 2;
  }
  token_.kind = Token::Kind::kName;
  token_.text = text_.substr(pos_, end - pos_);
  pos_ = end;
}

void Lexer::scan_number() {
  const char c1 = at(pos_ + 1);
  size_t end = pos_;
  const auto finish = [&](Token::Kind kind, uint64_t value) {
    token_.kind = kind;
    token_.value = value;
    token_.text = text_.substr(pos_, end - pos_);
    if (is_name_char(at(end))) {
      while (is_name_char(at(end))) ++end;
      fail(line_,
           "malformed number '" + std::string(text_.substr(pos_, end - pos_)).substr(0, 60) + "'",
           "decimal, 0x, 0b, octal, 0f with 8 or 0d with 16 hexadecimal digits");
    }
    pos_ = end;
  };
  if (text_[pos_] == '0' && (c1 == 'f' || c1 == 'F' || c1 == 'd' || c1 == 'D')) {
    const bool single = c1 == 'f' || c1 == 'F';
    const size_t digits = single ? 8 : 16;
    uint64_t bits = 0;
    end = pos_ + 2;
    while (end < pos_ + 2 + digits && digit_value(at(end)) < 16) {
      bits = bits << 4 | static_cast<uint64_t>(digit_value(at(end++)));
    }
    if (end != pos_ + 2 + digits) {
      fail(
          line_,
          "malformed floating-point constant '" + std::string(text_.substr(pos_, end - pos_)) + "'",
          single ? "0f needs 8 hexadecimal digits" : "0d needs 16 hexadecimal digits");
    }
    finish(single ? Token::Kind::kFloat32 : Token::Kind::kFloat64, bits);
    return;
  }
  uint64_t base = 10;
  if (text_[pos_] == '0') {
    if (c1 == 'x' || c1 == 'X') base = 16;
    if (c1 == 'b' || c1 == 'B') base = 2;
    if (is_digit(c1)) base = 8;
  }
  end = pos_ + (base == 16 || base == 2 ? 2 : 0);
  const size_t first_digit = end;
  uint64_t value = 0;
  bool overflow = false;
  while (static_cast<uint64_t>(digit_value(at(end))) < base) {
    const auto digit = static_cast<uint64_t>(digit_value(at(end++)));
    overflow = overflow || value > (UINT64_MAX - digit) / base;
    value = value * base + digit;
  }
  const bool fraction = base == 10 && (at(end) == '.' || at(end) == 'e' || at(end) == 'E');
  if (fraction) {
    if (at(end) == '.') ++end;
    while (is_digit(at(end))) ++end;
    if (at(end) == 'e' || at(end) == 'E') {
      ++end;
      if (at(end) == '+' || at(end) == '-') ++end;
      while (is_digit(at(end))) ++end;
    }
    double number = 0;
    if (std::from_chars(text_.data() + pos_, text_.data() + end, number).ec != std::errc()) {
      const std::string text(text_.substr(pos_, std::min<size_t>(end - pos_, 60)));
      fail(line_, "malformed number '" + text + "'", "a number that .f64 has");
    }
    finish(Token::Kind::kFloat64, std::bit_cast<uint64_t>(number));
    return;
  }
  if (overflow || end == first_digit) {
    while (is_name_char(at(end))) ++end;
    fail(line_,
         "malformed integer '" + std::string(text_.substr(pos_, end - pos_)).substr(0, 60) + "'",
         "an integer of at most 64 bits");
  }
  if (at(end) == 'U') ++end;
  finish(Token::Kind::kInteger, value);
}

}  // namespace nearwarp::ptx
