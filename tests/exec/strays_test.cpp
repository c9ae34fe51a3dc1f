// Do accesses in front of allocations and behind them follow one rule?
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::runtime {
namespace {

constexpr const char* kRead = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry read(.param .u64 from, .param .u64 to) {
  .reg .b32 %r<2>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [to];
  ld.global.u32 %r1, [%d1];
  st.global.u32 [%d2], %r1;
  ret;
}
)";

/// Reads `distance` bytes from the device's only allocation. Returns the message of the
/// fault, what was told, or nothing.
std::string read_beside(int64_t distance, bool strict) {
  std::string told;
  VirtualDevice::Options options;
  if (!strict)
    options.stray = [&](const std::string&, const std::string& message) { told = message; };
  VirtualDevice device(options);
  const uint32_t module = device.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(kRead, "read.ptx")));
  const DevicePtr only = device.allocate(4096);
  const DevicePtr from = only + static_cast<uint64_t>(distance);
  try {
    device.launch(module, "read", {1}, {1}, 0, KernelArgs(from, only));
  } catch (const DeviceFault& fault) {
    return std::string("fault: ") + fault.what();
  }
  return told;
}

TEST(Strays, InFrontAndBehindPassAndAreTold) {
  for (const int64_t distance : {-4, -4096, 4096, 4096 + 1024}) {
    const std::string told = read_beside(distance, false);
    EXPECT_TRUE(told.starts_with("invalid __global__ read of size 4 bytes")) << distance << told;
    const std::string fault = read_beside(distance, true);
    EXPECT_TRUE(fault.starts_with("fault: invalid __global__ read of size 4")) << distance << fault;
  }
  EXPECT_EQ(read_beside(0, true), "");
}

TEST(Strays, FarFromAnyAllocationTheyAreFaults) {
  for (const int64_t distance : {int64_t{-3} << 20, int64_t{3} << 20})
    EXPECT_TRUE(read_beside(distance, false).starts_with("fault: ")) << distance;
}

}  // namespace
}  // namespace nearwarp::runtime
