// A network with synthetic terminals: layout, destinations, stepping, totals.
#include "host/timing/noc/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/core/error.h"
#include "host/timing/noc/wiring.h"
#include "kernels/make_component.h"

namespace nearwarp::noc {

namespace {

constexpr double kOne = 4294967296.0;  ///< a probability of 1 as a threshold

bool contains(const std::vector<uint32_t>& list, uint32_t n) {
  return std::find(list.begin(), list.end(), n) != list.end();
}

/// The destinations of hotspot and many-to-few traffic, given or by default.
std::vector<uint32_t> hot_nodes(const NocConfig& config, const Topology& t) {
  std::vector<uint32_t> nodes = config.hot_nodes;
  if (nodes.empty()) {
    // A hotspot is one node; the few are an eighth of the receivers, the last ones (in a mesh of
    // height 8 its last row).
    const size_t few =
        config.traffic == "hotspot" ? 1 : std::max<size_t>(1, t.receivers.size() / 8);
    const size_t count = t.senders == t.receivers ? few : t.receivers.size();
    nodes.assign(t.receivers.end() - static_cast<std::ptrdiff_t>(count), t.receivers.end());
  }
  for (const uint32_t n : nodes) {
    if (!contains(t.receivers, n)) {
      throw UsageError(fmt::format("`hot_nodes` {}: no such receiver - they are {} to {}", n,
                                   t.receivers.front(), t.receivers.back()));
    }
  }
  return nodes;
}

uint32_t transposed(const Topology& t, uint32_t n) { return n % t.width * t.width + n / t.width; }

}  // namespace

Network::Network(const NocConfig& config) {
  check_config(config);
  topology_ = make_topology(config.topology, config.size, config.routing);
  check_switch_inputs(topology_, config.input_speedup, "`input_speedup`");
  params_ = params_of(config, topology_);
  const NetworkState routers = make_network(arena_, params_, config.link_latency);
  own_ = arena_.allocate<StandaloneState>(1);
  arena_.get(own_)->net = routers;
  wire(topology_, params_, net(), arena_.base(), config.link_latency);
  make_traffic(config);
  make_component();
}

void Network::make_component() {
  const Ref<NetworkParams> params = kernels::place(arena_, params_);
  table_ = arena_.allocate<kernels::Component>(1);
  front_end_ = arena_.allocate<frontend::FrontEndState>(1);
  *arena_.get(table_) = kernels::make_component(params, own_, {});
}

kernels::RunState Network::run_state() const {
  kernels::RunState run;
  run.table = table_;
  run.front_end = front_end_.offset;
  return run;
}

void Network::make_traffic(const NocConfig& config) {
  const uint32_t nodes = params_.terminals;
  std::vector<uint16_t> table;
  const auto add = [&table](const std::vector<uint32_t>& list) {
    const DestinationSet set{static_cast<uint32_t>(table.size()),
                             static_cast<uint32_t>(list.size())};
    for (const uint32_t n : list) table.push_back(static_cast<uint16_t>(n));
    return set;
  };
  const bool few = config.traffic == "hotspot" || config.traffic == "many-to-few";
  if (config.traffic == "transpose" &&
      (topology_.width == 0 || topology_.width != topology_.height)) {
    throw UsageError(fmt::format("`traffic` transpose is for square meshes, not a {} of {}",
                                 config.topology, config.size));
  }
  const DestinationSet everyone = add(topology_.receivers);
  const DestinationSet hot = few ? add(hot_nodes(config, topology_)) : DestinationSet{};
  std::vector<DestinationSet> own(nodes, everyone);
  if (config.traffic == "transpose") {
    for (uint32_t n = 0; n < nodes; ++n) own[n] = add({transposed(topology_, n)});
  }
  if (config.reply_flits != 0 && topology_.senders != topology_.receivers) {
    throw UsageError(fmt::format(
        "`reply_flits`: in a {} of {} those who receive do not send, so nobody can reply",
        config.topology, config.size));
  }
  TrafficState t;
  t.params.packet_flits = config.packet_flits;
  t.params.reply_flits = config.reply_flits;
  if (config.reply_flits != 0) {
    t.responders = arena_.allocate<Responder>(nodes);
    t.owed = arena_.allocate<OwedReply>(nodes * kOwedReplies);
  }
  t.destinations = arena_.allocate<uint16_t>(static_cast<uint32_t>(table.size()));
  t.sources = arena_.allocate<Source>(nodes * config.vnets);
  t.sinks = arena_.allocate<Sink>(nodes * config.vnets);
  t.last_vnet = arena_.allocate<uint8_t>(nodes);
  t.wakes = arena_.allocate<Cycle>(nodes);
  std::copy(table.begin(), table.end(), arena_.get(t.destinations));
  uint64_t seeds = config.seed;
  for (uint32_t i = 0; i < nodes * config.vnets; ++i) {
    Source& s = arena_.get(t.sources)[i];
    s.random = next_random(seeds);
    s.others = config.traffic == "many-to-few" ? hot : own[i / config.vnets];
    s.hot = hot;
    if (config.traffic == "hotspot")
      s.hot_threshold = static_cast<uint64_t>(std::llround(config.hot_share * kOne));
  }
  traffic() = t;
}

void Network::set_rate(double rate) {
  const TrafficParams& p = traffic().params;
  const double packets = rate / (p.packet_flits + p.reply_flits) / drawing_vnets();
  const auto threshold = static_cast<uint64_t>(std::llround(packets * kOne));
  for (const uint32_t n : topology_.senders) {
    for (uint32_t k = 0; k < drawing_vnets(); ++k) {
      Source& s = arena_.get(traffic().sources)[n * params_.vnets + k];
      // A source that makes nothing does not keep count of the cycles.
      if (s.threshold == 0) s.next_draw = static_cast<Cycle>(now_);
      s.threshold = threshold;
    }
  }
}

std::vector<std::pair<uint32_t, double>> Network::destinations(uint32_t n) const {
  const Source& s = traffic().sources.in(arena_.base())[n * params_.vnets];
  const double hot = static_cast<double>(s.hot_threshold) / kOne;
  std::vector<std::pair<uint32_t, double>> list;
  const auto add = [&](const DestinationSet& set, double share) {
    for (uint32_t i = 0; i < set.count && share > 0; ++i)
      list.emplace_back(traffic().destinations.in(arena_.base())[set.first + i], share / set.count);
  };
  add(s.hot, hot);
  add(s.others, 1 - hot);
  return list;
}

void Network::skip_to(uint64_t cycle) {
  now_ = cycle;
  for (uint32_t i = 0; i < traffic().sources.count; ++i)
    arena_.get(traffic().sources)[i].next_draw = static_cast<Cycle>(cycle);
  renew_places(view_of(params_, net(), arena_.base()), static_cast<Cycle>(cycle), true);
}

void Network::set_measured(uint64_t begin, uint64_t end) {
  traffic().params.measure_begin = static_cast<Cycle>(begin);
  traffic().params.measure_end = static_cast<Cycle>(end);
  for (uint32_t i = 0; i < traffic().sinks.count; ++i)
    arena_.get(traffic().sinks)[i].max_latency = 0;
}

void Network::run(uint64_t cycles) {
  std::byte* const base = arena_.base();
  const Window window{now_, now_ + cycles};
  step_standalone(params_, *own_.in(base), base, window);
  now_ += cycles;
}

TrafficTotals Network::totals() const {
  TrafficTotals sum;
  const std::byte* const base = arena_.base();
  for (uint32_t i = 0; i < params_.terminals * params_.vnets; ++i) {
    const Source& source = traffic().sources.in(base)[i];
    const Sink& sink = traffic().sinks.in(base)[i];
    sum.created_packets += source.created_packets;
    sum.measured_created += source.measured_packets;
    sum.sent_flits += source.sent_flits;
    sum.received_flits += sink.flits;
    sum.received_packets += sink.packets;
    sum.measured_received += sink.measured;
    sum.latency += sink.latency;
    const bool reply = i % params_.vnets >= drawing_vnets();
    (reply ? sum.round_trip : sum.network_latency) += sink.network_latency;
    sum.replies_received += reply ? sink.measured : 0;
    sum.reply_latency += reply ? sink.latency : 0;
    sum.hops += sink.hops;
    sum.max_latency = std::max(sum.max_latency, sink.max_latency);
    if (source.threshold != 0) sum.waiting += static_cast<Cycle>(now_) - source.next_draw;
  }
  return sum;
}

bool Network::decided_until(uint64_t end) const {
  for (uint32_t i = 0; i < params_.terminals * params_.vnets; ++i) {
    const Source& s = traffic().sources.in(arena_.base())[i];
    if (s.threshold != 0 && static_cast<int32_t>(s.next_draw - static_cast<Cycle>(end)) < 0)
      return false;
  }
  return true;
}

/// Flits that have won the switch and wait for the wire of output `port`.
uint32_t Network::waiting_for_wire(size_t port) const {
  if (params_.speedup == 1) return 0;
  const Cycle ahead = net().out_ports.in(arena_.base())[port].wire_free - static_cast<Cycle>(now_);
  return ahead <= kOutputQueue ? ahead : 0;
}

std::vector<uint64_t> Network::flits_sent() const {
  std::vector<uint64_t> flits;
  for (uint32_t r = 0; r < params_.routers; ++r) {
    const OutputPort* const at =
        net().out_ports.in(arena_.base()) + (size_t{r} << params_.output_shift);
    for (uint32_t out = 0; out < params_.outputs; ++out)
      flits.push_back(at[out].flits_sent -
                      waiting_for_wire((size_t{r} << params_.output_shift) + out));
  }
  return flits;
}

std::vector<uint64_t> Network::received_flits() const {
  std::vector<uint64_t> flits(params_.terminals, 0);
  for (uint32_t i = 0; i < params_.terminals * params_.vnets; ++i)
    flits[i / params_.vnets] += traffic().sinks.in(arena_.base())[i].flits;
  return flits;
}

uint64_t Network::flits_inside() const {
  const TrafficTotals sum = totals();
  return sum.sent_flits - sum.received_flits;
}

bool Network::all_credits_home() const {
  const std::byte* const base = arena_.base();
  // Credits that are on their way count as returned, since nothing waits for them.
  for (uint32_t i = 0; i < net().places.count; ++i)
    if ((net().places.in(base)[i].flags & kHere) != 0) return false;
  for (uint32_t i = 0; i < net().out_ports.count; ++i)
    if (net().out_ports.in(base)[i].free != low_bits(params_.vcs)) return false;
  return true;
}

}  // namespace nearwarp::noc
