// Command-line parsing, and errors that name the nearest valid option.
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

/// A word that completion offers.
struct Candidate {
  std::string word, meaning = {};
};

/// The words on a command line before the one that is to be completed.
class Typed {
 public:
  virtual ~Typed() = default;
  /// The words that are no options.
  virtual const Words& positional() const = 0;
  /// An option's last value, or its default.
  virtual std::string text(const std::string& option) const = 0;
};
/// Values that an option can have, or what a word can be.
using Values = std::vector<Candidate> (*)(const Typed& typed);

/// An option as its command has declared it.
struct Option {
  std::string name;  ///< long, or "s,long"
  std::string value_name, help, default_value;
  Values values = nullptr;  ///< what completion offers; null: `words`
  Words words = {};         ///< or these; empty: nothing is known of them

  std::string long_name() const;
  std::string short_name() const;  ///< empty if it has none
};

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

  /// Makes completion offer these values for an option that has been declared, or, for "", for the
  /// words that are no options.
  void offer(const std::string& option, Values values);
  /// Has completion offer these words for an option that has been declared.
  void offer(const std::string& option, const Words& words);

  /// Parse; throws UsageError for unknown options, missing values, and a number of positional
  /// words outside of [least, most].
  void parse(const Words& words, size_t least, size_t most);

  bool help_wanted() const;
  /// The help text, of the command and its options, for a terminal of this width.
  std::string help(size_t width) const;
  std::string help() const;
  const std::string& command() const { return command_; }
  const std::string& description() const { return description_; }
  const std::string& positional_help() const { return positional_help_; }
  const std::vector<Option>& options() const { return described_; }
  Values positional_values() const { return positional_values_; }
  const Words& positional() const { return positional_; }
  /// The words that were parsed, without the options of these names, to run the program again with
  /// other values of them.
  Words words_without(const Words& names) const;
  bool given(const std::string& name) const;
  std::string text(const std::string& name) const;
  /// The option's text; throws UsageError if it was given and is empty.
  std::string filled(const std::string& name) const;
  Words texts(const std::string& name) const;
  /// Throws UsageError unless the value is a number of the range.
  uint64_t number(const std::string& name, uint64_t least, uint64_t most) const;

 private:
  std::string command_, positional_help_, description_;
  /// The parser. Commands do not see its type, since its header takes longer to compile than they
  /// do.
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::vector<Option> described_;
  Values positional_values_ = nullptr;
  Words names_;  ///< names of all options, with dashes, for suggestions
  Words flags_;  ///< names of options without a value, without dashes
  Words positional_;
};

/// The words before "--"; those after it are put into `application`. Throws UsageError if none
/// follow.
Words before_application(const Words& words, Words* application);

/// "a,b,c" as words, empty ones left out.
Words split_commas(const std::string& text);

}  // namespace nearwarp::cli
