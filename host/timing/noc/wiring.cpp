// Makes the parameters of a network from its configuration and topology, and wires its routers.
#include "host/timing/noc/wiring.h"

#include <algorithm>

namespace nearwarp::noc {

NetworkParams params_of(const Topology& topology) {
  NetworkParams p;
  p.routers = topology.routers;
  p.terminals = static_cast<uint32_t>(topology.terminals.size());
  p.inputs = topology.inputs;
  p.outputs = topology.outputs;
  return p;
}

void set_routers(const NocConfig& config, NetworkParams& p) {
  p.vcs = config.vcs;
  p.vnets = config.vnets;
  p.depth = config.buffers;
  p.routing_delay = config.routing_delay;
  p.vc_alloc_delay = config.vc_alloc_delay;
  p.sw_alloc_delay = config.sw_alloc_delay;
  p.traversal_delay = config.traversal_delay;
  p.credit_delay = config.credit_delay;
  p.speedup = config.speedup;
  p.input_speedup = config.input_speedup;
  p.wait_for_tail_credit = config.wait_for_tail_credit ? 1 : 0;
}

NetworkParams params_of(const NocConfig& config, const Topology& topology) {
  NetworkParams p = params_of(topology);
  set_routers(config, p);
  return p;
}

void wire(const Topology& topology, const NetworkParams& params, const NetworkState& state,
          std::byte* base, uint32_t latency) {
  constexpr uint32_t kTerminalLatency = 1;
  const Wiring wiring(params, state, base);
  for (const Wire& w : topology.wires)
    wiring.join({w.from, w.from_port}, {w.to, w.to_port}, latency);
  for (uint32_t n = 0; n < params.terminals; ++n) {
    const Attachment& a = topology.terminals[n];
    if (a.in_router != kNoRouter) wiring.join_sender(n, {a.in_router, a.in_port}, kTerminalLatency);
    if (a.out_router != kNoRouter)
      wiring.join_receiver(n, {a.out_router, a.out_port}, kTerminalLatency);
  }
  std::copy(topology.routes.begin(), topology.routes.end(), state.routes.in(base));
}

}  // namespace nearwarp::noc
