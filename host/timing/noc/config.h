// The configuration of a stand-alone network and of its traffic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::noc {

/// All delays in cycles of the network. The defaults are those of the reference curves in
/// tests/validation.
struct NocConfig {
  std::string topology = "mesh", size = "8x8", routing = "xy";
  uint32_t vcs = 8;      ///< per port
  uint32_t vnets = 1;    ///< virtual networks that the channels are divided among
  uint32_t buffers = 8;  ///< flits per virtual channel
  uint32_t routing_delay = 1, vc_alloc_delay = 1, sw_alloc_delay = 1, traversal_delay = 1;
  uint32_t credit_delay = 0;
  uint32_t speedup = 1;               ///< routings, allocations and traversals per cycle, 1 or 2
  uint32_t input_speedup = 1;         ///< inputs of the switch per input port: 1, 2, 4 or 8
  bool wait_for_tail_credit = false;  ///< before an output's virtual channel is given away again
  uint32_t link_latency = 1;          ///< of the wires between routers, credits too; terminals': 1
  std::string traffic = "uniform";
  std::vector<uint32_t> hot_nodes;  ///< destinations of hotspot and many-to-few traffic
  double hot_share = 1.0;           ///< of hotspot traffic that goes to them, the rest is uniform
  uint32_t packet_flits = 1;
  uint32_t reply_flits = 0;  ///< request-reply traffic: flits of a reply; 0: packets one way
  uint64_t seed = 1;
};

/// How long is measured, in periods.
struct MeasureConfig {
  uint32_t period_cycles = 1000;  ///< at least; longer where fewer packets would be created
  uint32_t period_packets = 500;  ///< than this
  uint32_t warmup_periods = 3;    ///< at least
  uint32_t min_periods = 10;      ///< measured at least
  uint32_t max_periods = 50;      ///< measured at most; also the longest warm-up, and drain
  double tolerance = 0.01;        ///< of the mean latency: half width of its 95 % interval
  uint32_t latency_limit = 500;   ///< mean cycles beyond which a load is unstable
};

/// Names of traffic patterns.
const std::vector<std::string>& traffic_names();

/// Throws UsageError for what no network can have: sizes, counts, delays.
void check_config(const NocConfig& config);

}  // namespace nearwarp::noc
