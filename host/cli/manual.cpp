// Manual pages, made of the table of commands, as man(1) reads them.
#include "host/cli/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "host/cli/commands.h"

namespace nearwarp::cli {
namespace {

/// Escapes a text for troff, which takes some characters for commands or for typographic dashes.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n'))
      result += std::string("\\&") + c;
    else
      result += c;
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// The head of a page. Hyphenation is off, since readers may have to type names and values, and
/// lines are not stretched.
std::string heading(const std::string& name) {
  return fmt::format(".TH {} 1 \"\" \"nearwarp {}\" \"nearwarp\"\n.nh\n.ad l\n", upper(name),
                     version());
}

/// A command's description. Lines that call the program stay lines of their own.
std::string paragraphs(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  bool called = false;
  for (std::string line; std::getline(lines, line);) {
    const bool calls =
        line.starts_with("nearwarp ") || line.starts_with(" ") || line.starts_with("KIND: ");
    if ((calls || called) && !line.starts_with(" ")) result += ".br\n";
    called = calls;
    result += plain(line) + "\n";
  }
  return result;
}

std::string option_text(const Option& option) {
  std::string name = bold("--" + option.long_name());
  if (!option.short_name().empty()) name = bold("-" + option.short_name()) + ", " + name;
  if (!option.value_name.empty()) name += " " + italic(option.value_name);
  std::string meaning = option.help;
  if (!option.default_value.empty()) meaning += fmt::format(" (default: {})", option.default_value);
  return fmt::format(".TP\n{}\n{}\n", name, plain(meaning));
}

constexpr const char* kFiles =
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBNEARWARP_CONFIG_PATH\\fR\n"
    "folders, separated by colons, in which machines, policies and other configurations are looked "
    "for before those that come with the program\n"
    ".TP\n\\fBCOLUMNS\\fR\nwidth of tables\n"
    ".SH \"EXIT STATUS\"\n"
    "0; 1 for failures; 2 for mistakes on the command line; what an application that was run ended "
    "with.\n";

}  // namespace

std::string manual_page() {
  std::string text = heading("nearwarp") +
                     ".SH NAME\nnearwarp \\- a cycle\\-level simulator of GPUs with near\\-data "
                     "processing\n.SH SYNOPSIS\n" +
                     bold("nearwarp") + " " + italic("COMMAND") + " [\\fIOPTION\\fR...]\n.br\n" +
                     bold("nearwarp --help") + " | " + bold("--version") + "\n.SH COMMANDS\n";
  for (const Command& command : commands())
    for (const Command::Use& use : command.uses)
      text += fmt::format(".TP\n{}{}{}\n{}\n", bold("nearwarp " + command.name),
                          use.words.empty() ? "" : " ", plain(use.words), plain(use.purpose));
  text += kFiles;
  std::string pages;
  for (const Command& command : commands())
    pages += (pages.empty() ? "" : ", ") + bold("nearwarp-" + command.name) + "(1)";
  return text + ".SH \"SEE ALSO\"\n" + pages + "\n";
}

std::string manual_page(const Command& command) {
  const CommandLine line = command.declare();
  const std::string call = bold("nearwarp " + command.name);
  std::string text = heading("nearwarp-" + command.name) +
                     fmt::format(".SH NAME\nnearwarp\\-{} \\- {}\n.SH SYNOPSIS\n", command.name,
                                 plain(command.uses.front().purpose)) +
                     call + " " + plain(line.positional_help()) + " [\\fIOPTION\\fR...]\n";
  if (command.application)
    text +=
        ".br\n" + call + " [\\fIOPTION\\fR...] \\-\\- \\fIAPPLICATION\\fR [\\fIARGUMENT\\fR...]\n";
  text += ".SH DESCRIPTION\n" + paragraphs(line.description()) + ".SH OPTIONS\n";
  for (const Option& option : line.options()) text += option_text(option);
  return text + kFiles + ".SH \"SEE ALSO\"\n" + bold("nearwarp") + "(1)\n";
}

}  // namespace nearwarp::cli
