// The reference programs on a machine, beside what GPGPU-Sim 4.2 counted for them
// (docs/gpgpu-sim.md), or a machine's probes beside what others have measured on the real GPU
// (docs/hopper.md). Prints a table of runs and one of latencies, or of errors by class.
//
//   reference_bench [--config NAME] [--machine NAME] [--set KEY=VALUE]... [--run REGEX]
//                   [--threads N] [--csv FILE] [--page FILE]
#include <fmt/format.h>

#include <cstdio>
#include <cxxopts.hpp>
#include <fstream>

#include "bench/reference/measure.h"
#include "bench/reference/published.h"
#include "host/core/error.h"

namespace {

using namespace nearwarp;
using reference::Configuration, reference::Row;

struct Options {
  std::string config, machine;
  std::vector<std::string> set;
  std::string run, csv, page;
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

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw Error("cannot write " + path);
}

/// The machine that stands for a real GPU; empty: the configuration is one of GPGPU-Sim's.
std::string machine_of(const std::string& config) {
  return config == "A100" ? "a100" : config == "H100" ? "h100" : config == "H200" ? "h200" : "";
}

void compare_with_gpu(const Options& options) {
  if (!options.run.empty()) throw UsageError("--run is of GPGPU-Sim's configurations");
  const std::string machine = machine_of(options.config);
  const std::string title =
      fmt::format("Published numbers of {} and machine {}{}{}", options.config,
                  options.machine.empty() ? machine : options.machine,
                  options.set.empty() ? "" : ", ", fmt::join(options.set, ", "));
  const auto rows = reference::measure_published(
      reference::read_published(NW_SOURCE_DIR "/tests/validation/hopper_published.tsv"), machine,
      options.machine, options.set, options.threads);
  std::printf("%s\n\n%s", title.c_str(), reference::published_text(rows).c_str());
  if (!options.csv.empty()) write(options.csv, reference::published_csv(rows));
  if (!options.page.empty()) write(options.page, reference::published_page(title, rows));
}

void compare(const Options& options) {
  if (!machine_of(options.config).empty()) return compare_with_gpu(options);
  if (!options.page.empty()) throw UsageError("--page is of A100, H100 and H200");
  const std::vector<Configuration> configurations = reference::configurations(options.config);
  if (configurations.empty())
    throw UsageError("no configuration '" + options.config +
                     "' - SM2_GTX480, SM7_QV100, A100, H100 or H200");
  print_head(configurations, options);
  const reference::Setting setting{options.config, options.machine, options.set, options.threads};
  const std::vector<Row> rows = reference::measure(
      setting, reference::read_figures(NW_SOURCE_DIR "/tests/validation/gpgpusim_reference.tsv"),
      options.run);
  if (rows.empty()) throw UsageError("no run matches --run " + options.run);
  std::fputs(reference::runs_text(rows).c_str(), stdout);
  const std::string slopes = reference::slopes_text(rows);
  if (!slopes.empty()) std::printf("\n%s", slopes.c_str());
  if (!options.csv.empty()) write(options.csv, reference::runs_csv(rows));
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options usage("reference_bench",
                         "Compares with GPGPU-Sim's figures, or with published ones of a GPU");
  usage.add_options()("config", "SM2_GTX480, SM7_QV100; A100, H100 or H200",
                      cxxopts::value<std::string>()->default_value("SM2_GTX480"))(
      "machine", "instead of the configuration's",
      cxxopts::value<std::string>()->default_value(""))("set", "KEY=VALUE of the machine",
                                                        cxxopts::value<std::vector<std::string>>())(
      "run", "runs whose name a regular expression matches",
      cxxopts::value<std::string>()->default_value(""))(
      "threads", "of a simulation", cxxopts::value<unsigned>()->default_value("1"))(
      "csv", "file to write, with all ratios", cxxopts::value<std::string>()->default_value(""))(
      "page", "file to write, of A100, H100 and H200: tables and a scatter",
      cxxopts::value<std::string>()->default_value(""))("help", "this");
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
    options.page = given["page"].as<std::string>();
    compare(options);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "reference_bench: %s\n", e.what());
    return 1;
  }
}
