#include "bench/workloads/llm/gemv.h"

#include "bench/workloads/common/check.h"
#include "bench/workloads/llm/model.h"

namespace nearwarp::workloads::llm {

DeviceWeights upload(runtime::VirtualDevice& device, const Weights& w, const char* label) {
  DeviceWeights on_device{w.format, w.rows, w.columns, device.upload(w.bytes, label), {}};
  if (!w.scales.empty()) on_device.scales = device.upload(w.scales, "scales");
  return on_device;
}

void launch_gemv(runtime::VirtualDevice& device, uint32_t module, const DeviceWeights& w,
                 runtime::DevicePtr x, runtime::DevicePtr residual, runtime::DevicePtr y,
                 int batch) {
  const runtime::Dim3 blocks = blocks_for(static_cast<uint64_t>(w.rows) * kLanes, kBlock);
  if (batch == 1 && w.format == Format::kF16) {
    device.launch(module, "decode_gemv", blocks, {kBlock}, 0,
                  runtime::KernelArgs(w.bytes, x, residual, y, w.rows, w.columns));
    return;
  }
  if (batch == 1 && w.format == Format::kInt4 && residual == runtime::DevicePtr{}) {
    device.launch(module, "decode_gemv_int4", blocks, {kBlock}, 0,
                  runtime::KernelArgs(w.bytes, w.scales, x, y, w.rows, w.columns));
    return;
  }
  const auto groups = static_cast<uint32_t>((batch + kTokens - 1) / kTokens);
  device.launch(module, "decode_gemv_" + format_names()[static_cast<size_t>(w.format)] + "_batch",
                {blocks.x, groups, 1}, {kBlock}, 0,
                runtime::KernelArgs(w.bytes, w.scales, x, residual, y, w.rows, w.columns, batch));
}

}  // namespace nearwarp::workloads::llm
