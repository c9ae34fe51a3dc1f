// Are 128-bit values moved, loaded, stored and exchanged whole?
#include <gtest/gtest.h>

#include "host/functional/device/virtual_device.h"

namespace nearwarp::runtime {
namespace {

uint32_t load(VirtualDevice& device, const char* ptx) {
  return device.load_module(
      std::make_shared<compiler::Program>(compiler::compile_ptx(ptx, "wide.ptx")));
}

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
  const uint32_t module = load(device, kPtx);
  const DevicePtr p = device.upload(std::vector<uint64_t>{1, 2, 0, 0, 0, 0, 0, 0, 9, 9});
  device.launch(module, "wide", {1}, {1}, 0, KernelArgs(p));
  EXPECT_EQ(device.download<uint64_t>(p, 10),
            (std::vector<uint64_t>{1, 2, 2, 1, 1, 2, 2, 1, 1, 2}));
  EXPECT_THROW(device.launch(module, "wide", {1}, {1}, 0, KernelArgs(p + 8)), DeviceFault);
}

constexpr const char* kPtx32 = R"(.version 8.8
.target sm_100
.address_size 64
.visible .entry wide(.param .u64 a, .param .u64 b)
{
  .reg .b64 %a, %b, %x, %y, %z;
  .reg .f32 %f<8>;
  .reg .pred %odd;
  .reg .b32 %t;
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %a, %t, 32, %a;
  mad.wide.u32 %b, %t, 32, %b;
  and.b32 %t, %t, 1;
  setp.eq.u32 %odd, %t, 1;
  @%odd bra words;
  ld.global.nc.v4.b64 {%a, %x, _, %z}, [%a];
  mov.u64 %y, 5;
  st.global.v4.u64 [%b], {%z, %y, %x, %a};
  ret;
words:
  ld.global.v8.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%a];
  st.global.v8.f32 [%b], {%f7, %f6, %f5, %f4, %f3, %f2, %f1, %f0};
  ret;
}
)";

TEST(Wide, AccessesOf32Bytes) {
  VirtualDevice device;
  const uint32_t module = load(device, kPtx32);
  constexpr uint32_t n = 64;
  std::vector<uint32_t> in(8 * n);
  for (uint32_t i = 0; i < 8 * n; ++i) in[i] = 0x3f800000 + i;
  const DevicePtr a = device.upload(in), b = device.allocate(32 * n);
  device.launch(module, "wide", {1}, {n}, 0, KernelArgs(a, b));
  const std::vector<uint32_t> out = device.download<uint32_t>(b, 8 * n);
  for (uint32_t t = 0; t < n; ++t) {
    const uint32_t *from = &in[8 * t], *to = &out[8 * t];
    if (t % 2 == 1) {
      for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(to[i], from[7 - i]) << t;
      continue;
    }
    EXPECT_EQ(std::vector(to, to + 8),
              (std::vector<uint32_t>{from[6], from[7], 5, 0, from[2], from[3], from[0], from[1]}))
        << t;
  }
  EXPECT_THROW(device.launch(module, "wide", {1}, {n + 1}, 0, KernelArgs(a, b)), DeviceFault);
}

constexpr const char* kPairs = R"(.version 8.8
.target sm_100
.address_size 64
.visible .entry pairs(.param .u64 a, .param .u64 o)
{
  .reg .b64 %a, %o, %x, %y, %r;
  .reg .b32 %t;
  ld.param.u64 %a, [a];
  ld.param.u64 %o, [o];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %a, %t, 16, %a;
  mad.wide.u32 %o, %t, 40, %o;
  ld.global.v2.b64 {%x, %y}, [%a];
  add.rn.f32x2 %r, %x, %y;
  st.global.b64 [%o], %r;
  sub.rz.f32x2 %r, %x, %y;
  st.global.b64 [%o+8], %r;
  mul.rn.ftz.f32x2 %r, %x, %y;
  st.global.b64 [%o+16], %r;
  fma.rn.f32x2 %r, %x, %y, 0x3f80000040000000;
  st.global.b64 [%o+24], %r;
  fma.rm.f32x2 %x, %x, %y, %x;
  st.global.b64 [%o+32], %x;
  ret;
}
)";

TEST(Wide, PairsOfFloats) {
  VirtualDevice device;
  const uint32_t module = load(device, kPairs);
  constexpr uint32_t n = 32;
  std::vector<float> in(4 * n);
  for (uint32_t i = 0; i < 4 * n; ++i) in[i] = (i % 7 == 0 ? -1.0F : 1.0F) * static_cast<float>(i);
  in[0] = in[2] = 1e-23F;  // their product is no normal number
  const DevicePtr a = device.upload(in), o = device.allocate(40 * n);
  device.launch(module, "pairs", {1}, {n}, 0, KernelArgs(a, o));
  const std::vector<float> out = device.download<float>(o, 10 * n);
  for (uint32_t t = 0; t < n; ++t) {
    for (uint32_t h = 0; h < 2; ++h) {
      const float x = in[4 * t + h], y = in[4 * t + 2 + h], *r = &out[10 * t + h];
      EXPECT_EQ(r[0], x + y) << t;
      EXPECT_EQ(r[2], x - y) << t;
      EXPECT_EQ(r[4], t == 0 && h == 0 ? 0.0F : x * y) << t;
      EXPECT_EQ(r[6], x * y + (h == 0 ? 2.0F : 1.0F)) << t;
      EXPECT_EQ(r[8], x * y + x) << t;
    }
  }
}

TEST(Wide, WhatThereIsNotIsRefused) {
  for (const char* statement :
       {"atom.global.add.b128 %q, [%p], %q;", "ld.shared.v4.b64 {%p,%p,%p,%p}, [%p];",
        "ld.global.v8.b16 {%r,%r,%r,%r,%r,%r,%r,%r}, [%p];", "ld.global.v2.b128 {%q,%q}, [%p];"}) {
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

TEST(Wide, VectorsOfRegistersOfSeveralWidthsAreRefused) {
  for (const char* statement : {"ld.shared.v2.b32 {%r,%p}, [s];", "st.shared.v2.b32 [s], {%p,%r};",
                                "ld.shared.v2.s16 {%h,%r}, [s];"}) {
    const std::string text =
        std::string(
            ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
            ".reg .b64 %p;\n.reg .b32 %r;\n.reg .b16 %h;\n.shared .align 16 .b8 s[16];\n") +
        statement + "\nst.shared.b64 [s], %p;\nst.shared.b32 [s], %r;\nret;\n}\n";
    VirtualDevice device;
    const uint32_t module = load(device, text.c_str());
    try {
      device.launch(module, "k", {1}, {1}, 0, KernelArgs());
      ADD_FAILURE() << "accepted: " << statement;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("a vector of registers of several widths"))
          << error.what();
    }
  }
}

}  // namespace
}  // namespace nearwarp::runtime
