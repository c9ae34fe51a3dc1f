// TOM's states on the SMs and the front end of a system.
#pragma once

#include "device/mechanisms/tom/on_front_end.h"
#include "device/mechanisms/tom/sm_state.h"
#include "host/timing/machine/system.h"

namespace nearwarp::tom {

/// f(endpoint, side) for every SM that TOM, as mechanism `number`, is attached to; f takes an
/// `auto&`: sides are of either width.
template <class F>
void each_side(sim::System& system, uint32_t number, F&& f) {
  for (uint32_t i = 0; i < system.table.count; ++i) {
    if (!kernels::is_sm(system.component(i).kind)) continue;
    sim::with_sm(system, i, [&]<uint32_t kWords>(sm::SmStateOf<kWords>& sm) {
      if ((sm.attached >> number & 1) == 0) return;
      f(i,
        *reinterpret_cast<SmSideState<kWords>*>(system.arena.base() + sm.mechanism_state[number]));
    });
  }
}

/// The state at the front end.
inline ArbiterState& arbiter(sim::System& system, uint32_t number) {
  return *reinterpret_cast<ArbiterState*>(system.arena.base() +
                                          system.front_end().mechanism_state[number]);
}

}  // namespace nearwarp::tom
