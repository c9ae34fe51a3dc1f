// measure_memory(): a memory channel by itself.
#include <fmt/format.h>

#include <algorithm>

#include "host/api/backend.h"
#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/nearwarp/parts.h"
#include "host/api/state.h"
#include "host/config/config.h"
#include "host/config/nearest.h"
#include "host/core/workers.h"
#include "host/timing/dram/report.h"
#include "host/timing/dram/trace_file.h"

namespace nearwarp {

struct MemoryStandard::State {
  config::DramConfig config;
};
struct MemoryReport::Whole {
  std::vector<MemoryStandard> standards;  ///< keeps alive what the points point to
  std::vector<dram::Point> points;        ///< points that ended
  std::vector<dram::RunResult> results;
};

static_assert(MemoryStream::kMostStreams == dram::kMaxStreams);

namespace {

constexpr uint32_t kMillion = 1'000'000;
constexpr uint64_t kMostCycles = uint64_t{1} << 36;

void check_share(const char* what, uint32_t ppm) {
  if (ppm > kMillion)
    throw UsageError(fmt::format("{} cannot be {} - 0 to {} millionths", what, ppm, kMillion));
}

uint64_t accesses_of(const char* what, uint64_t bytes, const config::DramConfig& standard) {
  const uint64_t one = standard.organisation.access_bytes;
  if (bytes % one != 0 || bytes > MemoryStream::kMostAddress)
    throw UsageError(
        fmt::format("{} cannot be '{}' - a multiple of the {} bytes of an access of {} is needed",
                    what, bytes, one, standard.name));
  return bytes / one;
}

dram::Traffic traffic_of(const MemoryStream& s, const config::DramConfig& standard) {
  const std::vector<std::string> patterns = {"stream",   "random", "strided",
                                             "conflict", "mix",    "trace"};
  if (std::ranges::find(patterns, s.pattern) == patterns.end())
    throw UsageError(
        fmt::format("unknown pattern '{}'{}", s.pattern, config::suggestion(s.pattern, patterns)));
  if ((s.stride_bytes != 0) != (s.pattern == "strided"))
    throw UsageError("stride_bytes belongs to strided, which needs it");
  if (s.trace.empty() == (s.pattern == "trace"))
    throw UsageError("trace belongs to the pattern trace, which needs it");
  if (s.rate_ppm != 0 && s.outstanding != 0)
    throw UsageError("rate_ppm and outstanding exclude each other - give one of them");
  if (s.outstanding > MemoryStream::kMostOutstanding)
    throw UsageError(fmt::format("outstanding cannot be {} - at most {}", s.outstanding,
                                 MemoryStream::kMostOutstanding));
  check_share("rate_ppm", s.rate_ppm);
  dram::Traffic traffic;
  traffic.seed = s.seed;
  traffic.first_line = accesses_of("start_bytes", s.start_bytes, standard);
  if (s.pattern == "random") traffic.pattern = TrafficPattern::kRandom;
  if (s.pattern == "conflict") traffic.pattern = TrafficPattern::kConflict;
  if (s.pattern == "strided")
    traffic.stride_lines = accesses_of("stride_bytes", s.stride_bytes, standard);
  if (s.pattern == "mix") {
    traffic.writes_num = 1;
    traffic.writes_den = 3;
  }
  if (s.pattern == "trace") {
    if (s.reads_ppm.has_value() || s.rate_ppm != 0)
      throw UsageError("reads_ppm and rate_ppm are not for traces - leave them out");
    dram::Trace trace = dram::read_trace(s.trace, standard);
    traffic.pattern = TrafficPattern::kTrace;
    traffic.trace = std::move(trace.accesses);
    if (trace.timed) traffic.pacing = TrafficPacing::kOpen;
  }
  if (s.reads_ppm.has_value()) {
    check_share("reads_ppm", *s.reads_ppm);
    traffic.writes_num = kMillion - *s.reads_ppm;
    traffic.writes_den = kMillion;
  }
  if (s.rate_ppm != 0) {
    traffic.pacing = TrafficPacing::kOpen;
    traffic.rate_ppm = s.rate_ppm;
  }
  if (s.outstanding != 0) {
    traffic.pacing = TrafficPacing::kWindow;
    traffic.outstanding = s.outstanding;
  }
  return traffic;
}

dram::Point point_of(const MemoryPoint& point) {
  const config::DramConfig& standard = Access::of(point.standard).config;
  if (point.streams.empty() || point.streams.size() > MemoryStream::kMostStreams)
    throw UsageError(fmt::format("a memory cannot have {} streams - 1 to {} are right",
                                 point.streams.size(), MemoryStream::kMostStreams));
  std::vector<dram::Traffic> streams;
  for (const MemoryStream& stream : point.streams) streams.push_back(traffic_of(stream, standard));
  if (streams.size() > 1 && std::ranges::any_of(streams, [](const dram::Traffic& t) {
        return t.pattern == TrafficPattern::kTrace;
      }))
    throw UsageError("a trace is by itself - take one stream");
  return {&standard, dram::Load(std::move(streams)),
          point.label.empty() ? standard.name : point.label};
}

dram::RunResults run_of_points(std::span<const dram::Point> points, const dram::RunOptions& run,
                               const MemoryOptions& options) {
  const bool ends_are_known =
      std::ranges::none_of(points, [](const dram::Point& p) { return p.load.is_trace(); });
  const uint64_t cycles = points.size() * (run.warm_up_cycles + run.cycles);
  const std::string what = "simulating";
  const dram::Watch watch = [&](uint64_t done) {
    const uint64_t all = ends_are_known ? std::max(done, cycles) : 0;
    return !options.progress || by_caller([&] {
      return options.progress({what, done, all, "Mcycles/s"});
    });
  };
  if (options.backend == "cuda")
    return dram::run_points_on_cuda(options.device, points, run, watch);
  return dram::run_points(points, run, options.threads == 0 ? processors() : options.threads,
                          watch);
}

MemoryResult result_of_point(const dram::Point& point,
                             const std::optional<dram::RunResult>& found) {
  MemoryResult r;
  r.label = point.label;
  r.standard = point.standard->name;
  if (!found.has_value()) return r;
  r.ended = true;
  r.cycles = found->cycles;
  r.gigabytes_per_second = found->gigabytes_per_second();
  r.share_of_peak = found->share_of_peak();
  r.reads = found->commands.read_commands;
  r.writes = found->commands.write_commands;
  r.mean_latency = found->traffic.reads_done == 0 ? 0 : found->mean_latency();
  r.median_latency = found->latency_quantile(500);
  r.latency_95 = found->latency_quantile(950);
  r.latency_99 = found->latency_quantile(990);
  r.max_latency = found->traffic.latency_max;
  r.row_hit_rate = found->row_hit_rate();
  r.activations = found->commands.activates;
  r.precharges = found->commands.precharges;
  r.refreshes = found->commands.refreshes;
  r.energy_picojoules = dram::energy_of(*point.standard, *found).known();
  return r;
}

}  // namespace

Expected<MemoryStandard> MemoryStandard::load(const std::string& name_or_path, Texts changes) {
  return guarded([&] {
    return Access::make<MemoryStandard>(
        std::make_shared<const State>(State{config::load_dram(name_or_path, changes)}));
  });
}
const std::string& MemoryStandard::name() const { return Access::of(*this).config.name; }
uint32_t MemoryStandard::access_bytes() const {
  return static_cast<uint32_t>(Access::of(*this).config.organisation.access_bytes);
}

Expected<std::string> MemoryReport::text(size_t width) const {
  return guarded([&] {
    if (whole == nullptr)
      throw UsageError("a report of nothing was used - take one of measure_memory()");
    if (whole->points.empty()) return std::string();
    return dram::table_text(whole->points, whole->results, width);
  });
}

Expected<MemoryReport> measure_memory(std::span<const MemoryPoint> points,
                                      const MemoryOptions& options) {
  return guarded([&] {
    check_backend(options.backend, options.device);
    dram::RunOptions run;
    run.cycles = options.cycles;
    run.warm_up_cycles = options.warm_up_cycles;
    if (run.cycles == 0 || std::max(run.cycles, run.warm_up_cycles) > kMostCycles)
      throw UsageError(fmt::format("{} and {} cycles cannot be simulated - 1 to {}", run.cycles,
                                   run.warm_up_cycles, kMostCycles));
    std::vector<dram::Point> own;
    for (const MemoryPoint& point : points) own.push_back(point_of(point));
    const dram::RunResults found = run_of_points(own, run, options);
    MemoryReport all;
    auto whole = std::make_shared<MemoryReport::Whole>();
    for (size_t i = 0; i < own.size(); ++i) {
      all.results.push_back(result_of_point(own[i], found[i]));
      whole->standards.push_back(points[i].standard);
      if (!found[i].has_value()) continue;
      whole->points.push_back(own[i]);
      whole->results.push_back(*found[i]);
    }
    all.document = dram::json_text(whole->points, whole->results, run, version());
    all.whole = std::move(whole);
    return all;
  });
}

}  // namespace nearwarp
