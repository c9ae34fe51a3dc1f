// Counters of an MPU's split pipeline in a run's result.
#pragma once

#include "device/mechanisms/mpu/sm_state.h"
#include "host/mechanisms/mpu/place_tables.h"
#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"

namespace nearwarp::mpu {

/// Call f(state) with MPU's state of every core; `number` is that of the mechanism.
template <class F>
void each_side(sim::System& system, uint32_t number, F&& f) {
  for (const uint16_t endpoint : system.sms) {
    const sm::SmState& sm = system.state<sm::SmState>(endpoint);
    f(*reinterpret_cast<SmSideState<1>*>(system.arena.base() + sm.mechanism_state[number]));
  }
}

/// Call f(unit, core, number in the core) for every near-bank unit.
template <class F>
void each_unit(sim::System& system, uint32_t number, F&& f) {
  uint32_t core = 0;
  for (const uint16_t endpoint : system.sms) {
    const sm::SmState& sm = system.state<sm::SmState>(endpoint);
    std::byte* base = system.arena.base();
    const auto& side = *reinterpret_cast<SmSideState<1>*>(base + sm.mechanism_state[number]);
    const auto& p = *reinterpret_cast<SmSideParams*>(base + sm.mechanism_params[number]);
    for (uint32_t u = 0; u < p.units; ++u) f(side.units[u], core, u);
    ++core;
  }
}

/// Append MPU's counters to a run's result: by where instructions and accesses were executed.
void collect_places(sim::System& system, uint32_t number, const PlaceTables& tables,
                    report::RunResult& result);
/// Append the utilisation of the near-bank units' ALUs.
void report_alus(sim::System& system, uint32_t number, report::RunResult& result);

}  // namespace nearwarp::mpu
