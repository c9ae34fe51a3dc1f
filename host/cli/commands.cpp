// The table of commands.
#include "host/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/cli/command.h"
#include "host/core/error.h"

// All commands, in the order of the help.
#define NW_EACH_COMMAND(X) \
  X(run)                   \
  X(record)                \
  X(check)                 \
  X(sweep)                 \
  X(experiment)            \
  X(compare)               \
  X(merge)                 \
  X(analyze)               \
  X(restructure) X(noc) X(dram) X(probe) X(area) X(devices) X(list) X(show) X(manual) X(completion)

namespace nearwarp::cli {

#define NW_DECLARED(name) Command name##_command();
NW_EACH_COMMAND(NW_DECLARED)

std::span<const Command> commands() {
#define NW_LISTED(name) name##_command(),
  static const std::vector<Command> all = {NW_EACH_COMMAND(NW_LISTED)};
  return all;
}

const Command* find_command(const std::string& name) {
  const auto all = commands();
  const auto found = std::ranges::find(all, name, &Command::name);
  return found == all.end() ? nullptr : &*found;
}

int execute(const Command& command, const Words& words) {
  CommandLine line = command.declare();
  Words application;
  const Words own = command.application ? before_application(words, &application) : words;
  line.parse(own, application.empty() ? command.least : 0, application.empty() ? command.most : 0);
  if (line.help_wanted()) {
    print(line.help());
    return 0;
  }
  return command.run(line, application);
}

std::string command_list() {
  constexpr size_t kColumn = 44;
  std::string text;
  for (const Command& command : commands())
    for (const Command::Use& use : command.uses) {
      const std::string call = fmt::format("  nearwarp {} {}", command.name, use.words);
      text += fmt::format("{:<{}} {}\n", call, kColumn, use.purpose);
    }
  return text;
}

}  // namespace nearwarp::cli
