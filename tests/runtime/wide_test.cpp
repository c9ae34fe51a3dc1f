// Are 128-bit values moved, loaded, stored and exchanged whole?
#include <gtest/gtest.h>

#include "host/runtime/virtual_device.h"

namespace nearwarp::runtime {
namespace {

constexpr const char* kPtx = R"(
.version 8.4
.target sm_90
.address_size 64
.visible .entry wide(.param .u64 p)
{
  .reg .b128 %q, %r, %old, %copy;
  .reg .b64 %p, %a, %b;
  .reg .pred %never;
  .shared .align 16 .b8 s[16];
  ld.param.u64 %p, [p];
  ld.global.b128 %q, [%p];
  mov.b128 {%a, %b}, %q;
  mov.b128 %r, {%b, %a};
  mov.b128 %copy, %r;
  st.shared.b128 [s], %copy;
  atom.shared.exch.b128 %old, [s], %q;
  st.global.b128 [%p+16], %old;
  atom.shared.cas.b128 %old, [s], %r, %r;
  st.global.b128 [%p+32], %old;
  atom.shared.cas.b128 %old, [s], %q, %r;
  ld.shared.b128 %copy, [s];
  st.global.b128 [%p+48], %copy;
  setp.eq.u64 %never, %p, 0;
  @%never st.global.b128 [%p], %r;
  atom.global.exch.b128 _, [%p+64], %q;
  ret;
}
)";

TEST(Wide, ValuesOf128Bits) {
  VirtualDevice device;
  const uint32_t module = device.load_module(
      std::make_shared<compiler::Program>(compiler::compile_ptx(kPtx, "wide.ptx")));
  const DevicePtr p = device.upload(std::vector<uint64_t>{1, 2, 0, 0, 0, 0, 0, 0, 9, 9});
  device.launch(module, "wide", {1}, {1}, 0, KernelArgs(p));
  EXPECT_EQ(device.download<uint64_t>(p, 10),
            (std::vector<uint64_t>{1, 2, 2, 1, 1, 2, 2, 1, 1, 2}));
  EXPECT_THROW(device.launch(module, "wide", {1}, {1}, 0, KernelArgs(p + 8)), DeviceFault);
}

TEST(Wide, WhatThereIsNotIsRefused) {
  for (const char* statement :
       {"atom.global.add.b128 %q, [%p], %q;", "ld.global.v4.b64 {%p,%p,%p,%p}, [%p];",
        "ld.global.v8.b32 {%r,%r,%r,%r,%r,%r,%r,%r}, [%p];"}) {
    const std::string text =
        std::string(
            ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
            ".reg .b128 %q;\n.reg .b64 %p;\n.reg .b32 %r;\n") +
        statement + "\nret;\n}\n";
    EXPECT_THROW(
        {
          VirtualDevice device;
          const uint32_t module = device.load_module(
              std::make_shared<compiler::Program>(compiler::compile_ptx(text, "wide.ptx")));
          device.launch(module, "k", {1}, {1}, 0, KernelArgs());
        },
        Error)
        << statement;
  }
}

}  // namespace
}  // namespace nearwarp::runtime
