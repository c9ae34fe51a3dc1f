// nearwarp dram: one memory channel by itself under generated or recorded traffic.
#include <fmt/format.h>

#include <algorithm>

#include "host/cli/backend.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/dram_load.h"
#include "host/cli/interrupt.h"
#include "host/cli/progress_bar.h"
#include "host/cli/result_files.h"
#include "host/cli/terminal.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/timing/dram/report.h"

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
  return line;
}

/// A point per standard and load.
void add_points(const CommandLine& line, const config::DramConfig& standard, bool several,
                std::vector<dram::Point>& points) {
  for (NamedLoad& load : loads_of(line, standard)) {
    const std::string name = several ? fmt::format("{} {}", standard.name, load.name) : load.name;
    points.push_back({&standard, std::move(load.load), load.name.empty() ? standard.name : name});
  }
}

/// Shows progress, stops at an interrupt.
dram::RunResults run_all(std::span<const dram::Point> points, const dram::RunOptions& run,
                         const Backend& backend, unsigned threads) {
  const bool ends_are_known = std::none_of(points.begin(), points.end(),
                                           [](const dram::Point& p) { return p.load.is_trace(); });
  const uint64_t cycles = points.size() * (run.warm_up_cycles + run.cycles);
  catch_interrupts();
  ProgressBar bar("simulating", "Mcycles/s");
  const dram::Watch watch = [&](uint64_t done) {
    bar.update(done, ends_are_known ? std::max(done, cycles) : 0);
    return !interrupted();
  };
  return backend.cuda ? dram::run_points_on_cuda(backend.device, points, run, watch)
                      : dram::run_points(points, run, threads, watch);
}

int run_dram(const CommandLine& line, const Words& /*application*/) {
  dram::RunOptions run;
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
  std::vector<config::DramConfig> standards;
  for (const std::string& name : names) standards.push_back(config::load_dram(name, changes));
  std::vector<dram::Point> points;
  for (const config::DramConfig& standard : standards) {
    add_points(line, standard, standards.size() > 1, points);
  }
  const auto threads = static_cast<unsigned>(line.number("threads", 1, 1024));
  const Backend backend = chosen_backend(line);
  const ResultFiles files = ResultFiles::of(line);
  const dram::RunResults found = run_all(points, run, backend, threads);
  std::vector<dram::Point> over;
  std::vector<dram::RunResult> results;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!found[i].has_value()) continue;
    over.push_back(points[i]);
    results.push_back(*found[i]);
  }
  if (!over.empty()) print(dram::table_text(over, results, output_width()));
  if (files.any()) files.write(dram::json_text(over, results, run, version()), "runs");
  if (over.size() == points.size()) return 0;
  throw Error(
      fmt::format("interrupted: {} of {} runs came to their end", over.size(), points.size()));
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
