// Codes of the faults that models record when a contract is broken in a release build.
#pragma once

#include "device/core/step.h"

namespace nearwarp {

enum FaultCode : uint32_t {
  kFaultNone = 0,
  kFaultNoRoute,          ///< a switch has no output for the packet's destination
  kFaultUnexpectedPacket  ///< a component got a kind of packet that it cannot treat
};

/// Keep the first fault only.
NW_HD NW_INLINE void record_fault(Fault& fault, uint32_t code, uint32_t component, Tick tick) {
  if (fault.code != kFaultNone) return;
  fault.code = code;
  fault.component = component;
  fault.tick = tick;
}
NW_HD NW_INLINE void record_fault(Fault& fault, uint32_t code, Endpoint component, Tick tick) {
  record_fault(fault, code, node_of(component), tick);
}

}  // namespace nearwarp
