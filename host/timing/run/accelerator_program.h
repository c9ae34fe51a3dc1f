// Data that systems on a device share: a recording's traces and the tables of its kernels.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/recording/recording.h"
#include "host/timing/program/image_builder.h"
#include "kernels/device.h"

namespace nearwarp::sim {

/// All traces of a recording in a device's memory, equal chunks once.
class DeviceTraces {
 public:
  /// Throws kernels::OutOfDeviceMemory.
  DeviceTraces(kernels::Device& device, const runtime::Recording& recording);

  /// Places of traces by thread block, over all launches.
  const sm::TraceBlock* blocks() const { return table_.as<const sm::TraceBlock>(); }
  uint64_t bytes() const { return bytes_; }

 private:
  template <class T>
  const T* put(kernels::Device& device, const std::vector<T>& values);

  std::vector<kernels::DeviceBuffer> pieces_;
  kernels::DeviceBuffer table_;
  uint64_t bytes_ = 0;
};

/// A ProgramImage in a device's memory.
class AcceleratorProgram {
 public:
  AcceleratorProgram(kernels::Device& device, const ImageTables& tables);
  const sm::ProgramImage& view() const { return view_; }

 private:
  std::vector<kernels::DeviceBuffer> pieces_;
  sm::ProgramImage view_;
};

/// Images that are equal are kept once, as long as a system uses them.
class DeviceImages {
 public:
  std::shared_ptr<const AcceleratorProgram> get(kernels::Device& device, const ImageTables& tables);

 private:
  std::map<std::string, std::weak_ptr<const AcceleratorProgram>> kept_;  ///< by the tables' bytes
};

}  // namespace nearwarp::sim
