// nearwarp dram: one memory channel by itself under generated or recorded traffic.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host/cli/backend.h"
#include "host/cli/commands.h"
#include "host/cli/interrupt.h"
#include "host/cli/progress_bar.h"
#include "host/config/config.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/timing/dram/report.h"
#include "host/timing/dram/trace_file.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

constexpr uint64_t kMillion = 1'000'000;

CommandLine options() {
  CommandLine line("dram", "", "Simulate one memory channel by itself: bandwidth, latency, energy");
  line.value("standard", "names (see 'nearwarp list dram') or .toml files, with commas", "NAMES",
             "ddr3-1600k");
  line.value("traffic",
             "stream, random, strided, conflict (another row of one bank each time), "
             "mix (a stream with every third access a write) or trace",
             "KIND", "stream");
  line.value("stride", "for strided: distance of accesses in bytes", "BYTES");
  line.value("trace", "accesses, a line each: R|W 0xADDRESS [CYCLE]", "FILE");
  line.value("reads", "share of reads, 0 to 1 (default: 1, of mix 2/3)", "SHARE");
  line.value("rate",
             "accesses at random times, this share of the peak bandwidth; several with "
             "commas",
             "SHARES");
  line.value("outstanding",
             "a read for every read that comes back, so many under way; several "
             "with commas (without this and --rate: as fast as possible)",
             "NUMBERS");
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
  line.value("json", "write everything to this file (docs/memory.md)", "FILE");
  return line;
}

/// "0.66" or "2/3" is not a float here: millionths, exactly.
uint64_t millionths(const std::string& option, const std::string& text, uint64_t least) {
  const size_t dot = text.find('.');
  const std::string whole = text.substr(0, dot);
  std::string part = dot == std::string::npos ? "" : text.substr(dot + 1);
  const bool digits = text.find_first_not_of("0123456789.") == std::string::npos &&
                      part.find('.') == std::string::npos && whole.size() + part.size() > 0;
  if (digits && whole.size() <= 3 && part.size() <= 6) {
    part.resize(6, '0');
    const uint64_t value = (whole.empty() ? 0 : std::stoull(whole)) * kMillion + std::stoull(part);
    if (value >= least && value <= kMillion) return value;
  }
  throw UsageError(
      fmt::format("--{} cannot be '{}' - a share from {} to 1 with at most six decimals "
                  "is needed",
                  option, text, least == 0 ? "0" : "0.000001"));
}

uint64_t number_of(const std::string& option, const std::string& text, uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most) {
    throw UsageError(
        fmt::format("--{} cannot be '{}' - numbers from 1 to {} are needed", option, text, most));
  }
  return value;
}

/// Everything but the pacing.
dram::Traffic traffic_of(const CommandLine& line, const config::DramConfig& standard) {
  dram::Traffic traffic;
  const std::string kind = line.text("traffic");
  const std::vector<std::string> kinds = {"stream",   "random", "strided",
                                          "conflict", "mix",    "trace"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    throw UsageError(fmt::format("unknown traffic '{}'{}", kind, config::suggestion(kind, kinds)));
  }
  const auto only_with = [&](const char* option, const char* wanted) {
    if (line.given(option) && kind != wanted) {
      throw UsageError(fmt::format("--{} is for --traffic {}", option, wanted));
    }
    if (!line.given(option) && kind == wanted) {
      throw UsageError(fmt::format("--traffic {} needs --{}", wanted, option));
    }
  };
  only_with("stride", "strided");
  only_with("trace", "trace");
  traffic.seed = line.number("seed", 0, ~uint64_t{0});
  if (kind == "random") traffic.pattern = TrafficPattern::kRandom;
  if (kind == "conflict") traffic.pattern = TrafficPattern::kConflict;
  if (kind == "strided") {
    const uint64_t bytes = line.number("stride", 1, uint64_t{1} << 40);
    if (bytes % standard.organisation.access_bytes != 0) {
      throw UsageError(
          fmt::format("--stride cannot be '{}' - a multiple of the {} bytes of an access "
                      "of {} is needed",
                      bytes, standard.organisation.access_bytes, standard.name));
    }
    traffic.stride_lines = bytes / standard.organisation.access_bytes;
  }
  if (kind == "mix") {
    traffic.writes_num = 1;
    traffic.writes_den = 3;
  }
  if (kind == "trace") {
    for (const char* option : {"reads", "rate"}) {
      if (line.given(option)) throw UsageError(fmt::format("--{} is not for traces", option));
    }
    dram::Trace trace = dram::read_trace(line.text("trace"), standard);
    traffic.pattern = TrafficPattern::kTrace;
    traffic.trace = std::move(trace.accesses);
    if (trace.timed) traffic.pacing = TrafficPacing::kOpen;
  }
  if (line.given("reads")) {
    traffic.writes_num =
        static_cast<uint32_t>(kMillion - millionths("reads", line.text("reads"), 0));
    traffic.writes_den = kMillion;
  }
  return traffic;
}

/// A point per standard and load.
void add_points(const CommandLine& line, const config::DramConfig& standard, bool several,
                std::vector<dram::Point>& points) {
  dram::Point point;
  point.standard = &standard;
  point.traffic = traffic_of(line, standard);
  if (line.given("rate") && line.given("outstanding")) {
    throw UsageError("--rate and --outstanding exclude each other - give one of them");
  }
  const auto label = [&](const std::string& load) {
    return several ? fmt::format("{} {}", standard.name, load) : load;
  };
  const Words rates = split_commas(line.text("rate"));
  const Words windows = split_commas(line.text("outstanding"));
  if (line.given("rate") && rates.empty()) throw UsageError("--rate names no share");
  if (line.given("outstanding") && windows.empty())
    throw UsageError("--outstanding names no number");
  for (const std::string& rate : rates) {
    point.traffic.pacing = TrafficPacing::kOpen;
    point.traffic.rate_ppm = millionths("rate", rate, 1);
    point.label = label("rate " + rate);
    points.push_back(point);
  }
  for (const std::string& window : windows) {
    point.traffic.pacing = TrafficPacing::kWindow;
    point.traffic.outstanding = static_cast<uint32_t>(number_of("outstanding", window, 65536));
    point.label = label(window + " reads");
    points.push_back(point);
  }
  if (rates.empty() && windows.empty()) {
    point.label = standard.name;
    points.push_back(point);
  }
}

/// Shows progress, stops at an interrupt.
dram::RunResults run_all(std::span<const dram::Point> points, const dram::RunOptions& run,
                         const Backend& backend, unsigned threads) {
  const bool ends_are_known = std::none_of(points.begin(), points.end(), [](const dram::Point& p) {
    return p.traffic.pattern == TrafficPattern::kTrace;
  });
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

}  // namespace

int dram_command(const Words& words) {
  CommandLine line = options();
  line.parse(words, 0, 0);
  if (line.help_wanted()) {
    print(line.help());
    return 0;
  }
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
  if (line.given("json")) report::check_writable(line.text("json"));
  const dram::RunResults found = run_all(points, run, backend, threads);
  std::vector<dram::Point> over;
  std::vector<dram::RunResult> results;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!found[i].has_value()) continue;
    over.push_back(points[i]);
    results.push_back(*found[i]);
  }
  if (!over.empty()) print(dram::table_text(over, results));
  if (line.given("json")) {
    report::write_file(line.text("json"), dram::json_text(over, results, run, version()));
  }
  if (over.size() == points.size()) return 0;
  throw Error(
      fmt::format("interrupted: {} of {} runs came to their end", over.size(), points.size()));
}

}  // namespace nearwarp::cli
