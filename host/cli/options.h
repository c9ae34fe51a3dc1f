// Command-line parsing with nearwarp's errors: cxxopts behind a small wall.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nearwarp::cli {

/// The words of a command line after the command's name.
using Words = std::vector<std::string>;

/// For CommandLine::parse(): no limit.
inline constexpr size_t kAnyNumber = static_cast<size_t>(-1);

/// One command's options. Errors are nearwarp::UsageError with the nearest valid option.
class CommandLine {
 public:
  /// `command` and `positional_help` are for the help text, e.g. "run", "WORKLOAD".
  CommandLine(std::string command, std::string positional_help, const std::string& description);
  CommandLine(CommandLine&&) noexcept;
  ~CommandLine();

  /// Declare an option that takes a value. `name` is long, or "s,long".
  void value(const std::string& name, const std::string& help, const std::string& value_name,
             const std::string& default_value = {});
  /// Declare an option that takes none: given() or not.
  void flag(const std::string& name, const std::string& help);
  /// Declare an option that may be given several times.
  void list(const std::string& name, const std::string& help, const std::string& value_name);

  /// Parse; throws UsageError for unknown options, missing values, and a number of positional
  /// words outside of [least, most].
  void parse(const Words& words, size_t least, size_t most);

  bool help_wanted() const;
  /// What the command does and its options, for a terminal of this width.
  std::string help(size_t width) const;
  std::string help() const;
  const Words& positional() const { return positional_; }
  /// The words that were parsed, but for the options with these names: for a program that is to do
  /// the same.
  Words words_without(const Words& names) const;
  bool given(const std::string& name) const;
  std::string text(const std::string& name) const;
  Words texts(const std::string& name) const;
  /// Throws UsageError unless the value is a number of the range.
  uint64_t number(const std::string& name, uint64_t least, uint64_t most) const;

 private:
  /// What the help says of an option.
  struct Described {
    std::string name;  ///< long, or "s,long"
    std::string value_name, help, default_value;
  };

  std::string command_, positional_help_, description_;
  /// The parser, out of sight of the commands: its header takes longer than they do.
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::vector<Described> described_;
  Words names_;  ///< of all options, with dashes, for suggestions
  Words flags_;  ///< of those without a value, without dashes
  Words positional_;
};

/// "a,b,c" as words, empty ones left out.
Words split_commas(const std::string& text);

}  // namespace nearwarp::cli
