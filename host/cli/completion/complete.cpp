// Completion of a command line's word, for shells.
#include "host/cli/completion/complete.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "host/cli/command.h"
#include "host/cli/completion/values.h"

namespace nearwarp::cli {
namespace {

/// A command line up to the word that is completed, read without a complaint.
class TypedWords final : public Typed {
 public:
  TypedWords(const CommandLine& line, const Words& words) : line_(line) {
    for (size_t i = 0; i < words.size(); ++i) {
      const Option* const option = find(words[i]);
      if (option == nullptr) {
        if (!words[i].starts_with("-")) positional_.push_back(words[i]);
        continue;
      }
      if (option->value_name.empty()) continue;
      if (const size_t equals = words[i].find('='); equals != std::string::npos)
        values_[option->long_name()] = words[i].substr(equals + 1);
      else if (i + 1 < words.size())
        values_[option->long_name()] = words[++i];
      else
        waiting_ = option;
    }
  }

  const Words& positional() const override { return positional_; }
  std::string text(const std::string& name) const override {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    for (const Option& option : line_.options())
      if (option.long_name() == name) return option.default_value;
    return "";
  }
  /// The option that the next word is the value of, or null.
  const Option* waiting() const { return waiting_; }
  /// The option that a word names, "--set" or "--set=key=value", or null.
  const Option* find(const std::string& word) const {
    const std::string name = word.substr(0, word.find('='));
    for (const Option& option : line_.options())
      if (name == "--" + option.long_name() ||
          (!option.short_name().empty() && name == "-" + option.short_name()))
        return &option;
    return nullptr;
  }

 private:
  const CommandLine& line_;
  Words positional_;
  std::map<std::string, std::string> values_;
  const Option* waiting_ = nullptr;
};

/// Adds those of `all` that begin with `begin`, with `before` in front of them.
void keep(const std::vector<Candidate>& all, const std::string& before, const std::string& begin,
          Completion& to) {
  for (const Candidate& one : all)
    if (one.word.starts_with(begin)) to.candidates.push_back({before + one.word, one.meaning});
}

bool names_files(const std::string& text) {
  return text.find("FILE") != std::string::npos || text.find("FOLDER") != std::string::npos ||
         text.find(".g") != std::string::npos;
}

/// The word of "KIND NAME|FILE.toml" at a place; the last one is that of all behind it.
std::string word_of(const std::string& help, size_t place) {
  std::istringstream words(help);
  std::string word;
  for (size_t i = 0; i <= place; ++i) words >> word;
  return word;
}

/// Values, of which several may be joined by commas or, where programs are, by "+".
void complete_value(std::vector<Candidate> all, const std::string& before, const std::string& word,
                    Completion& to) {
  // A key's values stand behind it and cannot be told before: "key=" comes first.
  if (word.find('=') == std::string::npos)
    std::erase_if(all, [](const Candidate& one) {
      const size_t equals = one.word.find('=');
      return equals != std::string::npos && equals + 1 != one.word.size();
    });
  else
    std::erase_if(all, [](const Candidate& one) { return one.word.ends_with('='); });
  const size_t last = word.find_last_of(",+");
  const size_t begin = last == std::string::npos ? 0 : last + 1;
  const size_t equals = word.find('=');
  if (equals == std::string::npos || begin == 0) {
    keep(all, before + word.substr(0, begin), word.substr(begin), to);
    return;
  }
  // "key=a,b": the last value is one of the key's.
  const std::string key = word.substr(0, equals + 1);
  for (const Candidate& one : all)
    if (one.word.starts_with(key + word.substr(begin)))
      to.candidates.push_back({before + word.substr(0, begin) + one.word.substr(key.size())});
}

/// "auto|cpu|cuda": what the option's value is called may say what it can be.
std::vector<Candidate> named_values(const std::string& value_name) {
  std::vector<Candidate> all;
  if (value_name.find('|') == std::string::npos ||
      std::ranges::any_of(value_name, [](unsigned char c) { return std::isupper(c); }))
    return all;
  for (size_t begin = 0; begin <= value_name.size();) {
    const size_t end = std::min(value_name.find('|', begin), value_name.size());
    all.push_back({value_name.substr(begin, end - begin)});
    begin = end + 1;
  }
  return all;
}

void complete_option_value(const Option& option, const Typed& typed, const std::string& before,
                           const std::string& word, Completion& to) {
  std::vector<Candidate> all = candidates(option.words);
  if (option.words.empty())
    all = option.values != nullptr ? option.values(typed) : named_values(option.value_name);
  complete_value(all, before, word, to);
  // Configurations are names or paths.
  to.files = names_files(option.value_name) || option.values == machine_values ||
             option.values == policy_values || option.values == dram_values ||
             option.values == area_values;
  to.before_files = before;
  if (option.values != nullptr) to.before_files += word.substr(0, word.rfind(',') + 1);
}

}  // namespace

Completion complete(const Words& words) {
  Completion to;
  if (words.empty()) return to;
  const std::string& word = words.back();
  if (words.size() == 1 || (words.size() == 2 && words[0] == "help")) {
    std::vector<Candidate> all;
    for (const Command& command : commands())
      all.push_back({command.name, command.uses.front().purpose});
    if (words.size() == 1) {
      all.push_back({"help", "a command's options"});
      all.push_back({"--help", "all commands"});
      all.push_back({"--version", "version and the models' hash"});
    }
    keep(all, "", word, to);
    return to;
  }
  const Command* const command = find_command(words[0]);
  if (command == nullptr) return to;
  const Words before(words.begin() + 1, words.end() - 1);
  if (command->application && std::ranges::find(before, "--") != before.end()) {
    to.files = true;
    return to;
  }
  const CommandLine line = command->declare();
  const TypedWords typed(line, before);
  if (typed.waiting() != nullptr) {
    complete_option_value(*typed.waiting(), typed, "", word, to);
  } else if (const size_t equals = word.find('=');
             word.starts_with("--") && equals != std::string::npos) {
    if (const Option* option = typed.find(word); option != nullptr)
      complete_option_value(*option, typed, word.substr(0, equals + 1), word.substr(equals + 1),
                            to);
  } else if (word.starts_with("-")) {
    std::vector<Candidate> all;
    for (const Option& option : line.options())
      all.push_back({"--" + option.long_name(), option.help});
    if (command->application) all.push_back({"--", "an application and its arguments"});
    keep(all, "", word, to);
  } else if (typed.positional().size() < command->most) {
    if (line.positional_values() != nullptr)
      complete_value(line.positional_values()(typed), "", word, to);
    to.files = line.positional_values() == nullptr ||
               names_files(word_of(line.positional_help(), typed.positional().size()));
    if (line.positional_values() != nullptr) to.before_files = word.substr(0, word.rfind(',') + 1);
  }
  return to;
}

}  // namespace nearwarp::cli
