// Counters of offloaded chains in a run's result.
#pragma once

#include "device/mechanisms/opportunistic/sm_state.h"
#include "host/config/policy.h"
#include "host/mechanisms/mechanism.h"
#include "host/mechanisms/opportunistic/chain_tables.h"
#include "host/mechanisms/opportunistic/settings.h"
#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"

namespace nearwarp::opportunistic {

/// f(side) for the offload queue of every SM that has one; mechanism `number`.
template <class F>
void each_side(sim::System& system, uint32_t number, F&& f) {
  for (const uint16_t endpoint : system.sms) {
    const sm::SmState& sm = system.state<sm::SmState>(endpoint);
    if ((sm.attached >> number & 1) == 0) continue;
    f(*reinterpret_cast<SmSideState<1>*>(system.arena.base() + sm.mechanism_state[number]));
  }
}

/// The service queue of an L2 slice.
inline const ServiceState& service_queue(sim::System& system, uint32_t number, uint16_t slice) {
  return sim::state_at<ServiceState, L2SliceState>(system, slice, number);
}
/// f(queue) for the service queue of every slice.
template <class F>
void each_service_queue(sim::System& system, uint32_t number, F&& f) {
  for (const uint16_t slice : system.members("l2")) f(service_queue(system, number, slice));
}

/// f(queue) for the service queue of every SM that has one; mechanism `number`.
template <class F>
void each_sm_service(sim::System& system, uint32_t number, F&& f) {
  each_side(system, number, [&](const auto& side) {
    if (side.service.count != 0) f(*side.service.in(system.arena.base()));
  });
}

void collect_chains(sim::System& system, uint32_t number, const ChainTables& tables,
                    report::RunResult& result);
void collect_sm_service(sim::System& system, uint32_t number, report::RunResult& result);
/// How busy queues and their ALUs were, and what of them the energy account charges.
/// `result.cycles` must be set.
void collect_use(sim::System& system, uint32_t number, const ChainSettings& chains,
                 report::RunResult& result);

}  // namespace nearwarp::opportunistic
