// What kernels' calls of the CUDA runtime are told.
#pragma once

#include "host/functional/device/device_services.h"

namespace nearwarp::cudart {

class Runtime;

/// Answers as the host's functions of the same names do. Lives as long as the process.
runtime::DeviceServices* make_device_services(Runtime& runtime);

}  // namespace nearwarp::cudart
