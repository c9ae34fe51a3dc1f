// GPCs: groups of SMs, on one of which all thread blocks of a cluster run.
#pragma once

#include <cstdint>

#include "host/config/machine.h"

namespace nearwarp::sim {

/// The GPC of a main SM: TPCs are dealt to GPCs in turns (HPMLL/NVIDIA-Hopper-Benchmark,
/// NewFeatures/DSM/Latency/OneToAll/log: SMs 0, 1, 14, 15, 28, 29, ... of an H100 with 7 GPCs).
inline uint32_t gpc_of(const config::MachineConfig& machine, uint32_t sm) {
  return sm / machine.gpu.sms_per_tpc % machine.gpu.gpcs;
}

}  // namespace nearwarp::sim
