// The GPU that tests run on, if there is one.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kernels/device.h"

namespace nearwarp::testing {

/// Skips its tests if there is no GPU.
class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    const std::vector<kernels::DeviceInfo> devices = kernels::cuda_devices(why);
    if (devices.empty()) GTEST_SKIP() << "no CUDA device: " << why;
    info = devices.front();
  }
  /// `clusters` false: teams of several blocks meet in memory, as on devices without clusters.
  static std::unique_ptr<kernels::Device> open(bool clusters = true) {
    return kernels::open_cuda_device(0, {clusters});
  }
  kernels::DeviceInfo info;
};

}  // namespace nearwarp::testing
