// A device with one checked-in module, for the tests of PTX's breadth.
#pragma once

#include <memory>
#include <string>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::runtime {

/// A device that has loaded tests/runtime/breadth/NAME.ptx.
struct BreadthDevice : VirtualDevice {
  explicit BreadthDevice(const std::string& name, Options options = {})
      : VirtualDevice(std::move(options)) {
    module = load_module(std::make_shared<const compiler::Program>(
        compiler::compile_ptx_file(NW_SOURCE_DIR "/tests/runtime/breadth/" + name + ".ptx")));
  }
  uint32_t module = 0;
};

}  // namespace nearwarp::runtime
