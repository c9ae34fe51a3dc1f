// The CUDA devices there are, and batches on them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/timing/run/accelerator_batch.h"
#include "kernels/device.h"

namespace nearwarp::sim {

using kernels::DeviceInfo;

/// The CUDA devices; none without a driver, a device, or a build with CUDA: `why` says which.
/// Throws nearwarp::Error if there is one that does not work.
std::vector<DeviceInfo> cuda_devices(std::string& why);

/// Batches on CUDA device `index`, one of cuda_devices(). Throws nearwarp::Error if the device
/// cannot be used.
std::unique_ptr<BatchRunner> open_cuda_batch(int index, AcceleratorBatchOptions options);

}  // namespace nearwarp::sim
