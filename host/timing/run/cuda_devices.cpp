// The CUDA devices there are, and batches on them.
#include "host/timing/run/cuda_devices.h"

#include <fmt/format.h>

#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

/// A device and the batches on it.
class CudaDevices final : public BatchRunner {
 public:
  CudaDevices(std::unique_ptr<kernels::Device> device, AcceleratorBatchOptions options)
      : device_(std::move(device)), batch_(*device_, std::move(options)) {}
  void run(std::span<const ReplayJob> systems, BatchObserver& observer) override {
    batch_.run(systems, observer);
  }

 private:
  std::unique_ptr<kernels::Device> device_;
  AcceleratorBatch batch_;
};

}  // namespace

std::vector<DeviceInfo> cuda_devices(std::string& why) {
  try {
    return kernels::cuda_devices(why);
  } catch (const kernels::DeviceError& error) {
    throw Error(fmt::format("the CUDA devices cannot be used: {}", error.what()));
  }
}

std::unique_ptr<BatchRunner> open_cuda_batch(int index, AcceleratorBatchOptions options) {
  try {
    return std::make_unique<CudaDevices>(kernels::open_cuda_device(index), std::move(options));
  } catch (const kernels::DeviceError& error) {
    throw Error(fmt::format("CUDA device {} cannot be used: {}", index, error.what()));
  }
}

}  // namespace nearwarp::sim
