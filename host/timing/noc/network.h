// A network with synthetic terminals, laid out in an arena of its own, and how it is stepped.
#pragma once

#include <span>

#include "device/core/arena.h"
#include "device/noc/standalone.h"
#include "host/timing/noc/config.h"
#include "host/timing/noc/topology.h"
#include "kernels/run_control.h"

namespace nearwarp::noc {

/// Sums over all terminals.
struct TrafficTotals {
  uint64_t created_packets = 0, measured_created = 0, sent_flits = 0;
  uint64_t received_flits = 0, received_packets = 0, measured_received = 0;
  uint64_t latency = 0, network_latency = 0, hops = 0;
  Cycle max_latency = 0;
  // Totals of replies alone, in request-reply traffic.
  uint64_t replies_received = 0, reply_latency = 0, round_trip = 0;
  uint64_t waiting = 0;  ///< cycles that sources are behind, summed: what waits in their queues
};

class Network {
 public:
  /// Throws UsageError for a configuration that cannot be.
  explicit Network(const NocConfig& config);

  /// Packets of `rate` flits per sending node and cycle from now on.
  void set_rate(double rate);
  /// Packets created in [begin, end) are measured.
  void set_measured(uint64_t begin, uint64_t end);
  /// No packet created from `end` on is measured.
  void end_measured(uint64_t end) { traffic().params.measure_end = static_cast<Cycle>(end); }
  /// Step through `cycles` cycles.
  void run(uint64_t cycles);

  /// Where terminal `n` sends to: destinations and their shares.
  std::vector<std::pair<uint32_t, double>> destinations(uint32_t n) const;

  /// Begin at a later cycle; before anything else.
  void skip_to(uint64_t cycle);

  /// Virtual networks whose sources make packets by themselves: not those of replies.
  uint32_t drawing_vnets() const { return traffic().params.reply_flits == 0 ? params_.vnets : 1; }

  uint64_t now() const { return now_; }
  const Topology& topology() const { return topology_; }
  const NetworkParams& params() const { return params_; }
  TrafficTotals totals() const;
  /// Have all sources decided every cycle before `end`? Then no packet of before can still appear.
  bool decided_until(uint64_t end) const;
  /// Flits that each router has sent at each output port so far: [router * outputs + port].
  std::vector<uint64_t> flits_sent() const;
  /// Packets created at and flits received by each terminal so far.
  std::vector<uint64_t> received_flits() const;
  /// Flits in buffers and on wires.
  uint64_t flits_inside() const;
  /// Are all credits where they began? So they must be when nothing is inside.
  bool all_credits_home() const;
  /// The state as it is stepped.
  const ArenaBuilder& arena() const { return arena_; }

  // For backends that step it elsewhere: the arena is a system of one component.
  kernels::RunState run_state() const;
  std::span<kernels::Component> components() { return {arena_.get(table_), table_.count}; }
  std::byte* state() { return arena_.base(); }
  /// The arena has been stepped by so many cycles.
  void stepped(uint64_t cycles) { now_ += cycles; }

 private:
  uint32_t waiting_for_wire(size_t port) const;
  void make_traffic(const NocConfig& config);
  void make_component();
  const NetworkState& net() const { return own_.in(arena_.base())->net; }
  const TrafficState& traffic() const { return own_.in(arena_.base())->traffic; }
  TrafficState& traffic() { return arena_.get(own_)->traffic; }

  Topology topology_;
  NetworkParams params_;
  ArenaBuilder arena_;
  Ref<StandaloneState> own_;
  Ref<kernels::Component> table_;
  Ref<frontend::FrontEndState> front_end_;  ///< of a system; nothing to do here
  uint64_t now_ = 0;
};

}  // namespace nearwarp::noc
