// Tables, for the device, of the locations of a program's registers and instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "device/mechanisms/mpu/program.h"
#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/recording/recording.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::mpu {

struct PlaceTables {
  std::vector<InstrPlace> places;  ///< by instruction of the image
  /// Numbers of static instructions: those that only one place can execute, those with a hint for
  /// near or far, and those that the hardware decides about.
  uint64_t fixed = 0, near = 0, far = 0, open = 0;
};

/// Allocate the registers of all kernels by the policy's locations. Scoreboard slots of the image
/// (columns of the track table) are renamed accordingly. A thread block takes the share of an SM
/// that it needs of the fuller one of the two register files.
PlaceTables build_place_tables(const runtime::Recording& recording,
                               const config::MachineConfig& machine,
                               const config::PolicyConfig& policy, sim::ImageTables& image);

}  // namespace nearwarp::mpu
