// In a build without a CUDA toolkit there are no CUDA devices.
#include "kernels/device.h"

namespace nearwarp::kernels {

std::vector<DeviceInfo> cuda_devices(std::string& why) {
  why = "this nearwarp was built without a CUDA toolkit";
  return {};
}

std::unique_ptr<Device> open_cuda_device(int, const CudaOptions&) {
  throw DeviceError("this nearwarp was built without a CUDA toolkit");
}

}  // namespace nearwarp::kernels
