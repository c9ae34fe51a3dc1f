// Bounds on a network's throughput and latency, without simulation.
#pragma once

#include "host/timing/noc/network.h"

namespace nearwarp::noc {

struct Bounds {
  /// Mean latency without any other traffic [cycles]; the buffers must cover a credit's round trip.
  double zero_load_latency = 0;
  double routers = 0;  ///< passed, mean
  /// Flits per sender and cycle at which the busiest channel, terminals' included, carries a flit
  /// in every cycle. No allocation reaches more.
  double throughput = 0;
};

/// Follows every pair's route.
Bounds bounds_of(const Network& network, const NocConfig& config);

/// Cycles from the creation of a packet of `flits` to its tail's arrival in an empty network.
uint32_t zero_load_latency(const NocConfig& config, uint32_t routers, uint32_t flits);

}  // namespace nearwarp::noc
