// Splits PTX text into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nearwarp::ptx {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kName,       ///< identifiers, registers and special registers (%tid.x is one token)
    kDirective,  ///< a dot and a word: .reg, .b32, .v4
    kInteger,    ///< value
    kFloat32,    ///< 0fXXXXXXXX; value holds the bits
    kFloat64,    ///< 0dX... or a decimal fraction; value holds the bits of the double
    kString,     ///< text without the quotes
    kPunct,      ///< one character
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  uint64_t value = 0;
  uint32_t line = 1;

  bool is(char c) const { return kind == Kind::kPunct && text[0] == c; }
  bool is(std::string_view directive) const {
    return kind == Kind::kDirective && text == directive;
  }
};

/// A lexer with one token of look-ahead. Tokens point into the text, which must outlive them.
/// Throws nearwarp::Error with file and line for characters and numbers that PTX does not have.
class Lexer {
 public:
  Lexer(std::string_view text, std::string_view path);

  const Token& peek() const { return token_; }
  Token next();
  /// Takes the current token, a name, with all its dotted modifiers as one token, a mnemonic.
  Token next_mnemonic();
  /// Skips text up to and including the `}` that closes a `{` taken before.
  void skip_braces();

  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }
  /// Byte offset of the current token in the text.
  size_t token_offset() const { return token_offset_; }

  /// Throws Error "what (path:line)", followed by " - right" if `right` is not empty.
  [[noreturn]] void fail(uint32_t line, const std::string& what,
                         const std::string& right = {}) const;

 private:
  void skip_space();
  void scan();
  void scan_name();
  void scan_number();
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  std::string_view text_;
  std::string path_;
  size_t pos_ = 0;
  size_t token_offset_ = 0;
  uint32_t line_ = 1;
  Token token_;
};

/// A name for messages: in quotes, cut to a readable length.
std::string quoted(std::string_view name);
/// A token for messages: quoted and cut to a readable length.
std::string describe(const Token& token);

}  // namespace nearwarp::ptx
