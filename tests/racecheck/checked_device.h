// The device on which the race detector is tested.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::racecheck {

/// A device that looks for races in the kernels of FOLDER/NAME.ptx, below tests/.
struct CheckedDevice {
  explicit CheckedDevice(const std::string& name, const Checker::Options& options = {},
                         const std::string& folder = "racecheck/kernels")
      : checker(options), device(device_options(&checker)) {
    module = device.load_module(std::make_shared<const compiler::Program>(
        compiler::compile_ptx_file(NW_SOURCE_DIR "/tests/" + folder + "/" + name + ".ptx")));
  }
  static runtime::VirtualDevice::Options device_options(Checker* checker) {
    runtime::VirtualDevice::Options options;
    options.record_traces = false;
    options.checker = checker;
    options.memory_bytes = uint64_t{1} << 30;
    return options;
  }
  template <class... A>
  const Findings& run(const std::string& kernel, runtime::Dim3 grid, runtime::Dim3 block,
                      const A&... args) {
    device.launch(module, kernel, grid, block, 0, runtime::KernelArgs(args...));
    checker.end_launch();
    return checker.findings();
  }
  /// Device memory with 0, 1, 2, ...
  runtime::DevicePtr numbers(size_t n) {
    std::vector<int> v(n);
    for (size_t i = 0; i < n; ++i) v[i] = static_cast<int>(i);
    return device.upload(v, "numbers");
  }
  runtime::DevicePtr zeros(size_t n) { return device.upload(std::vector<int>(n, 0), "zeros"); }

  Checker checker;
  runtime::VirtualDevice device;
  uint32_t module = 0;
};

/// Is there a hazard like this?
inline bool has(const Findings& f, HazardKind kind, Distance distance, bool shared) {
  return std::any_of(f.hazards.begin(), f.hazards.end(), [&](const Hazard& h) {
    return h.kind == kind && h.distance == distance && h.shared == shared;
  });
}

}  // namespace nearwarp::racecheck
