// What systems on a device share: a recording's traces and the tables of its kernels.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/runtime/recording.h"
#include "host/sim/image_builder.h"
#include "kernels/device.h"

namespace nearwarp::sim {

/// All traces of a recording in a device's memory.
class DeviceTraces {
 public:
  /// Throws kernels::OutOfDeviceMemory.
  DeviceTraces(kernels::Device& device, const runtime::Recording& recording);

  /// By thread block of all launches that have any, in order.
  const sm::TraceBlock* blocks() const { return table_.as<const sm::TraceBlock>(); }
  /// Where a recorded launch's thread blocks begin in blocks().
  uint32_t first_block(uint32_t recorded_launch) const { return first_block_[recorded_launch]; }
  uint64_t bytes() const { return bytes_; }

 private:
  std::vector<kernels::DeviceBuffer> pieces_;
  kernels::DeviceBuffer table_;
  std::vector<uint32_t> first_block_;  ///< by recorded launch
  uint64_t bytes_ = 0;
};

/// A ProgramImage in a device's memory.
class DeviceImage {
 public:
  DeviceImage(kernels::Device& device, const ImageTables& tables, const DeviceTraces& traces);
  const sm::ProgramImage& view() const { return view_; }

 private:
  std::vector<kernels::DeviceBuffer> pieces_;
  sm::ProgramImage view_;
};

/// Images that are equal are kept once, as long as a system uses them.
class DeviceImages {
 public:
  std::shared_ptr<const DeviceImage> get(kernels::Device& device, const ImageTables& tables,
                                         const DeviceTraces& traces);

 private:
  std::map<std::string, std::weak_ptr<const DeviceImage>> kept_;  ///< by the tables' bytes
};

}  // namespace nearwarp::sim
