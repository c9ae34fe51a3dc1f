// The logic-layer switch of a memory stack.
//
// Inputs: the TX link from the GPU; from each other stack one channel for requests and one for
// replies (two virtual channels of one link: same port, so they share its wire); the vaults'
// replies; the stack SMs' requests. Outputs: the RX link to the GPU; to each other stack a request
// and a reply channel (same port); the vaults' requests; the stack SMs' replies.
//
// No deadlock: requests wait only for vaults and cross-stack request channels, vaults wait only for
// reply channels, and replies wait only for SMs, L2 slices' fills and the RX link, all of which
// sink them without sending a request first. Requests and replies never share an input channel.
#pragma once

#include "device/noc/switch.h"

namespace nearwarp {

using StackSwitchParams = SwitchParams;
using StackSwitchState = SwitchState;

/// Step a stack's switch through a window; see step_switch().
template <class G>
NW_HD StepResult step_stack_switch(const G& g, const StackSwitchParams& p, StackSwitchState& s,
                                   std::byte* base, Window window, Horizon& horizon) {
  return step_switch(g, p, s, base, window, horizon);
}

}  // namespace nearwarp
