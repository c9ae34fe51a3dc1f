// The layout of one memory channel and its source of traffic in an arena.
#include "host/timing/dram/channel_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "device/core/make_channel.h"
#include "device/dram/vault.h"
#include "host/config/constraints.h"
#include "host/core/error.h"
#include "host/timing/vault/table.h"
#include "kernels/make_component.h"

namespace nearwarp::dram {
namespace {

using config::DramConfig;

// Where no reply is awaited before the next access, channels may be long: windows are, too.
constexpr uint32_t kLongLatencyCycles = 64;
constexpr uint16_t kHeaderBytes = 8;

uint8_t log2_exact(uint64_t value) { return static_cast<uint8_t>(std::countr_zero(value)); }

ChannelMap channel_map(const DramConfig& d) {
  ChannelMap map;
  map.bank_bits = log2_exact(d.organisation.banks_per_group);
  // Groups of all ranks and pseudo channels, whose numbers are above.
  map.group_bits = log2_exact(config::parts_of(d).groups());
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

class Layout {
 public:
  Layout(const DramConfig& standard, const Load& load) : d_(standard), load_(load) {}

  ChannelSystem build() {
    s_.vault_params = vault_params(d_);
    make_latencies();
    make_traffic_params();
    make_components();
    s_.window = std::min(request_latency_, reply_latency_);
    return std::move(s_);
  }

 private:
  void make_latencies() {
    VaultParams& p = s_.vault_params;
    // The time from a column read to the end of its data.
    lead_ = Tick{p.tCL + p.fixed_latency_cycles} * p.period +
            Tick{p.line_bytes} * p.ticks_per_byte_num / p.ticks_per_byte_den;
    // Several streams share the channel: what one has under way in it is ahead of the others' next
    // accesses, so that it is short for them, too.
    if (load_.streams.size() > 1 || load_.streams[0].pacing == TrafficPacing::kWindow) {
      // The access that a reply allows comes in the cycle after the data: both ways together take
      // a cycle more than the reply is ahead.
      reply_latency_ = (lead_ + p.period) / 2;
      request_latency_ = lead_ + p.period - reply_latency_;
    } else {
      reply_latency_ = request_latency_ = Tick{kLongLatencyCycles} * p.period;
    }
    p.reply_lead_ticks = static_cast<uint32_t>(lead_);
  }

  void make_traffic_params() {
    TrafficParams& p = s_.traffic_params;
    p.period = s_.period();
    p.lines = num_lines(d_);
    p.map = s_.vault_params.channel_map;
    p.row_step = d_.organisation.row_buffers;
    p.request_latency = static_cast<uint32_t>(request_latency_);
    p.reply_lead = static_cast<uint32_t>(lead_);
    p.reply_latency = static_cast<uint32_t>(reply_latency_);
    p.header_bytes = kHeaderBytes;
    p.line_bytes = s_.vault_params.line_bytes;
  }

  StreamParams stream_params(const Traffic& traffic) const {
    StreamParams p;
    p.pattern = traffic.pattern;
    p.pacing = traffic.pacing;
    p.window = traffic.outstanding;
    p.writes_num = traffic.writes_num;
    p.writes_den = traffic.writes_den;
    const double per_cycle = static_cast<double>(traffic.rate_ppm) / 1e6 * config::peak_mbps(d_) /
                             (double{1} * d_.speed.clock_mhz * d_.organisation.access_bytes);
    // Every cycle without an access is drawn.
    constexpr double kFewestPerCycle = 0x1p-26;
    if (traffic.pacing == TrafficPacing::kOpen && traffic.pattern != TrafficPattern::kTrace &&
        per_cycle < kFewestPerCycle)
      throw UsageError(
          fmt::format("`rate_ppm`: {} millionths of the peak of {} are fewer than an access in "
                      "2^26 cycles - give a higher rate",
                      traffic.rate_ppm, d_.name));
    p.arrival_threshold =
        static_cast<uint32_t>(std::min(std::ldexp(per_cycle, 32), std::ldexp(1.0, 32) - 1));
    p.stride_lines = traffic.stride_lines;
    p.first_line = traffic.first_line;
    return p;
  }

  Ref<Channel> channel(Tick latency) {
    // Never short of slots before the credits of the first ones are back.
    const uint32_t slots = static_cast<uint32_t>(2 * latency / s_.period()) + 8;
    const auto ticks = static_cast<uint32_t>(latency);
    return make_channel(s_.arena, {.slots = slots, .latency = ticks, .credit_latency = ticks});
  }

  Ref<TrafficState> make_source(Ref<Channel> requests, Ref<Channel> replies) {
    const auto count = static_cast<uint32_t>(load_.streams.size());
    NW_ASSERT(count >= 1 && count <= kMaxStreams);
    TrafficState s;
    s.out = requests;
    s.in = replies;
    s.streams = s_.arena.allocate<TrafficStream>(count);
    s.last = count - 1;  // the first stream begins
    s_.first_arrival = request_latency_;
    for (uint32_t i = 0; i < count; ++i) {
      const TrafficStream stream = make_stream(load_.streams[i]);
      s_.arena.get(s.streams)[i] = stream;
      s_.first_arrival = std::max(s_.first_arrival, stream.birth * s_.period());
    }
    return kernels::place(s_.arena, s);
  }

  TrafficStream make_stream(const Traffic& traffic) {
    TrafficStream s;
    s.params = stream_params(traffic);
    s.histogram = s_.arena.allocate<uint64_t>(kLatencyBuckets);
    s.trace = s_.arena.allocate<TrafficAccess>(static_cast<uint32_t>(traffic.trace.size()));
    std::copy(traffic.trace.begin(), traffic.trace.end(), s_.arena.get(s.trace));
    // An access of cycle 0 is sent ahead of it.
    s.birth = traffic.pacing == TrafficPacing::kOpen ? kLongLatencyCycles : 0;
    for (uint32_t i = 0; i < s.trace.count; ++i) s_.arena.get(s.trace)[i].cycle += s.birth;
    s.random = traffic.seed;
    return s;
  }

  void make_components() {
    const Ref<Channel> requests = channel(request_latency_), replies = channel(reply_latency_);
    const uint32_t entries = d_.controller.read_entries + d_.controller.write_entries;
    s_.vault =
        kernels::place(s_.arena, make_vault(s_.arena, s_.vault_params, config::parts_of(d_).banks(),
                                            entries, requests, replies));
    s_.source = make_source(requests, replies);
    s_.front_end = kernels::place(s_.arena, frontend::FrontEndState{});
    s_.table = s_.arena.allocate<kernels::Component>(2);
    const Ref<TrafficParams> traffic_params = kernels::place(s_.arena, s_.traffic_params);
    const Ref<VaultParams> params = kernels::place(s_.arena, s_.vault_params);
    const Ref<Ref<Channel>> source_inputs = kernels::place(s_.arena, replies);
    const Ref<Ref<Channel>> vault_inputs = kernels::place(s_.arena, requests);
    kernels::Component* table = s_.arena.get(s_.table);
    table[0] = kernels::make_component(traffic_params, s_.source, source_inputs);
    table[1] = kernels::make_component(params, s_.vault, vault_inputs);
  }

  const DramConfig& d_;
  const Load& load_;
  ChannelSystem s_;
  Tick lead_ = 0, request_latency_ = 1, reply_latency_ = 1;
};

}  // namespace

uint64_t num_lines(const DramConfig& d) {
  return uint64_t{config::parts_of(d).banks()} * d.organisation.rows *
         (d.organisation.row_bytes / d.organisation.access_bytes);
}

VaultParams vault_params(const DramConfig& d) {
  VaultParams p;
  // Ticks per cycle such that an access takes a whole number of them.
  const uint64_t work = uint64_t{d.organisation.access_bytes} * d.speed.clock_mhz;
  const uint64_t ticks = d.speed.data_mbps / std::gcd(work, uint64_t{d.speed.data_mbps});
  p.period = static_cast<uint32_t>(ticks);
  const uint64_t common = std::gcd(ticks * d.speed.clock_mhz, uint64_t{d.speed.data_mbps});
  p.ticks_per_byte_num = static_cast<uint32_t>(ticks * d.speed.clock_mhz / common);
  p.ticks_per_byte_den = static_cast<uint32_t>(d.speed.data_mbps / common);
  const DramConfig::Timing& t = d.timing;
  p.tCL = t.tCL, p.tCWL = t.tCWL;
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
  sim::set_constraints(p, config::constraints_of(d), config::parts_of(d), d.path);
  p.own_map = 1;
  p.channel_map = channel_map(d);
  p.header_bytes = kHeaderBytes;
  p.line_bytes = p.sector_bytes = static_cast<uint16_t>(d.organisation.access_bytes);
  return p;
}

ChannelSystem build_channel(const DramConfig& standard, const Load& load) {
  return Layout(standard, load).build();
}

}  // namespace nearwarp::dram
