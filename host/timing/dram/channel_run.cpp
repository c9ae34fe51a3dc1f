// One memory channel by itself under generated or recorded traffic.
#include "host/timing/dram/channel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "device/dram/vault.h"
#include "host/core/error.h"
#include "kernels/cpu_executor.h"

namespace nearwarp::dram {
using kernels::Stop;

namespace {

constexpr uint64_t kWindowsAtOnce = 10'000;  // between two looks at whether to go on

VaultCounters difference(const VaultCounters& a, const VaultCounters& b) {
  static_assert(sizeof(VaultCounters) % sizeof(uint64_t) == 0);
  VaultCounters result;
  const auto* x = reinterpret_cast<const uint64_t*>(&a);
  const auto* y = reinterpret_cast<const uint64_t*>(&b);
  auto* out = reinterpret_cast<uint64_t*>(&result);
  for (size_t i = 0; i < sizeof(VaultCounters) / sizeof(uint64_t); ++i) out[i] = x[i] - y[i];
  return result;
}

double served_bytes(const Served& stream, uint32_t access_bytes) {
  return static_cast<double>(stream.traffic.reads_done + stream.traffic.writes_sent) * access_bytes;
}

/// The accesses of all streams together.
Served sum_of(const std::vector<Served>& streams) {
  Served sum;
  std::map<uint64_t, uint64_t> counts;
  for (const Served& s : streams) {
    sum.traffic.reads_sent += s.traffic.reads_sent;
    sum.traffic.writes_sent += s.traffic.writes_sent;
    sum.traffic.reads_done += s.traffic.reads_done;
    sum.traffic.latency_cycles += s.traffic.latency_cycles;
    sum.traffic.latency_min = std::min(sum.traffic.latency_min, s.traffic.latency_min);
    sum.traffic.latency_max = std::max(sum.traffic.latency_max, s.traffic.latency_max);
    for (const auto& [cycles_from, n] : s.latencies) counts[cycles_from] += n;
  }
  sum.latencies.assign(counts.begin(), counts.end());
  return sum;
}

}  // namespace

ChannelRun::ChannelRun(const config::DramConfig& standard, const Load& load,
                       const RunOptions& options)
    : data_mbps_(config::peak_mbps(standard)),
      clock_mhz_(standard.speed.clock_mhz),
      whole_(load.is_trace()),
      options_(options),
      system_(build_channel(standard, load)),
      begun_(std::chrono::steady_clock::now()) {
  control_.longest =
      options.window_ticks == 0 ? system_.window : std::min(options.window_ticks, system_.window);
  from_ = whole_ ? system_.first_arrival : options.warm_up_cycles * system_.period();
  control_.limit = whole_ ? 0 : from_;
  kernels::begin_windows(control_);
}

std::span<kernels::Component> ChannelRun::components() {
  return {system_.arena.get(system_.table), system_.table.count};
}

kernels::RunState ChannelRun::state() {
  kernels::RunState state;
  state.view.arena = system_.arena.base();
  state.table = system_.table;
  state.front_end = system_.front_end.offset;
  state.control = control_;
  return state;
}

std::span<TrafficStream> ChannelRun::streams() {
  return {system_.arena.get(source().streams), source().streams.count};
}
std::span<uint64_t> ChannelRun::histogram(const TrafficStream& stream) {
  return {system_.arena.get(stream.histogram), stream.histogram.count};
}

/// Make up for the refreshes of a channel without work.
void ChannelRun::catch_up(Tick now) {
  finish_vault(system_.vault_params, vault(), system_.arena.base(), now);
}

bool ChannelRun::serve() {
  switch (phase_) {
    case Phase::kWarmUp:
      begin_measuring();
      control_.limit = whole_ ? kNever : from_ + options_.cycles * system_.period();
      phase_ = Phase::kMeasure;
      break;
    case Phase::kMeasure:
      end_measuring();
      source().stopped = 1;
      control_.limit = kNever;
      phase_ = Phase::kDrain;
      break;
    case Phase::kDrain:
    case Phase::kOver:
      check();
      phase_ = Phase::kOver;
      return false;
  }
  kernels::begin_windows(control_);
  return true;
}

void ChannelRun::begin_measuring() {
  catch_up(from_);
  before_ = vault().counters;
  for (TrafficStream& stream : streams()) {
    stream.counters = TrafficCounters{};
    const std::span<uint64_t> counts = histogram(stream);
    std::fill(counts.begin(), counts.end(), 0);
  }
}

void ChannelRun::end_measuring() {
  const uint32_t period = system_.period();
  const Tick data = *std::max_element(std::begin(vault().bus_free), std::end(vault().bus_free));
  const Tick to =
      whole_ ? cycle_at_or_after(std::max(data, from_), period) * period : control_.limit;
  catch_up(to);
  result_.cycles = (to - from_) / period;
  result_.commands = difference(vault().counters, before_);
  for (const TrafficStream& stream : streams()) {
    Served& served = result_.streams.emplace_back();
    served.traffic = stream.counters;
    const std::span<const uint64_t> counts = histogram(stream);
    for (uint32_t b = 0; b < kLatencyBuckets; ++b) {
      if (counts[b] != 0) served.latencies.emplace_back(bucket_latency(b), counts[b]);
    }
  }
  static_cast<Served&>(result_) = sum_of(result_.streams);
  result_.access_bytes = system_.traffic_params.line_bytes;
  result_.peak_bytes_per_cycle = data_mbps_ / clock_mhz_;
  result_.clock_mhz = clock_mhz_;
}

/// Nothing is under way any more: did everything arrive?
void ChannelRun::check() const {
  const std::byte* base = system_.arena.base();
  const VaultState& v = *system_.vault.in(base);
  const TrafficState& s = *system_.source.in(base);
  const Channel& out = *s.out.in(base);
  const char* what = nullptr;
  if (v.fault.code != 0 || s.fault.code != 0) what = "met a wrong packet";
  for (uint32_t i = 0; i < s.streams.count; ++i) {
    if (s.streams.in(base)[i].outstanding != 0) what = "lost reads";
  }
  if (v.valid != 0) what = "left requests in its queue";
  if (out.producer_side.packets != v.counters.requests_in) what = "lost requests";
  if (what != nullptr) {
    throw Error(fmt::format("the memory channel {} - this is a defect of the simulator", what));
  }
}

RunResult ChannelRun::finish() {
  result_.simulated_cycles = cycles();
  result_.simulated_requests = vault().counters.requests_in;
  result_.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  return std::move(result_);
}

RunResult run_channel(const config::DramConfig& standard, const Load& load,
                      const RunOptions& options) {
  return *run_channel_while(standard, load, options, [](uint64_t) { return true; });
}

std::optional<RunResult> run_channel_while(const config::DramConfig& standard, const Load& load,
                                           const RunOptions& options,
                                           const std::function<bool(uint64_t cycles)>& goes_on) {
  ChannelRun run(standard, load, options);
  kernels::CpuExecutor executor(run.components(),
                                kernels::ExecutorOptions{1, options.order_seed, options.family});
  do {
    kernels::RunState state = run.state();
    while (state.control.stop == Stop::kNone || state.control.stop == Stop::kSlice) {
      executor.run(state, kWindowsAtOnce);
      run.control() = state.control;
      if (!goes_on(run.cycles())) return std::nullopt;
    }
  } while (run.serve());
  return run.finish();
}

double RunResult::bytes() const {
  return static_cast<double>(commands.data_bytes_read + commands.data_bytes_written);
}
double RunResult::share_of_peak() const {
  return cycles == 0 ? 0 : bytes() / (static_cast<double>(cycles) * peak_bytes_per_cycle);
}
double RunResult::gigabytes_per_second() const {
  return cycles == 0 ? 0 : bytes() / static_cast<double>(cycles) * clock_mhz / 1e3;
}
double RunResult::row_hit_rate() const {
  const uint64_t all = commands.row_hits + commands.row_misses + commands.row_conflicts;
  return all == 0 ? 0 : static_cast<double>(commands.row_hits) / static_cast<double>(all);
}
double RunResult::share_of_peak(const Served& stream) const {
  return cycles == 0 ? 0
                     : served_bytes(stream, access_bytes) /
                           (static_cast<double>(cycles) * peak_bytes_per_cycle);
}
double RunResult::gigabytes_per_second(const Served& stream) const {
  return cycles == 0
             ? 0
             : served_bytes(stream, access_bytes) / static_cast<double>(cycles) * clock_mhz / 1e3;
}
double Served::mean_latency() const {
  return traffic.reads_done == 0 ? 0
                                 : static_cast<double>(traffic.latency_cycles) /
                                       static_cast<double>(traffic.reads_done);
}
uint64_t Served::latency_quantile(uint32_t permille) const {
  uint64_t seen = 0;
  for (const auto& [cycles_from, n] : latencies) {
    seen += n;
    if (seen * 1000 >= traffic.reads_done * permille) return cycles_from;
  }
  return 0;
}

}  // namespace nearwarp::dram
