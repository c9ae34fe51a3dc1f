// Command-line parsing with nearwarp's errors. Only this file knows cxxopts, which does the
// parsing.
#include "host/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

// A list option is one value per occurrence: `--set a="x, y"` is not split at its comma.
#define CXXOPTS_VECTOR_DELIMITER '\0'
// Compiling cxxopts' regular expressions would take longer than all else at a command's start.
#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>

#include "host/cli/commands.h"
#include "host/cli/terminal.h"
#include "host/cli/wrong_file.h"
#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::cli {

struct CommandLine::Parser {
  cxxopts::Options options;
  cxxopts::ParseResult result;
};

namespace {

constexpr const char* kPositional = "positional";

/// The width, in columns, for which the line breaks in descriptions are made.
constexpr size_t kWrittenFor = 80;

std::string as_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The option's name in a word such as "--jsn=x", without the value.
std::string option_part(const std::string& word) { return word.substr(0, word.find('=')); }

}  // namespace

std::string Option::long_name() const {
  const size_t comma = name.find(',');
  return comma == std::string::npos ? name : name.substr(comma + 1);
}

std::string Option::short_name() const {
  const size_t comma = name.find(',');
  return comma == std::string::npos ? "" : name.substr(0, comma);
}

CommandLine::CommandLine(std::string command, std::string positional_help,
                         const std::string& description)
    : command_(std::move(command)),
      positional_help_(std::move(positional_help)),
      description_(description),
      parser_(new Parser{cxxopts::Options("nearwarp " + command_), {}}),
      described_{{"h,help", "", "print this text", ""}},
      names_{"--help"} {
  parser_->options.add_options()("h,help", "");
  parser_->options.add_options()(kPositional, "", cxxopts::value<Words>());
  parser_->options.parse_positional(kPositional);
}

CommandLine::CommandLine(CommandLine&&) noexcept = default;
CommandLine::~CommandLine() = default;

void CommandLine::value(const std::string& name, const std::string& help,
                        const std::string& value_name, const std::string& default_value) {
  auto value = cxxopts::value<std::string>();
  if (!default_value.empty()) value = value->default_value(default_value);
  parser_->options.add_options()(name, help, value, value_name);
  described_.push_back({name, value_name, help, default_value});
  names_.push_back("--" + described_.back().long_name());
}

void CommandLine::flag(const std::string& name, const std::string& help) {
  parser_->options.add_options()(name, help);
  described_.push_back({name, "", help, ""});
  names_.push_back("--" + described_.back().long_name());
  flags_.push_back(described_.back().long_name());
}

void CommandLine::list(const std::string& name, const std::string& help,
                       const std::string& value_name) {
  parser_->options.add_options()(name, help, cxxopts::value<Words>(), value_name);
  described_.push_back({name, value_name, help, ""});
  names_.push_back("--" + described_.back().long_name());
}

void CommandLine::offer(const std::string& option, Values values) {
  if (option.empty()) positional_values_ = values;
  for (Option& one : described_)
    if (one.long_name() == option) one.values = values;
}

void CommandLine::offer(const std::string& option, const Words& words) {
  for (Option& one : described_)
    if (one.long_name() == option) one.words = words;
}

