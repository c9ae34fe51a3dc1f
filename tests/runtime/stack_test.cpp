// Does alloca give room on the thread's stack, and does a function's end, or stackrestore, take it?
#include <gtest/gtest.h>

#include <string>

#include "host/core/error.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {
namespace {

struct Stack : VirtualDevice {
  explicit Stack(const std::string& functions, const std::string& body) {
    const std::string text =
        ".version 9.0\n.target sm_75\n.address_size 64\n" + functions +
        ".visible .entry k(.param .u64 out) {\n"
        ".reg .b64 %o, %a, %b, %c, %s; .reg .b32 %t, %u, %v, %w; .reg .pred %p;\n"
        ".param .b32 x; .param .b32 y;\n"
        "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4;\n"
        "add.u64 %o, %o, %a;\n" +
        body + "st.global.u32 [%o], %v;\nret;\n}\n";
    module =
        load_module(std::make_shared<compiler::Program>(compiler::compile_ptx(text, "stack.ptx")));
  }
  std::vector<uint32_t> run() {
    const DevicePtr out = allocate(128);
    launch(module, "k", {1}, {32}, 0, KernelArgs(out));
    const auto got = download<uint32_t>(out, 32);
    validate(take_recording(""));
    return got;
  }
  uint32_t module = 0;
};

TEST(Alloca, RoomOfEachThreadsOwnSize) {
  // Each thread fills as many words as its number says, with the last in a place that it aligns.
  Stack d("",
          "shl.b32 %u, %t, 2; add.u32 %u, %u, 4; cvt.u64.u32 %b, %u;\n"
          "alloca.u64 %a, %b; alloca.u64 %c, 4, 256; st.local.u32 [%c], %t;\n"
          "mov.u32 %v, 0;\n"
          "fill: mul.wide.u32 %s, %v, 4; add.u64 %s, %a, %s; st.local.u32 [%s], %v;\n"
          "add.u32 %v, %v, 1; setp.le.u32 %p, %v, %t; @%p bra fill;\n"
          "mul.wide.u32 %s, %t, 4; add.u64 %s, %a, %s; ld.local.u32 %v, [%s];\n"
          "ld.local.u32 %w, [%c]; shl.b32 %w, %w, 8; or.b32 %v, %v, %w;\n"
          "cvt.u32.u64 %w, %c; and.b32 %w, %w, 255; shl.b32 %w, %w, 16; or.b32 %v, %v, %w;\n");
  const auto got = d.run();
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i | i << 8) << i;
}

TEST(Alloca, IsGivenBack) {
  // stackrestore brings the stack's end back; without it, the end is 48 bytes further (16 each
  // time).
  Stack d("",
          "stacksave.u64 %s; alloca.u64 %a, 100; stackrestore.u64 %s; stacksave.u64 %b;\n"
          "sub.u64 %b, %b, %s; cvt.u32.u64 %v, %b;\n"
          "alloca.u64 %a, 1; alloca.u64 %a, 16; alloca.u64 %a, 9, 4; stacksave.u64 %b;\n"
          "sub.u64 %b, %b, %s; cvt.u32.u64 %w, %b; shl.b32 %w, %w, 8; or.b32 %v, %v, %w;\n"
          "stacksave.u32 %u; alloca.u32 %w, 32; sub.u32 %w, %w, %u; shl.b32 %w, %w, 16;\n"
          "or.b32 %v, %v, %w; stackrestore.u32 %u;\n");
  for (const uint32_t v : d.run()) EXPECT_EQ(v, 48u << 8);
}

TEST(Alloca, OfAFunctionGoesWithIt) {
  const std::string function =
      ".func (.param .b32 r) room (.param .b32 n) {\n"
      ".reg .b32 %n, %v; .reg .b64 %s;\n"
      "ld.param.b32 %n, [n]; cvt.u64.u32 %s, %n; alloca.u64 %s, %s; st.local.u32 [%s], %n;\n"
      "ld.local.u32 %v, [%s]; add.u32 %v, %v, 1; st.param.b32 [r], %v; ret;\n}\n";
  Stack d(function,
          "alloca.u64 %a, 16; st.local.u32 [%a], 1000; stacksave.u64 %s;\n"
          "setp.lt.u32 %p, %t, 20; st.param.b32 [x], %t; mov.u32 %v, 7;\n"
          "@!%p bra past; call (y), room, (x); ld.param.b32 %v, [y];\n"
          "past: stacksave.u64 %b; sub.u64 %b, %b, %s; cvt.u32.u64 %w, %b; add.u32 %v, %v, %w;\n"
          "ld.local.u32 %w, [%a]; add.u32 %v, %v, %w;\n");
  const auto got = d.run();
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 1000 + (i < 20 ? i + 1 : 7)) << i;
}

constexpr const char* kRecursion =
    ".func (.param .b32 r) down (.param .b32 n) {\n"
    ".reg .b32 %n, %m, %v, %w; .reg .b64 %s, %e; .reg .pred %p; .param .b32 x; .param .b32 y;\n"
    "ld.param.b32 %n, [n]; mov.u32 %v, 0; setp.eq.u32 %p, %n, 0; @%p bra out;\n"
    // The array has as many words as the depth; after the calls all must be unchanged.
    "shl.b32 %w, %n, 2; cvt.u64.u32 %s, %w; alloca.u64 %s, %s;\n"
    "mov.u32 %m, 0;\n"
    "fill: mul.wide.u32 %e, %m, 4; add.u64 %e, %s, %e; st.local.u32 [%e], %n;\n"
    "add.u32 %m, %m, 1; setp.lt.u32 %p, %m, %n; @%p bra fill;\n"
    "sub.u32 %w, %n, 1; st.param.b32 [x], %w; call (y), down, (x); ld.param.b32 %v, [y];\n"
    "st.param.b32 [x], 0; call (y), down, (x);\n"
    "mov.u32 %m, 0;\n"
    "sum: mul.wide.u32 %e, %m, 4; add.u64 %e, %s, %e; ld.local.u32 %w, [%e]; add.u32 %v, %v, %w;\n"
    "add.u32 %m, %m, 1; setp.lt.u32 %p, %m, %n; @%p bra sum;\n"
    "out: st.param.b32 [r], %v; ret;\n}\n";

TEST(Alloca, BetweenTheFramesOfARecursion) {
  Stack d(kRecursion,
          "alloca.u64 %a, 20; st.local.u32 [%a], 77; stacksave.u64 %s;\n"
          "st.param.b32 [x], %t; call (y), down, (x); ld.param.b32 %v, [y];\n"
          "stacksave.u64 %b; sub.u64 %b, %b, %s; cvt.u32.u64 %w, %b; add.u32 %v, %v, %w;\n"
          "ld.local.u32 %w, [%a]; add.u32 %v, %v, %w;\n");
  const auto got = d.run();
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 77 + i * (i + 1) * (2 * i + 1) / 6) << i;
}

TEST(Alloca, MoreThanTheStackHasIsAFault) {
  Stack d("", "alloca.u64 %a, 32768; mov.u32 %v, 0; st.local.u32 [%a+32764], %v;\n");
  try {
    d.run();
    FAIL() << "no fault";
  } catch (const DeviceFault& fault) {
    EXPECT_EQ(fault.kind(), DeviceFault::Kind::kStackOverflow) << fault.what();
  }
}

TEST(Alloca, WrongAlignmentsAreErrors) {
  EXPECT_THROW(Stack("", "alloca.u64 %a, 8, 24; mov.u32 %v, 0;\n"), Error);
}

}  // namespace
}  // namespace nearwarp::runtime
