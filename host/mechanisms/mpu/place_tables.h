// A program's registers and instructions by location, as tables for the device.
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
  // Static instructions of the program by what decides where they are executed.
  uint64_t fixed = 0, near = 0, far = 0, open = 0;
};

/// Allocate the registers of all kernels by the policy's locations: the image's scoreboard slots
/// are renamed, which are the rows' columns of the track table, and thread blocks take as much of
/// an SM as they need of the fuller one of the two register files.
PlaceTables build_place_tables(const runtime::Recording& recording,
                               const config::MachineConfig& machine,
                               const config::PolicyConfig& policy, sim::ImageTables& image);

}  // namespace nearwarp::mpu
