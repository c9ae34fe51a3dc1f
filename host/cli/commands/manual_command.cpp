// nearwarp manual: pages for man(1).
#include <fmt/format.h>

#include <filesystem>

#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/manual.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/core/folder.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_manual() {
  CommandLine line("manual", "[COMMAND]",
                   "Print the manual page of the program, or of a command:\n"
                   "nearwarp manual run | man -l -");
  line.value("out", "write all pages into this folder instead", "FOLDER");
  line.offer("", command_values);
  return line;
}

void write_pages(const std::string& folder) {
  make_folder(folder, "--out");
  const std::filesystem::path to = folder;
  report::write_file((to / "nearwarp.1").string(), manual_page());
  for (const Command& command : commands())
    report::write_file((to / ("nearwarp-" + command.name + ".1")).string(), manual_page(command));
}

int run_manual(const CommandLine& line, const Words& /*application*/) {
  if (line.given("out")) {
    if (!line.positional().empty())
      throw UsageError("--out writes the pages of all commands - leave the command's name out");
    write_pages(line.text("out"));
    return 0;
  }
  if (line.positional().empty()) {
    print(manual_page());
    return 0;
  }
  const std::string& name = line.positional()[0];
  const Command* const command = find_command(name);
  if (command == nullptr) {
    Words names;
    for (const Command& one : commands()) names.push_back(one.name);
    throw UsageError(
        fmt::format("there is no command '{}'{}", name, config::suggestion(name, names)));
  }
  print(manual_page(*command));
  return 0;
}

}  // namespace

Command manual_command() {
  return {.name = "manual",
          .uses = {{"[COMMAND]", "pages for man"}},
          .declare = declare_manual,
          .least = 0,
          .most = 1,
          .run = run_manual};
}

}  // namespace nearwarp::cli
