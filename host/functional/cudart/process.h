// The process as the parts of the library see it: how the environment sets it, and its device.
#pragma once

#include <cstdint>

#include "host/functional/cudart/device_spec.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::cudart {

class Process {
 public:
  virtual const Settings& settings() = 0;
  const DeviceSpec& spec() { return settings().device; }
  /// The device, made at the first call. Throws Failure if it cannot be made.
  virtual runtime::VirtualDevice& device() = 0;
  virtual bool has_device() const = 0;
  /// Bytes of the device's memory that can still be allocated.
  virtual uint64_t free_memory_bytes() = 0;

 protected:
  ~Process() = default;
};

}  // namespace nearwarp::cudart
