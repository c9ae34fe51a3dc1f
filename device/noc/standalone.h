// A network by itself, with synthetic traffic at its terminals, as a component for any backend.
//
// A tick is a cycle. No other component affects the network, so a window may be of any length. The
// component never sleeps, and runs until the windows end.
#pragma once

#include "device/core/step.h"
#include "device/noc/network.h"
#include "device/noc/traffic.h"

namespace nearwarp::noc {

struct alignas(8) StandaloneState {
  NetworkState net;
  TrafficState traffic;
};

/// Step the network through a window.
NW_HD NW_APART inline StepResult step_standalone(const NetworkParams& p, const StandaloneState& s,
                                                 std::byte* base, Window window) {
  const NetworkView v = view_of(p, s.net, base);
  const SyntheticTerminals terminals(s.traffic, base);
  const Stepping stepping = stepping_of(p);
  const auto end = static_cast<Cycle>(window.end);
  terminals.begin_window(v, static_cast<Cycle>(window.begin));
  for (auto t = static_cast<Cycle>(window.begin); t != end;) {
    const Cycle left = end - t, next = t + (left < p.lookahead ? left : p.lookahead);
    step_routers(v, stepping, t, next);
    terminals.step(v, t, next, end);
    t = next;
  }
  StepResult result;
  result.wake = window.end;
  return result;
}

}  // namespace nearwarp::noc
