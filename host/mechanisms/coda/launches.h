// How many thread blocks of each launch run on a stack at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/config/machine.h"
#include "host/recording/recording.h"
#include "host/timing/machine/baseline_map.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::coda {

/// Eq. (1)'s N_blocks_per_stack of every launch of the recording: the SMs of a stack times the
/// blocks that fit on one. Throws nearwarp::Error if not even one does.
inline std::vector<uint64_t> blocks_per_stack(const runtime::Recording& recording,
                                              const config::MachineConfig& machine) {
  std::vector<uint64_t> blocks;
  const uint32_t sms = std::max(1u, machine.gpu.sms / sim::mapped_stacks(machine));
  const sm::SmResources capacity = sim::sm_capacity(machine);
  for (const runtime::LaunchRecord& launch : recording.launches)
    blocks.push_back(
        uint64_t{sms} *
        sim::blocks_per_sm(capacity,
                           sim::block_needs(machine, *recording.kernels[launch.kernel], launch)));
  return blocks;
}

}  // namespace nearwarp::coda
