// nearwarp merge: joins the files of a sweep's parts.
#include <fmt/format.h>

#include <cstdio>

#include "host/api/nearwarp/results.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/expected.h"
#include "host/timing/report/columns.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_merge() {
  CommandLine line("merge", "OUT IN...",
                   "Join result files of a sweep: each point once, in the sweep's order");
  return line;
}

int run_merge(const CommandLine& line, const Words& /*application*/) {
  const std::string& output = line.positional()[0];
  const Words inputs(line.positional().begin() + 1, line.positional().end());
  const MergeOutcome outcome = taken(merge_results(inputs, output));
  for (const std::string& path : outcome.torn) {
    std::fprintf(stderr, "nearwarp: the last line of '%s' is cut off and was left out\n",
                 path.c_str());
  }
  std::string text = fmt::format("{} points in {}", report::grouped(outcome.points), output);
  if (outcome.duplicates != 0) text += fmt::format(", {} duplicates left out", outcome.duplicates);
  if (outcome.failed != 0) text += fmt::format(", {} of them failed", outcome.failed);
  print(text + "\n");
  return 0;
}

}  // namespace

Command merge_command() {
  return {.name = "merge",
          .uses = {{"OUT IN...", "join the files of a sweep's parts"}},
          .declare = declare_merge,
          .least = 2,
          .most = kAnyNumber,
          .run = run_merge};
}

}  // namespace nearwarp::cli
