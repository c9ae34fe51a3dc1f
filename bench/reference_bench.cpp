// The reference programs on a machine, beside what GPGPU-Sim 4.2 counted for them
// (docs/gpgpu-sim.md). Prints a table of runs and one of latencies.
//
//   reference_bench [--config NAME] [--machine NAME] [--set KEY=VALUE]... [--run REGEX]
//                   [--threads N] [--csv FILE]
#include <fmt/format.h>

#include <cstdio>
#include <cxxopts.hpp>
#include <fstream>

#include "bench/reference/measure.h"
#include "host/core/error.h"

namespace {

using namespace nearwarp;
using reference::Configuration, reference::Row;

struct Options {
  std::string config, machine;
  std::vector<std::string> set;
  std::string run, csv;
  unsigned threads = 1;
};

void print_head(const std::vector<Configuration>& configurations, const Options& options) {
  std::printf("GPGPU-Sim 4.2 (%s) and machine %s%s%s\n", options.config.c_str(),
              (options.machine.empty() ? configurations.front().machine : options.machine).c_str(),
              options.set.empty() ? "" : ", ",
              fmt::format("{}", fmt::join(options.set, ", ")).c_str());
  for (const Configuration& c : configurations) {
    const std::string changes = fmt::format("{}", fmt::join(c.overrides, ", "));
    if (!changes.empty()) std::printf("%s: %s\n", c.name.c_str(), changes.c_str());
    if (!c.note.empty()) std::printf("%s: %s\n", c.name.c_str(), c.note.c_str());
  }
  std::printf("\n");
}

void compare(const Options& options) {
  const std::vector<Configuration> configurations = reference::configurations(options.config);
  if (configurations.empty())
    throw UsageError("no configuration '" + options.config + "' - SM2_GTX480 or SM7_QV100");
  print_head(configurations, options);
  const reference::Setting setting{options.config, options.machine, options.set, options.threads};
  const std::vector<Row> rows = reference::measure(
      setting, reference::read_figures(NW_SOURCE_DIR "/tests/validation/gpgpusim_reference.tsv"),
      options.run);
  if (rows.empty()) throw UsageError("no run matches --run " + options.run);
  std::fputs(reference::runs_text(rows).c_str(), stdout);
  const std::string slopes = reference::slopes_text(rows);
  if (!slopes.empty()) std::printf("\n%s", slopes.c_str());
  if (options.csv.empty()) return;
  std::ofstream file(options.csv);
  file << reference::runs_csv(rows);
  if (!file.flush()) throw Error("cannot write " + options.csv);
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options usage("reference_bench", "Compares with GPGPU-Sim's figures");
  usage.add_options()("config", "SM2_GTX480 or SM7_QV100",
                      cxxopts::value<std::string>()->default_value("SM2_GTX480"))(
      "machine", "instead of the configuration's",
      cxxopts::value<std::string>()->default_value(""))("set", "KEY=VALUE of the machine",
                                                        cxxopts::value<std::vector<std::string>>())(
      "run", "runs whose name a regular expression matches",
      cxxopts::value<std::string>()->default_value(""))(
      "threads", "of a simulation", cxxopts::value<unsigned>()->default_value("1"))(
      "csv", "file to write, with all ratios", cxxopts::value<std::string>()->default_value(""))(
      "help", "this");
  try {
    const auto given = usage.parse(argc, argv);
    if (given.count("help") != 0) {
      std::puts(usage.help().c_str());
      return 0;
    }
    Options options;
    options.config = given["config"].as<std::string>();
    options.machine = given["machine"].as<std::string>();
    if (given.count("set") != 0) options.set = given["set"].as<std::vector<std::string>>();
    options.run = given["run"].as<std::string>();
    options.threads = given["threads"].as<unsigned>();
    options.csv = given["csv"].as<std::string>();
    compare(options);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "reference_bench: %s\n", e.what());
    return 1;
  }
}
