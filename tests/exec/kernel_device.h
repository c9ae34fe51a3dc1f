// A device that has loaded one of tests/exec/kernels; what it recorded is validated at its end.
#pragma once

#include <memory>
#include <string>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::exec_test {

struct KernelDevice : runtime::VirtualDevice {
  explicit KernelDevice(const std::string& name)
      : module(load_module(std::make_shared<const compiler::Program>(
            compiler::compile_ptx_file(NW_SOURCE_DIR "/tests/exec/kernels/" + name + ".ptx")))) {}
  ~KernelDevice() { runtime::validate(take_recording("test")); }
  uint32_t module;
};

}  // namespace nearwarp::exec_test
