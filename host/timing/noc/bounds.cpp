// Bounds on a network's throughput and latency, without simulation.
#include "host/timing/noc/bounds.h"

#include <algorithm>

#include "device/noc/pipeline.h"
#include "host/timing/noc/wiring.h"

namespace nearwarp::noc {

uint32_t zero_load_latency(const NocConfig& c, uint32_t routers, uint32_t flits) {
  NetworkParams p;
  set_routers(c, p);
  // Writing to and reading from a wire takes a cycle more than the wire; with a router's first
  // stage counted from the flit's arrival, that shows once, at the source.
  constexpr uint32_t kIntoNetwork = 2, kOutOfNetwork = 1;
  return kIntoNetwork + routers * unloaded_cycles(p) + (routers - 1) * c.link_latency +
         kOutOfNetwork + (flits - 1) * cycles_per_flit(p);
}

Bounds bounds_of(const Network& network, const NocConfig& config) {
  const Topology& t = network.topology();
  std::vector<uint32_t> next(size_t{t.routers} * t.outputs, kNoRouter);  // router behind a port
  for (const Wire& w : t.wires) next[size_t{w.from} * t.outputs + w.from_port] = w.to;
  std::vector<double> load(next.size(), 0.0);
  std::vector<double> entering(t.terminals.size(), 0.0);
  Bounds bounds;
  const double all_flits = config.packet_flits + config.reply_flits;
  const double kinds = config.reply_flits == 0 ? 1 : 2;
  // Flits that make up `share` of all go from one terminal to another in packets of `flits`.
  const auto follow = [&](uint32_t from, uint32_t to, double share, uint32_t flits) {
    const double load_of_these = share * flits / all_flits;
    entering[from] += load_of_these;
    uint32_t router = t.terminals[from].in_router, passed = 0;
    while (router != kNoRouter) {
      const size_t port =
          size_t{router} * t.outputs + t.routes[size_t{router} * t.terminals.size() + to];
      load[port] += load_of_these;
      passed += 1;
      router = next[port];
    }
    const double weight = share / kinds / static_cast<double>(t.senders.size());
    bounds.routers += weight * passed;
    bounds.zero_load_latency += weight * zero_load_latency(config, passed, flits);
  };
  for (const uint32_t source : t.senders) {
    for (const auto& [destination, share] : network.destinations(source)) {
      follow(source, destination, share, config.packet_flits);
      if (config.reply_flits != 0) follow(destination, source, share, config.reply_flits);
    }
  }
  load.insert(load.end(), entering.begin(), entering.end());
  bounds.throughput = std::min(1.0, 1.0 / *std::max_element(load.begin(), load.end()));
  return bounds;
}

}  // namespace nearwarp::noc
