// Do kernels work that have more memory instructions than there are numbers for accesses of
// different kinds?
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::exec_test {
namespace {

TEST(LargeKernel, AccessesThatAreAlikeShareTheirDescription) {
  constexpr int kLoads = 70'000;
  std::string ptx =
      ".version 7.5\n.target sm_75\n.address_size 64\n"
      ".visible .entry sum(.param .u64 in, .param .u64 out) {\n"
      ".reg .b32 %r<4>;\n.reg .b64 %rd<6>;\n"
      "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n"
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"
      "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nmov.u32 %r2, 0;\n";
  // Loads of different offsets and, every third, of another kind.
  for (int i = 0; i < kLoads; ++i) {
    ptx += i % 3 == 0 ? "ld.global.u8 %r3, [%rd4+" : "ld.global.u32 %r3, [%rd4+";
    ptx += std::to_string(i % 2 * 128) + "];\nadd.u32 %r2, %r2, %r3;\n";
  }
  ptx += "st.global.u32 [%rd5], %r2;\nret;\n}\n";
  runtime::VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(ptx, "large.ptx")));
  std::vector<unsigned> in(64);
  for (unsigned i = 0; i < 64; ++i) in[i] = i * 1000 + 7;
  const runtime::DevicePtr pi = d.upload(in), po = d.allocate(32 * 4);
  d.launch(module, "sum", {1}, {32}, 0, runtime::KernelArgs(pi, po));
  const auto out = d.download<unsigned>(po, 32);
  for (unsigned t = 0; t < 32; ++t) {
    unsigned sum = 0;
    for (int i = 0; i < kLoads; ++i) {
      const unsigned word = in[t + i % 2 * 32];
      sum += i % 3 == 0 ? word & 0xff : word;
    }
    EXPECT_EQ(out[t], sum) << t;
  }
  runtime::validate(d.take_recording("test"));
}

}  // namespace
}  // namespace nearwarp::exec_test
