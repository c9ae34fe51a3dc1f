// The options of a run's timeline: --timeline, --from, --to, --interval.
#include "host/cli/options/timeline_options.h"

#include <fmt/format.h>

#include "host/cli/expected.h"
#include "host/core/error.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

namespace {

constexpr uint64_t kMostCycles = uint64_t{1} << 62;

}  // namespace

void declare_timeline(CommandLine& line) {
  line.value("timeline",
             "write what happened when to this file, for ui.perfetto.dev; one policy, on the CPU "
             "(docs/timeline.md)",
             "FILE");
  line.value("from", "the timeline begins with this core cycle", "CYCLE", "0");
  line.value("to", "and ends with this one; default: the run's last", "CYCLE");
  line.value(
      "interval",
      "core cycles from one sample of the timeline to the next; default: 1000, and longer as "
      "the file grows",
      "CYCLES");
}

std::optional<TimelineOptions> timeline_options(const CommandLine& line, size_t policies) {
  if (!line.given("timeline")) {
    for (const char* option : {"from", "to", "interval"})
      if (line.given(option))
        throw UsageError(
            fmt::format("--{} is of a timeline - name its file with --timeline", option));
    return std::nullopt;
  }
  if (line.given("profile"))
    throw UsageError(
        "--profile simulates nothing, so there is no timeline - leave one of them out");
  if (policies != 1)
    throw UsageError(
        fmt::format("--timeline is of one policy, and there are {} - e.g. --policy tom", policies));
  if (line.given("checkpoint"))
    throw UsageError("--timeline is of a run from its beginning - leave --checkpoint out");
  if (line.text("backend") == "cuda" || line.given("device"))
    throw UsageError("--timeline is written by the CPU - leave --backend and --device out");
  TimelineOptions options;
  options.path = line.text("timeline");
  options.from = line.number("from", 0, kMostCycles);
  if (line.given("to")) options.to = line.number("to", 0, kMostCycles);
  if (options.from >= options.to)
    throw UsageError(fmt::format("--from {} is not before --to {}", options.from, options.to));
  if (line.given("interval")) options.interval = line.number("interval", 1, kMostCycles);
  report::check_writable(options.path);
  return options;
}

std::string follow_option(const CommandLine& line, size_t policies) {
  if (!line.given("follow")) return "";
  const std::string followed = line.filled("follow");
  taken(check(BatchOptions{.follow = followed}));
  if (line.given("profile"))
    throw UsageError("--profile simulates nothing, so nothing is followed - leave one of them out");
  if (policies != 1)
    throw UsageError(
        fmt::format("--follow is of one policy, and there are {} - e.g. --policy tom", policies));
  if (line.given("checkpoint"))
    throw UsageError("--follow is of a run from its beginning - leave --checkpoint out");
  if (line.text("backend") == "cuda" || line.given("device"))
    throw UsageError("--follow is done by the CPU - leave --backend and --device out");
  return followed;
}

}  // namespace nearwarp::cli
