// The table of commands. What a command is called, what it is for, what it takes and what it does
// stands once, in its own file; the program's help, the check of the pages, man pages and
// completion are made of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/cli/options.h"

namespace nearwarp::cli {

struct Command {
  /// A way to call it: a line of the program's help.
  struct Use {
    std::string words;    ///< behind the command's name, e.g. "WORKLOAD [OPTION...]"
    std::string purpose;  ///< a few words
  };

  std::string name;
  std::vector<Use> uses;
  CommandLine (*declare)();  ///< declares the command's options
  size_t least, most;        ///< words that are no options, where no application is given
  bool application = false;  ///< it takes an application and its arguments after "--"
  /// Returns the program's exit code. `application`: the words behind "--".
  int (*run)(const CommandLine& line, const Words& application);
};

/// All commands, in the order of the help.
std::span<const Command> commands();
/// The one of this name, or null.
const Command* find_command(const std::string& name);

/// Runs a command with the words behind its name, or prints its help if they ask for it.
int execute(const Command& command, const Words& words);

/// The text that `nearwarp --help` prints, but for the program's own options and an example.
std::string command_list();

}  // namespace nearwarp::cli
