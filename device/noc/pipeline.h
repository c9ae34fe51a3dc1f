// When the stages of a router's pipeline begin and end.
//
// A cycle has as many rounds as the internal speed-up says. A stage of one cycle takes a round, as
// BookSim2's routers have it: under a speed-up of two, routing, both allocations and the traversal
// take half a cycle each. A stage of more cycles ends in the first round of its last cycle, in
// whichever round it began. The next stage begins in the round after.
#pragma once

#include "device/noc/network_state.h"

namespace nearwarp::noc {

/// Rounds of the network: a cycle's number times the speed-up, and the round in it. Numbers wrap,
/// with those of the cycles, since the speed-up is a power of two.
using Round = uint32_t;

/// The last round of a stage of `delay` cycles, at least 1, that begins in round `begin`.
NW_HD inline Round last_round(const NetworkParams& p, Round begin, uint32_t delay) {
  return delay == 1 ? begin : (begin & ~(p.speedup - 1)) + (delay - 1) * p.speedup;
}

/// The round in which a head that begins in `begin` takes part in VC allocation at first: after
/// routing, and after the stages of the allocation but the last.
NW_HD inline Round first_vc_request(const NetworkParams& p, Round begin) {
  const Round allocation = p.routing_delay == 0 ? begin : last_round(p, begin, p.routing_delay) + 1;
  return last_round(p, allocation, p.vc_alloc_delay);
}

/// The round in which a flit takes part in switch allocation at first.
NW_HD inline Round first_switch_request(const NetworkParams& p, Round begin) {
  return last_round(p, begin, p.sw_alloc_delay);
}

/// Cycles from a head's arrival at a router without other traffic to its being on the wire.
NW_HD inline uint32_t unloaded_cycles(const NetworkParams& p) {
  const Round wins = first_switch_request(p, first_vc_request(p, 0) + 1);
  return (wins + 1) / p.speedup + p.traversal_delay;
}

/// Cycles between flits of one packet that wait for nothing but the pipeline.
NW_HD inline uint32_t cycles_per_flit(const NetworkParams& p) {
  // A wire carries one per cycle; a flit enters switch allocation when the one before has won it.
  const Round won = first_switch_request(p, 0), next = first_switch_request(p, won + 1);
  const uint32_t cycles = (next - won) / p.speedup;
  return cycles == 0 ? 1 : cycles;
}

}  // namespace nearwarp::noc
