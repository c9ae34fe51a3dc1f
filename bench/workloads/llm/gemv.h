// Chooses the kernel of decode.cu for a product, and launches it.
#pragma once

#include "bench/workloads/llm/weights.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::workloads::llm {

/// A matrix on the device.
struct DeviceWeights {
  Format format = Format::kF16;
  int rows = 0, columns = 0;
  runtime::DevicePtr bytes, scales;
};
DeviceWeights upload(runtime::VirtualDevice& device, const Weights& w, const char* label);

/// y[token] = W x[token] (+ residual[token]) of `batch` tokens.
void launch_gemv(runtime::VirtualDevice& device, uint32_t module, const DeviceWeights& w,
                 runtime::DevicePtr x, runtime::DevicePtr residual, runtime::DevicePtr y,
                 int batch);

}  // namespace nearwarp::workloads::llm
