// nearwarp dram: one memory channel by itself under generated or recorded traffic.
#include <fmt/format.h>

#include <algorithm>

#include "host/api/nearwarp/parts.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/files/result_files.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/backend.h"
#include "host/cli/programs/dram_load.h"
#include "host/cli/progress/notes.h"
#include "host/cli/terminal.h"
#include "host/cli/with_options.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_dram() {
  CommandLine line("dram", "", "Simulate one memory channel by itself: bandwidth, latency, energy");
  line.value("standard", "names (see 'nearwarp list dram') or .toml files, with commas", "NAMES",
             "ddr3-1600k");
  declare_load(line);
  line.value("cycles", "command-clock cycles that are measured", "N", "1000000");
  line.value("warm-up", "cycles before them", "N", "50000");
  line.value("scheduler", "fr-fcfs or fcfs, instead of the standard's", "NAME");
  line.value("page-policy", "open or closed, instead of the standard's", "NAME");
  line.list("set", "override a key of the standard, e.g. timing.tREFI=0", "KEY=VALUE");
  line.value("seed", "of random addresses and times", "N", "1");
  line.value("threads", "runs at a time on the CPU", "N", "1");
  line.value("backend", "cpu, or cuda: all runs at once on a GPU, which pays for hundreds",
             "cpu|cuda", "cpu");
  line.value("device", "the CUDA device to use", "N", "0");
  ResultFiles::declare(line, "docs/memory.md", "run");
  line.offer("standard", dram_values);
  line.offer("set", dram_key_values);
  line.offer("scheduler", {"fr-fcfs", "fcfs"});
  line.offer("page-policy", {"open", "closed"});
  return line;
}

/// Adds a point for each load of a standard. `several`: points are named after their standard, too.
void add_points(const CommandLine& line, const MemoryStandard& standard, bool several,
                std::vector<MemoryPoint>& points) {
  for (NamedLoad& load : loads_of(line, standard)) {
    const std::string name = several ? fmt::format("{} {}", standard.name(), load.name) : load.name;
    points.push_back({standard, std::move(load.streams), load.name.empty() ? "" : name});
  }
}

int run_dram(const CommandLine& line, const Words& /*application*/) {
  MemoryOptions run;
  run.cycles = line.number("cycles", 1, uint64_t{1} << 36);
  run.warm_up_cycles = line.number("warm-up", 0, uint64_t{1} << 36);
  Words changes = line.texts("set");
  for (const char* option : {"scheduler", "page-policy"}) {
    if (!line.given(option)) continue;
    const std::string key = option == std::string("scheduler") ? "scheduler" : "page_policy";
    changes.push_back(fmt::format("controller.{}={}", key, line.text(option)));
  }
  const Words names = split_commas(line.text("standard"));
  if (names.empty()) throw UsageError("--standard names none - see 'nearwarp list dram'");
  std::vector<MemoryStandard> standards;
  for (const std::string& name : names)
    standards.push_back(taken(MemoryStandard::load(name, changes)));
  std::vector<MemoryPoint> points;
  for (const MemoryStandard& standard : standards)
    add_points(line, standard, standards.size() > 1, points);
  run.threads = static_cast<unsigned>(line.number("threads", 1, 1024));
  const Backend backend = chosen_backend(line);
  if (backend.cuda) run.backend = "cuda";
  run.device = backend.device;
  const ResultFiles files = ResultFiles::of(line);
  catch_interrupts();
  MemoryReport found;
  {
    Notes notes;
    run.progress = notes.progress_function();
    found = taken(measure_memory(points, run));
  }
  const auto ended =
      static_cast<size_t>(std::ranges::count_if(found.results, &MemoryResult::ended));
  if (ended != 0) print(with_options(taken(found.text(output_width()))));
  if (files.any()) files.write(found.document, "runs");
  if (ended == points.size()) return 0;
  throw Error(fmt::format("interrupted: {} of {} runs came to their end", ended, points.size()));
}

}  // namespace

Command dram_command() {
  return {.name = "dram",
          .uses = {{"[OPTION...]", "measure a memory channel by itself"}},
          .declare = declare_dram,
          .least = 0,
          .most = 0,
          .run = run_dram};
}

}  // namespace nearwarp::cli
