// One memory channel by itself under generated or recorded traffic.
#include "host/dram/channel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "device/core/arena.h"
#include "host/core/error.h"
#include "kernels/cpu_executor.h"

namespace nearwarp::dram {
namespace {

using config::DramConfig;

// Where no reply is awaited before the next access, channels may be long: windows are, too.
constexpr uint32_t kLongLatencyCycles = 64;
constexpr uint16_t kHeaderBytes = 8;

uint8_t log2_exact(uint64_t value) { return static_cast<uint8_t>(std::countr_zero(value)); }

uint64_t num_lines(const DramConfig& d) {
  return uint64_t{d.organisation.bank_groups} * d.organisation.banks_per_group *
         d.organisation.rows * (d.organisation.row_bytes / d.organisation.access_bytes);
}

ChannelMap channel_map(const DramConfig& d) {
  ChannelMap map;
  map.bank_bits = log2_exact(d.organisation.banks_per_group);
  map.group_bits = log2_exact(d.organisation.bank_groups);
  map.row_bits = log2_exact(d.organisation.rows);
  map.hash = d.controller.mapping_hash ? 1 : 0;
  std::vector<std::string> fields = config::address_fields(d.controller.mapping);
  std::reverse(fields.begin(), fields.end());
  uint8_t shift = 0;
  for (const std::string& field : fields) {
    if (field == "row") map.row_shift = std::exchange(shift, uint8_t(shift + map.row_bits));
    if (field == "bank") map.bank_shift = std::exchange(shift, uint8_t(shift + map.bank_bits));
    if (field == "group") map.group_shift = std::exchange(shift, uint8_t(shift + map.group_bits));
    if (field == "column") {
      shift += log2_exact(d.organisation.row_bytes / d.organisation.access_bytes);
    }
  }
  return map;
}

/// The channel, its source of traffic, and what steps them.
class Bench {
 public:
  Bench(const DramConfig& standard, const Traffic& traffic, const RunOptions& options)
      : vault_params_(vault_params(standard)) {
    make_latencies(traffic);
    make_traffic(standard, traffic);
    make_components(standard, traffic);
    window_ = std::min(request_latency_, reply_latency_);
    if (options.window_ticks != 0) window_ = std::min(window_, options.window_ticks);
    executor_.emplace(std::span(components_),
                      kernels::ExecutorOptions{1, options.order_seed, options.shuffle_lanes});
    view_.arena = arena_.base();
  }

  uint32_t period() const { return vault_params_.period; }
  VaultState& vault() { return *arena_.get(vault_); }
  TrafficState& source() { return *arena_.get(source_); }
  std::span<uint64_t> histogram() {
    return {arena_.get(source().histogram), source().histogram.count};
  }
  Tick last_tick() const { return last_; }
  /// When the first access reaches the memory.
  Tick first_arrival() const { return std::max(request_latency_, source_begin_); }

  /// Step up to `end`, or until nothing is left to do; false in that case.
  bool run_until(Tick end) {
    while (next_ < end) {
      const Window window{next_, std::min(next_ + window_, end)};
      next_ = executor_->step(view_, window);
      last_ = window.end;
    }
    return next_ < kNever;
  }
  /// Make up for the refreshes of a channel without work.
  void catch_up(Tick now) { finish_vault(HostGroup{}, vault_params_, vault(), arena_.base(), now); }
  /// Send nothing more and wait for what is under way; nothing may be lost.
  void drain() {
    source().stopped = 1;
    run_until(kNever);
    const Channel& out = *arena_.get(source().out);
    const char* what = nullptr;
    if (vault().fault.code != 0 || source().fault.code != 0) what = "met a wrong packet";
    if (source().outstanding != 0) what = "lost reads";
    if (vault().valid != 0) what = "left requests in its queue";
    if (out.producer_side.packets != vault().counters.requests_in) what = "lost requests";
    if (what != nullptr) {
      throw Error(fmt::format("the memory channel {} - this is a defect of the simulator", what));
    }
  }

 private:
  void make_latencies(const Traffic& traffic) {
    const VaultParams& p = vault_params_;
    // From a column read to the end of its data.
    lead_ = Tick{p.tCL + p.fixed_latency_cycles} * p.period +
            Tick{p.line_bytes} * p.ticks_per_byte_num / p.ticks_per_byte_den;
    if (traffic.pacing == TrafficPacing::kWindow) {
      // The access that a reply allows comes in the cycle after the data: both ways together take
      // a cycle more than the reply is ahead.
      reply_latency_ = (lead_ + p.period) / 2;
      request_latency_ = lead_ + p.period - reply_latency_;
    } else {
      reply_latency_ = request_latency_ = Tick{kLongLatencyCycles} * p.period;
    }
    vault_params_.reply_lead_ticks = static_cast<uint32_t>(lead_);
  }

