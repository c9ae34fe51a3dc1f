// What a run's result says of an MPU's split pipeline.
#pragma once

#include "device/mechanisms/mpu/mechanism.h"
#include "host/mechanisms/mpu/place_tables.h"
#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"

namespace nearwarp::mpu {

/// f(side) for every core; mechanism `number`.
template <class F>
void each_side(sim::System& system, uint32_t number, F&& f) {
  for (const uint16_t endpoint : system.sms) {
    const sm::SmState& sm = system.state<sm::SmState>(endpoint);
    f(*reinterpret_cast<SmSideState<1>*>(system.arena.base() + sm.mechanism_state[number]));
  }
}

void collect_places(sim::System& system, uint32_t number, const PlaceTables& tables,
                    report::RunResult& result);

}  // namespace nearwarp::mpu
