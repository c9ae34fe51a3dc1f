// Loads from shared memory whose addresses another load of the basic block had: do they find what
// lies there, and leave the records of their places?
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::exec_test {
namespace {

using runtime::DevicePtr;
using runtime::KernelArgs;

/// A kernel whose threads fill 8 KiB of shared memory with the numbers of its words, and whose
/// `body` begins with the thread in %r1, an address that it was given in %r2, and sums up in %r3.
std::string kernel(const std::string& body) {
  return ".version 7.5\n.target sm_75\n.address_size 64\n.shared .align 16 .b8 words[8192];\n"
         ".visible .entry sum(.param .u64 in, .param .u64 out) {\n"
         ".reg .b32 %r<12>;\n.reg .b64 %rd<6>;\n.reg .pred %p<2>;\n"
         "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n"
         "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"
         "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
         "mov.u32 %r4, %r1;\nmov.u32 %r6, words;\n"
         "$fill: shl.b32 %r5, %r4, 2;\nadd.u32 %r5, %r5, %r6;\nst.shared.u32 [%r5], %r4;\n"
         "add.u32 %r4, %r4, 32;\nsetp.lt.u32 %p1, %r4, 2048;\n@%p1 bra $fill;\n"
         "bar.sync 0;\nld.global.u32 %r2, [%rd4];\nadd.u32 %r2, %r2, %r6;\nmov.u32 %r3, 0;\n" +
         body + "st.global.u32 [%rd5], %r3;\nret;\n}\n";
}
std::string load_and_add(const std::string& address) {
  return "ld.shared.u32 %r7, [" + address + "];\nadd.u32 %r3, %r3, %r7;\n";
}

struct KernelRun {
  runtime::VirtualDevice device;
  uint32_t module;
  explicit KernelRun(const std::string& body)
      : module(device.load_module(std::make_shared<const compiler::Program>(
            compiler::compile_ptx(kernel(body), "known.ptx")))) {}
  ~KernelRun() { runtime::validate(device.take_recording("test")); }
  std::vector<unsigned> of(const std::vector<unsigned>& addresses) {
    const DevicePtr in = device.upload(addresses), out = device.allocate(32 * 4);
    device.launch(module, "sum", {1}, {32}, 0, KernelArgs(in, out));
    return device.download<unsigned>(out, 32);
  }
};

/// Patterns of lanes' addresses: equal, in order, with a stride, rows of 16 and of 8, backwards,
/// random.
std::vector<std::vector<unsigned>> shapes() {
  std::vector<std::vector<unsigned>> all(8, std::vector<unsigned>(32));
  for (unsigned i = 0; i < 32; ++i) {
    all[0][i] = 64;
    all[1][i] = 4 * i;
    all[2][i] = 12 * i;
    all[3][i] = 4 * (i % 16) + 256 * (i / 16);
    all[4][i] = 64 * (i / 16);
    all[5][i] = 4 * (i % 8) + 128 * (i / 8);
    all[6][i] = 1024 - 4 * i;
    all[7][i] = i * i % 37 * 4;
  }
  return all;
}

TEST(KnownAddress, LoadsFindTheirWords) {
  KernelRun run(load_and_add("%r2") + load_and_add("%r2+4") + load_and_add("%r2+64") +
                load_and_add("%r2"));
  for (const auto& addresses : shapes()) {
    const auto found = run.of(addresses);
    for (unsigned i = 0; i < 32; ++i) ASSERT_EQ(found[i], addresses[i] + 17u) << i;
  }
}

TEST(KnownAddress, WordsOf64BitsAreOtherLoads) {
  KernelRun run(load_and_add("%r2") +
                "ld.shared.u64 %rd3, [%r2+8];\ncvt.u32.u64 %r7, %rd3;\nadd.u32 %r3, %r3, %r7;\n"
                "ld.shared.u64 %rd3, [%r2+16];\nshr.u64 %rd3, %rd3, 32;\ncvt.u32.u64 %r7, "
                "%rd3;\nadd.u32 %r3, %r3, %r7;\n");
  std::vector<unsigned> addresses(32);
  for (const unsigned step : {0u, 8u, 16u}) {
    for (unsigned i = 0; i < 32; ++i) addresses[i] = step * (i % 16) + 512 * (i / 16);
    const auto found = run.of(addresses);
    for (unsigned i = 0; i < 32; ++i) ASSERT_EQ(found[i], addresses[i] / 4 * 3 + 7u) << i;
  }
}

TEST(KnownAddress, AnAddressThatChangesIsAnother) {
  // The address changes by an addition, by a load into its own register, and in some lanes only.
  const std::string change[] = {
      "mul.lo.u32 %r8, %r1, 8;\nadd.u32 %r2, %r2, %r8;\n",
      "ld.shared.u32 %r2, [%r2];\nshl.b32 %r2, %r2, 2;\nadd.u32 %r2, %r2, %r6;\n",
      "and.b32 %r8, %r1, 1;\nsetp.ne.u32 %p1, %r8, 0;\n@%p1 add.u32 %r2, %r2, 40;\n"};
  for (int k = 0; k < 3; ++k) {
    KernelRun run(load_and_add("%r2+4") + change[k] + load_and_add("%r2+4") +
                  load_and_add("%r2+8"));
    for (const auto& addresses : shapes()) {
      const auto found = run.of(addresses);
      for (unsigned i = 0; i < 32; ++i) {
        const unsigned first = addresses[i] / 4;
        const unsigned then = k == 0 ? first + 2 * i : k == 1 ? first : first + i % 2 * 10;
        ASSERT_EQ(found[i], first + 1 + then + 1 + then + 2) << k << ", lane " << i;
      }
    }
  }
}

TEST(KnownAddress, WhatIsFoundMayBeTheNextAddresses) {
  // Word i has the address of word 2 i, so each round loads the next round's addresses, with twice
  // the stride.
  KernelRun run(
      "mov.u32 %r4, %r1;\n$chain: shl.b32 %r5, %r4, 2;\nadd.u32 %r5, %r5, %r6;\n"
      "shl.b32 %r8, %r4, 3;\nadd.u32 %r8, %r8, %r6;\nst.shared.u32 [%r5], %r8;\n"
      "add.u32 %r4, %r4, 32;\nsetp.lt.u32 %p1, %r4, 2048;\n@%p1 bra $chain;\nbar.sync 0;\n"
      "mov.u32 %r9, 0;\n$again: ld.shared.u32 %r2, [%r2];\nadd.u32 %r9, %r9, 1;\n"
      "setp.lt.u32 %p1, %r9, 3;\n@%p1 bra $again;\nsub.u32 %r3, %r2, %r6;\n");
  for (const auto& addresses : shapes()) {
    const auto found = run.of(addresses);
    for (unsigned i = 0; i < 32; ++i) ASSERT_EQ(found[i], addresses[i] * 8) << i;
  }
}

TEST(KnownAddress, LoadsOfVeryLargeKernelsThatShareANumber) {
  // There are more loads than numbers for them, so the last ones share a number, whatever register
  // has their address.
  constexpr unsigned kLoads = 33'000, kPairs = 50;
  std::string body =
      "mul.lo.u32 %r8, %r1, 8;\nadd.u32 %r9, %r2, %r8;\nadd.u32 %r10, %r6, %r8;\n"
      "sub.u32 %r10, %r10, %r8;\n";
  for (unsigned i = 0; i < kLoads; ++i) body += load_and_add("%r10+8");
  for (unsigned i = 0; i < kPairs; ++i) body += load_and_add("%r2+4") + load_and_add("%r9+4");
  KernelRun run(body);
  for (const auto& addresses : shapes()) {
    const auto found = run.of(addresses);
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned first = addresses[i] / 4;
      ASSERT_EQ(found[i], kLoads * 2 + kPairs * (first + 1 + first + 2 * i + 1)) << i;
    }
  }
}

TEST(KnownAddress, OutsideIsOutside) {
  KernelRun run(load_and_add("%r2") + load_and_add("%r2+64"));
  std::vector<unsigned> addresses(32);
  for (unsigned i = 0; i < 32; ++i) addresses[i] = 8192 - 128 + 4 * i;
  EXPECT_THROW(run.of(addresses), Error);
}

}  // namespace
}  // namespace nearwarp::exec_test