  void make_traffic(const DramConfig& d, const Traffic& traffic) {
    TrafficParams& p = traffic_params_;
    p.period = period();
    p.pattern = traffic.pattern;
    p.pacing = traffic.pacing;
    p.window = traffic.outstanding;
    p.writes_num = traffic.writes_num;
    p.writes_den = traffic.writes_den;
    const double per_cycle = static_cast<double>(traffic.rate_ppm) / 1e6 * d.speed.data_mbps /
                             (double{1} * d.speed.clock_mhz * d.organisation.access_bytes);
    p.arrival_threshold =
        static_cast<uint32_t>(std::min(std::ldexp(per_cycle, 32), std::ldexp(1.0, 32) - 1));
    p.stride_lines = traffic.stride_lines;
    p.lines = num_lines(d);
    p.map = vault_params_.channel_map;
    p.row_step = d.organisation.row_buffers;
    p.request_latency = static_cast<uint32_t>(request_latency_);
    p.reply_lead = static_cast<uint32_t>(lead_);
    p.reply_latency = static_cast<uint32_t>(reply_latency_);
    p.header_bytes = kHeaderBytes;
    p.line_bytes = vault_params_.line_bytes;
  }

  Ref<Channel> channel(Tick latency) {
    // Never short of slots before the credits of the first ones are back.
    const uint32_t slots = static_cast<uint32_t>(2 * latency / period()) + 8;
    const Ref<Slot> ring = arena_.allocate<Slot>(slots);
    const Ref<Channel> ref = arena_.allocate<Channel>(1);
    Channel& c = *arena_.get(ref);
    c.slots = ring;
    c.latency = c.credit_latency = static_cast<uint32_t>(latency);
    return ref;
  }

  void add(kernels::ComponentKind kind, uint32_t params, uint32_t state, Ref<Channel> input) {
    kernels::Component c;
    c.kind = kind;
    c.params = params;
    c.state = state;
    c.inputs = arena_.allocate<Ref<Channel>>(1);
    *arena_.get(c.inputs) = input;
    components_.push_back(c);
  }

  template <class T>
  Ref<T> place(const T& object) {
    const Ref<T> ref = arena_.allocate<T>(1);
    *arena_.get(ref) = object;
    return ref;
  }

  void make_components(const DramConfig& d, const Traffic& traffic) {
    const Ref<Channel> requests = channel(request_latency_), replies = channel(reply_latency_);
    vault_ = place(make_vault(
        arena_, vault_params_, d.organisation.bank_groups * d.organisation.banks_per_group,
        d.controller.read_entries + d.controller.write_entries, requests, replies));
    TrafficState s;
    s.out = requests;
    s.in = replies;
    s.histogram = arena_.allocate<uint64_t>(kLatencyBuckets);
    s.trace = arena_.allocate<TrafficAccess>(static_cast<uint32_t>(traffic.trace.size()));
    std::copy(traffic.trace.begin(), traffic.trace.end(), arena_.get(s.trace));
    // An access of cycle 0 is sent ahead of it.
    const uint64_t first = traffic.pacing == TrafficPacing::kOpen ? kLongLatencyCycles : 0;
    source_begin_ = first * period();
    for (uint32_t i = 0; i < s.trace.count; ++i) arena_.get(s.trace)[i].cycle += first;
    s.birth = first;
    s.random = traffic.seed;
    source_ = place(s);
    add(kernels::ComponentKind::kTraffic, place(traffic_params_).offset, source_.offset, replies);
    add(kernels::ComponentKind::kVault, place(vault_params_).offset, vault_.offset, requests);
  }

