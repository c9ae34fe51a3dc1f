// The GPU's crossbars: separate switches for requests and replies.
//
// Requests: SMs of a cluster share an input port; each L2 slice and each link port (offload
// requests) has an output port. Replies: each slice and each link port has an input port; the SMs
// of a cluster share an output port.
#pragma once

#include "device/noc/switch.h"

namespace nearwarp {

using CrossbarParams = SwitchParams;
using CrossbarState = SwitchState;

/// Step a crossbar through a window; see step_switch().
template <class G>
NW_HD StepResult step_crossbar(const G& g, const CrossbarParams& p, CrossbarState& s,
                               std::byte* base, Window window, Horizon& horizon) {
  return step_switch(g, p, s, base, window, horizon);
}

}  // namespace nearwarp
