// nearwarp compare: what differs between the runs of two files.
#include "host/api/nearwarp/results.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/expected.h"
#include "host/cli/files/result_files.h"
#include "host/cli/terminal.h"
#include "host/cli/with_options.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_compare() {
  CommandLine line("compare", "A B",
                   "Say what differs between two files of results ('run --json', sweeps,\n"
                   "experiments): cycles, IPC, energy and traffic first, then configuration, then\n"
                   "where the cycles are, then counters by the weight of their change: over the\n"
                   "largest value of their unit. One of them may be what Nsight Compute's\n"
                   "'ncu --csv' measured of the program on a device: then\n"
                   "launches are compared one by one");
  line.flag("all", "all values that differ, not only the 20 of each run that matter most");
  ResultFiles::declare(line, "docs/json.md", "value that differs");
  line.flag("exit-code", "exit with 1 if anything differs");
  return line;
}

/// Compares the launches that Nsight Compute has measured with those of a simulated run.
int compare_measured(const CommandLine& line, const std::string& csv, const std::string& run) {
  if (ResultFiles::of(line).any())
    throw UsageError(
        "a comparison with what Nsight Compute measured is written to no file - leave "
        "out --json and --csv");
  const MeasuredComparison compared = taken(nearwarp::compare_measured(csv, run));
  print(compared.text);
  return line.given("exit-code") && compared.mean_error != 0 ? 1 : 0;
}

int run_compare(const CommandLine& line, const Words& /*application*/) {
  for (size_t i = 0; i < 2; ++i)
    if (is_measured(line.positional()[i]))
      return compare_measured(line, line.positional()[i], line.positional()[1 - i]);
  const Comparison compared = taken(compare_results(line.positional()[0], line.positional()[1]));
  const ResultFiles files = ResultFiles::of(line);
  if (files.any()) files.write(compared.document, "changes");
  print(with_options(taken(compared.text(line.given("all") ? 0 : 20, output_width())), "all"));
  return line.given("exit-code") && !compared.equal ? 1 : 0;
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
