// In a build without a CUDA toolkit there are no CUDA devices.
#include "kernels/analytics/study_passes.h"
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

namespace nearwarp::analytics {

std::unique_ptr<StudyPasses> make_cuda_passes(int, const StudyTables&) {
  throw kernels::DeviceError("this nearwarp was built without a CUDA toolkit");
}

}  // namespace nearwarp::analytics
