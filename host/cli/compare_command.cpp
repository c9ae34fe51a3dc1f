// nearwarp compare: what differs between the runs of two files.
#include <nlohmann/json.hpp>

#include "host/cli/commands.h"
#include "host/cli/result_files.h"
#include "host/cli/terminal.h"
#include "host/timing/compare/compare.h"

namespace nearwarp::cli {

int compare_command(const Words& words) {
  CommandLine line("compare", "A B",
                   "Say what differs between two files of results ('run --json', sweeps,\n"
                   "experiments): cycles, IPC, energy and traffic first, then configuration, then\n"
                   "where the cycles are, then counters by the weight of their change: over the\n"
                   "largest value of their unit");
  line.flag("all", "all values that differ, not only the 20 of each run that matter most");
  ResultFiles::declare(line, "docs/json.md", "value that differs");
  line.flag("exit-code", "exit with 1 if anything differs");
  line.parse(words, 2, 2);
  if (line.help_wanted()) {
    print(line.help());
    return 0;
  }
  const compare::Difference difference = compare::compare(
      compare::read_document(line.positional()[0]), compare::read_document(line.positional()[1]));
  const ResultFiles files = ResultFiles::of(line);
  if (files.any()) files.write(compare::compare_json(difference).dump(1) + "\n", "changes");
  print(compare::format(difference, line.given("all") ? 0 : 20, output_width()));
  return line.given("exit-code") && !difference.none() ? 1 : 0;
}

}  // namespace nearwarp::cli
