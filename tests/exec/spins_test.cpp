// Do warps that wait for others by any kind of load get what they wait for, and is a wait that
// cannot end told? Do warps take turns where asked to?
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {
namespace {

constexpr const char* kHead = R"(
.version 7.0
.target sm_75
.address_size 64
)";

/// Block b waits by `load` until block b + 1 has set its flag. `counted`: the loop counts.
std::string chain(const std::string& load, const std::string& counted = "") {
  return std::string(kHead) + R"(
.visible .entry chain(.param .u64 flags, .param .u64 out) {
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [flags];
  ld.param.u64 %d2, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r6, 0;
  add.u32 %r3, %r1, 1;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  setp.ge.u32 %p1, %r3, %r2;
  @%p1 bra DONE;
WAIT:
  )" + counted +
         "\n  " + load + R"( %r4, [%d1+4];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra WAIT;
DONE:
  st.global.u32 [%d2], %r6;
  mov.u32 %r5, 1;
  st.global.u32 [%d1], %r5;
  ret;
}
)";
}

struct Chain {
  explicit Chain(const std::string& ptx, uint64_t endless = 0) {
    VirtualDevice::Options options;
    if (endless != 0) options.execution.endless_instructions = endless;
    device = std::make_unique<VirtualDevice>(options);
    module = device->load_module(
        std::make_shared<const compiler::Program>(compiler::compile_ptx(ptx, "chain.ptx")));
    flags = device->allocate(kBlocks * 4);
    out = device->allocate(kBlocks * 4);
  }
  /// Launches `blocks` blocks. Returns the error's text, empty if there is none.
  std::string run(uint32_t blocks) {
    try {
      device->launch(module, "chain", {blocks}, {32}, 0, KernelArgs(flags, out));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static constexpr uint32_t kBlocks = 20;
  std::unique_ptr<VirtualDevice> device;
  uint32_t module = 0;
  DevicePtr flags = 0, out = 0;
};

class Spins : public ::testing::TestWithParam<const char*> {};

TEST_P(Spins, MakeProgress) {
  Chain c(chain(GetParam()));
  EXPECT_EQ(c.run(Chain::kBlocks), "");
  EXPECT_EQ(c.device->download<int>(c.flags, Chain::kBlocks), std::vector<int>(Chain::kBlocks, 1));
  validate(c.device->take_recording(""));
}

INSTANTIATE_TEST_SUITE_P(Exec, Spins,
                         ::testing::Values("ld.global.u32", "ld.global.cg.u32", "ld.global.cv.u32",
                                           "ld.global.ca.u32", "ld.u32", "ld.volatile.global.u32",
                                           "ld.relaxed.gpu.global.u32"));

TEST(SpinsThatCount, MakeProgress) {
  Chain c(chain("ld.global.cg.u32", "add.u32 %r6, %r6, 1;"));
  EXPECT_EQ(c.run(2), "");
  const std::vector<int> looked = c.device->download<int>(c.out, 2);
  EXPECT_GT(looked[0], 0);
  EXPECT_EQ(looked[1], 0);
}

constexpr const char* kNever = R"(
.visible .entry chain(.param .u64 flags, .param .u64 out) {
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [flags];
  mov.u32 %r6, 0;
WAIT:
  COUNTED
  ld.global.cg.u32 %r4, [%d1];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra WAIT;
  st.global.u32 [%d1], %r6;
  ret;
}
)";

std::string never(const std::string& counted) {
  std::string text = std::string(kHead) + kNever;
  return text.replace(text.find("COUNTED"), 7, counted);
}

TEST(SpinsWithoutAnEnd, AreReportedWithKernelAndLine) {
  Chain c(never(""));
  const std::string message = c.run(3);
  EXPECT_NE(message.find("deadlock in kernel chain"), std::string::npos) << message;
  EXPECT_NE(message.find("3 resident thread blocks poll memory"), std::string::npos) << message;
  EXPECT_NE(message.find("warp 0 polls near chain.ptx:"), std::string::npos) << message;
}

TEST(SpinsWithoutAnEnd, ThatCountAreReportedAfterABoundedNumberOfInstructions) {
  Chain c(never("add.u32 %r6, %r6, 1;"), 1 << 21);
  const std::string message = c.run(2);
  EXPECT_NE(message.find("deadlock in kernel chain"), std::string::npos) << message;
  EXPECT_NE(message.find("have stored nothing, and no thread has ended"), std::string::npos)
      << message;
  EXPECT_NE(message.find("chain.ptx:"), std::string::npos) << message;
}

/// Each warp stores a value, and then keeps the one that it finds of the other warp; without a
/// barrier.
constexpr const char* kExchange = R"(
.visible .entry chain(.param .u64 flags, .param .u64 out) {
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [flags];
  ld.param.u64 %d2, [out];
  mov.u32 %r1, %tid.x;
  shr.u32 %r1, %r1, 5;
  xor.b32 %r2, %r1, 1;
  mul.wide.u32 %d3, %r1, 4;
  mul.wide.u32 %d4, %r2, 4;
  add.u64 %d5, %d1, %d3;
  add.u64 %d6, %d1, %d4;
  mov.u32 %r3, 7;
  st.global.u32 [%d5], %r3;
  mov.u32 %r4, 0;
LOOP:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 50;
  @%p1 bra LOOP;
  ld.global.u32 %r5, [%d6];
  add.u64 %d7, %d2, %d3;
  st.global.u32 [%d7], %r5;
  ret;
}
)";

TEST(Interleaving, LetsWarpsTakeTurns) {
  for (const uint32_t every : {0u, 16u}) {
    VirtualDevice::Options options;
    options.execution.interleave_instructions = every;
    VirtualDevice device(options);
    const uint32_t module = device.load_module(std::make_shared<const compiler::Program>(
        compiler::compile_ptx(std::string(kHead) + kExchange, "exchange.ptx")));
    const DevicePtr flags = device.allocate(8), out = device.allocate(8);
    device.launch(module, "chain", {1}, {64}, 0, KernelArgs(flags, out));
    // The first warp finds the second one's value only if that has had a turn.
    EXPECT_EQ(device.download<int>(out, 2), (std::vector<int>{every == 0 ? 0 : 7, 7}));
    validate(device.take_recording(""));
  }
}

TEST(Limits, OfExecutionInterruptIt) {
  VirtualDevice::Options options;
  options.execution.max_thread_instructions = 1'000'000;
  VirtualDevice device(options);
  const uint32_t module = device.load_module(std::make_shared<const compiler::Program>(
      compiler::compile_ptx(never("add.u32 %r6, %r6, 1;"), "never.ptx")));
  const DevicePtr flags = device.allocate(4);
  EXPECT_THROW(device.launch(module, "chain", {1}, {32}, 0, KernelArgs(flags, flags)), Interrupted);
}

}  // namespace
}  // namespace nearwarp::runtime