  VaultParams vault_params_;
  TrafficParams traffic_params_;
  Tick lead_ = 0, request_latency_ = 1, reply_latency_ = 1, window_ = 1, source_begin_ = 0;
  ArenaBuilder arena_;
  Ref<VaultState> vault_;
  Ref<TrafficState> source_;
  std::vector<kernels::Component> components_;
  std::optional<kernels::CpuExecutor> executor_;
  sm::SystemView view_;
  Tick next_ = 0, last_ = 0;
};

VaultCounters difference(const VaultCounters& a, const VaultCounters& b) {
  static_assert(sizeof(VaultCounters) % sizeof(uint64_t) == 0);
  VaultCounters result;
  const auto* x = reinterpret_cast<const uint64_t*>(&a);
  const auto* y = reinterpret_cast<const uint64_t*>(&b);
  auto* out = reinterpret_cast<uint64_t*>(&result);
  for (size_t i = 0; i < sizeof(VaultCounters) / sizeof(uint64_t); ++i) out[i] = x[i] - y[i];
  return result;
}

}  // namespace

VaultParams vault_params(const DramConfig& d, uint64_t* base_mhz) {
  VaultParams p;
  // Ticks per cycle such that an access takes a whole number of them.
  const uint64_t work = uint64_t{d.organisation.access_bytes} * d.speed.clock_mhz;
  const uint64_t ticks = d.speed.data_mbps / std::gcd(work, uint64_t{d.speed.data_mbps});
  p.period = static_cast<uint32_t>(ticks);
  if (base_mhz != nullptr) *base_mhz = ticks * d.speed.clock_mhz;
  const uint64_t common = std::gcd(ticks * d.speed.clock_mhz, uint64_t{d.speed.data_mbps});
  p.ticks_per_byte_num = static_cast<uint32_t>(ticks * d.speed.clock_mhz / common);
  p.ticks_per_byte_den = static_cast<uint32_t>(d.speed.data_mbps / common);
  const DramConfig::Timing& t = d.timing;
  p.tCL = t.tCL, p.tCWL = t.tCWL, p.tRCD = t.tRCD, p.tRP = t.tRP, p.tRAS = t.tRAS, p.tRC = t.tRC;
  p.tRRD = t.tRRD_S, p.tRRD_L = t.tRRD_L, p.tFAW = t.tFAW;
  p.tCCD = t.tCCD_S, p.tCCD_L = t.tCCD_L, p.tWR = t.tWR, p.tWTR = t.tWTR_S, p.tWTR_L = t.tWTR_L;
  p.tRTP = t.tRTP, p.tRTW = t.tRTW, p.tREFI = t.tREFI, p.tRFC = t.tRFC;
  const DramConfig::Controller& c = d.controller;
  p.in_order = c.scheduler == "fcfs" ? 1 : 0;
  p.closed_page = c.page_policy == "closed" ? 1 : 0;
  p.read_entries = c.read_entries;
  p.write_entries = c.write_entries;
  p.write_high = c.write_high_watermark;
  p.write_low = c.write_low_watermark;
  p.posted_writes = 1;
  p.forward_writes = c.forward_writes ? 1 : 0;
  p.starvation_cycles = c.starvation_cycles;
  p.fixed_latency_cycles = c.fixed_latency_cycles;
  p.two_command_buses = d.organisation.two_command_buses ? 1 : 0;
  p.row_buffer_bits = log2_exact(d.organisation.row_buffers);
  p.group_shift = static_cast<uint8_t>(
      log2_exact(uint64_t{d.organisation.banks_per_group} * d.organisation.row_buffers));
  p.own_map = 1;
  p.channel_map = channel_map(d);
  p.header_bytes = kHeaderBytes;
  p.line_bytes = p.sector_bytes = static_cast<uint16_t>(d.organisation.access_bytes);
  return p;
}

RunResult run_channel(const DramConfig& standard, const Traffic& traffic,
                      const RunOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Bench bench(standard, traffic, options);
  const bool whole = traffic.pattern == TrafficPattern::kTrace;
  const Tick from = whole ? bench.first_arrival() : options.warm_up_cycles * bench.period();
  if (!whole) bench.run_until(from);
  bench.catch_up(from);
  const VaultCounters before = bench.vault().counters;
  bench.source().counters = TrafficCounters{};
  std::fill(bench.histogram().begin(), bench.histogram().end(), 0);
  Tick to = from + options.cycles * bench.period();
  if (whole) {
    bench.run_until(kNever);
    to = cycle_at_or_after(std::max(bench.vault().bus_free, from), bench.period()) * bench.period();
  } else {
    bench.run_until(to);
  }
  bench.catch_up(to);

  RunResult result;
  result.cycles = (to - from) / bench.period();
  result.commands = difference(bench.vault().counters, before);
  result.traffic = bench.source().counters;
  for (uint32_t b = 0; b < kLatencyBuckets; ++b) {
    const uint64_t n = bench.histogram()[b];
    if (n != 0) result.latencies.emplace_back(bucket_latency(b), n);
  }
  result.peak_bytes_per_cycle =
      static_cast<double>(standard.speed.data_mbps) / static_cast<double>(standard.speed.clock_mhz);
  result.clock_mhz = standard.speed.clock_mhz;
  bench.drain();
  result.simulated_cycles = bench.last_tick() / bench.period();
  result.simulated_requests = bench.vault().counters.requests_in;
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
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
double RunResult::mean_latency() const {
  return traffic.reads_done == 0 ? 0
                                 : static_cast<double>(traffic.latency_cycles) /
                                       static_cast<double>(traffic.reads_done);
}
uint64_t RunResult::latency_quantile(uint32_t permille) const {
  uint64_t seen = 0;
  for (const auto& [cycles_from, n] : latencies) {
    seen += n;
    if (seen * 1000 >= traffic.reads_done * permille) return cycles_from;
  }
  return 0;
}

}  // namespace nearwarp::dram
