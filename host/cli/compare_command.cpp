// nearwarp compare: what differs between the runs of two files.
#include <nlohmann/json.hpp>

#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/result_files.h"
#include "host/cli/terminal.h"
#include "host/timing/compare/compare.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_compare() {
  CommandLine line("compare", "A B",
                   "Say what differs between two files of results ('run --json', sweeps,\n"
                   "experiments): cycles, IPC, energy and traffic first, then configuration, then\n"
                   "where the cycles are, then counters by the weight of their change: over the\n"
                   "largest value of their unit");
  line.flag("all", "all values that differ, not only the 20 of each run that matter most");
  ResultFiles::declare(line, "docs/json.md", "value that differs");
  line.flag("exit-code", "exit with 1 if anything differs");
  return line;
}

int run_compare(const CommandLine& line, const Words& /*application*/) {
  const compare::Difference difference = compare::compare(
      compare::read_document(line.positional()[0]), compare::read_document(line.positional()[1]));
  const ResultFiles files = ResultFiles::of(line);
  if (files.any()) files.write(compare::compare_json(difference).dump(1) + "\n", "changes");
  print(compare::format(difference, line.given("all") ? 0 : 20, output_width()));
  return line.given("exit-code") && !difference.none() ? 1 : 0;
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .uses = {{"A B", "what differs between two results"}},
          .declare = declare_compare,
          .least = 2,
          .most = 2,
          .run = run_compare};
}

}  // namespace nearwarp::cli