void CommandLine::parse(const Words& words, size_t least, size_t most) {
  std::vector<const char*> argv = {"nearwarp"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const std::string see = fmt::format(" - see 'nearwarp {} --help'", command_);
  try {
    parser_->result = parser_->options.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const cxxopts::exceptions::no_such_option&) {
    for (const std::string& word : words) {
      if (!word.starts_with("-") || word == "-h") continue;
      const std::string option = option_part(word);
      if (std::find(names_.begin(), names_.end(), option) != names_.end()) continue;
      const std::string near = config::nearest_name(option, names_);
      throw UsageError(fmt::format("unknown option '{}'{}", option,
                                   near.empty() ? see : " - did you mean '" + near + "'?"));
    }
    throw UsageError("unknown option" + see);
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(error.what() + see);
  }
  if (parser_->result.count(kPositional) != 0)
    positional_ = parser_->result[kPositional].as<Words>();
  if (help_wanted()) return;
  // A file without a name, as of a shell's variable that is not set, would be none.
  for (const Option& option : described_)
    if (option.value_name.find("FILE") != std::string::npos ||
        option.value_name.find("FOLDER") != std::string::npos)
      filled(option.long_name());
  if (positional_.size() < least) {
    throw UsageError(fmt::format("'nearwarp {}' needs {}{}", command_, positional_help_, see));
  }
  if (positional_.size() > most) {
    // The words may be an application and its arguments, with the -- before them forgotten.
    const std::string advice = wrong_file(positional_[0], command_);
    if (most == 1 && !advice.empty()) throw UsageError(advice);
    throw UsageError(fmt::format("'{}' is one word too many{}", positional_[most], see));
  }
}

bool CommandLine::help_wanted() const { return parser_->result.count("help") != 0; }

std::string CommandLine::help() const { return help(output_width()); }

std::string CommandLine::help(size_t width) const {
  // All texts begin in one column, behind the longest name that leaves them half of the width.
  constexpr size_t kGap = 2;
  Words lefts;
  size_t column = 0;
  for (const Option& option : described_) {
    const std::string letter = option.short_name();
    std::string left =
        fmt::format("  {:<3} --{}", letter.empty() ? "" : "-" + letter + ",", option.long_name());
    if (!option.value_name.empty()) left += " " + option.value_name;
    if (left.size() + kGap <= width / 2) column = std::max(column, left.size() + kGap);
    lefts.push_back(std::move(left));
  }
  std::string text =
      (width < kWrittenFor ? wrapped(as_one_line(description_), width, "") : description_) +
      "\n\nUsage:\n" +
      fitted_lines(fmt::format("  nearwarp {}{}{} [OPTION...]", command_,
                               positional_help_.empty() ? "" : " ", positional_help_),
                   width) +
      "\n\n";
  const std::string indent(column, ' ');
  for (size_t i = 0; i < described_.size(); ++i) {
    std::string what = described_[i].help;
    if (!described_[i].default_value.empty())
      what += fmt::format(" (default: {})", described_[i].default_value);
    const bool beside = lefts[i].size() + kGap <= column;
    text += fmt::format("{:<{}}", lefts[i], column) + (beside ? "" : "\n" + indent) +
            wrapped(what, width - column, indent) + "\n";
  }
  return text;
}

bool CommandLine::given(const std::string& name) const { return parser_->result.count(name) != 0; }

Words CommandLine::words_without(const Words& names) const {
  const auto among = [](const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  Words words;
  for (const auto& argument : parser_->result.arguments()) {
    if (argument.key() == kPositional) {
      words.push_back(argument.value());
    } else if (!among(names, argument.key())) {
      words.push_back("--" + argument.key());
      if (!among(flags_, argument.key())) words.back() += "=" + argument.value();
    }
  }
  return words;
}

std::string CommandLine::text(const std::string& name) const {
  return parser_->result[name].count() == 0 && !parser_->result[name].has_default()
             ? std::string()
             : parser_->result[name].as<std::string>();
}

std::string CommandLine::filled(const std::string& name) const {
  const std::string value = text(name);
  if (!given(name) || !value.empty()) return value;
  const auto option = std::ranges::find(described_, name, &Option::long_name);
  throw UsageError(fmt::format("--{} cannot be '' - {} is needed", name, option->value_name));
}

Words CommandLine::texts(const std::string& name) const {
  return given(name) ? parser_->result[name].as<Words>() : Words();
}

uint64_t CommandLine::number(const std::string& name, uint64_t least, uint64_t most) const {
  const std::string digits = text(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < least ||
      value > most) {
    throw UsageError(fmt::format("--{} cannot be '{}' - a number from {} to {} is needed", name,
                                 digits, least, most));
  }
  return value;
}

Words before_application(const Words& words, Words* application) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return words;
  application->assign(dashes + 1, words.end());
  if (application->empty())
    throw UsageError("an application must follow '--' - its path and arguments, e.g. -- ./app");
  return Words(words.begin(), dashes);
}

Words split_commas(const std::string& text) {
  Words words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace nearwarp::cli
