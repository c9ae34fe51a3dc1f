// Are 8-bit floating point and tf32 converted as PTX says? The reference is a search among all
// numbers of the format, written from its definition.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "host/functional/device/virtual_device.h"
#include "host/functional/instructions/half_ops.h"

namespace nearwarp::runtime {
namespace {

/// The values of the codes 0 to 0x7f; NAN for codes that stand for no number.
std::vector<double> values(bool e4m3) {
  const int mantissa = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
  std::vector<double> all;
  for (int code = 0; code < 128; ++code) {
    const int e = code >> mantissa, m = code % (1 << mantissa);
    const double fraction = static_cast<double>(m) / (1 << mantissa);
    double v =
        e == 0 ? fraction * std::pow(2.0, 1 - bias) : (1 + fraction) * std::pow(2.0, e - bias);
    if (e4m3 ? code == 127 : e == 31) v = !e4m3 && m == 0 ? INFINITY : NAN;
    all.push_back(v);
  }
  return all;
}

/// The nearest finite code, ties to even codes.
uint32_t nearest(const std::vector<double>& all, double v) {
  if (std::isnan(v)) return 0x7f;
  size_t best = 0;
  for (size_t code = 1; code < all.size() && std::isfinite(all[code]); ++code) {
    const double d = std::fabs(std::fabs(v) - all[code]), e = std::fabs(std::fabs(v) - all[best]);
    if (d < e || (d == e && code % 2 == 0) || std::fabs(v) >= all[code]) best = code;
  }
  return static_cast<uint32_t>(best) | (std::signbit(v) ? 0x80u : 0u);
}

std::vector<float> inputs() {
  std::vector<float> x = {0.0f,  -0.0f,  INFINITY, -INFINITY, NAN,
                          1e30f, -1e30f, 1e-30f,   464.0f,    448.5f};
  for (const bool e4m3 : {true, false}) {
    const std::vector<double> all = values(e4m3);
    for (size_t i = 0; i + 1 < all.size(); ++i) {
      if (!std::isfinite(all[i + 1])) continue;
      const auto middle = static_cast<float>((all[i] + all[i + 1]) / 2);
      for (const float v : {static_cast<float>(all[i]), middle, std::nextafter(middle, 0.0f),
                            std::nextafter(middle, 1e9f)}) {
        x.push_back(v);
        x.push_back(-v);
      }
    }
  }
  if (x.size() % 2 != 0) x.push_back(1);
  return x;
}

/// Runs `body` for each word %r1 (and %r2) of the input; it leaves its result in %r3.
std::vector<uint32_t> run(const std::string& body, const std::vector<uint32_t>& in,
                          uint32_t words) {
  const std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pi, .param .u64 po) {
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .b16 %rs<4>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [pi]; ld.param.u64 %rd2, [po];
  mov.u32 %r4, %ctaid.x; mul.wide.u32 %rd3, %r4, )" +
                           std::to_string(4 * words) + R"(; add.s64 %rd1, %rd1, %rd3;
  mul.wide.u32 %rd3, %r4, 4; add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r1, [%rd1]; mov.b32 %f1, %r1;
)" + (words == 2 ? "ld.global.f32 %f2, [%rd1+4];\n" : "") +
                           body + "\nst.global.u32 [%rd2], %r3; ret; }\n";
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "k.ptx")));
  const auto count = static_cast<uint32_t>(in.size() / words);
  const DevicePtr device_in = d.upload(in), out = d.allocate(count * 4);
  d.launch(module, "k", {count}, {1}, 0, KernelArgs(device_in, out));
  return d.download<uint32_t>(out, count);
}

std::vector<uint32_t> bits_of(const std::vector<float>& x) {
  std::vector<uint32_t> bits;
  for (const float v : x) bits.push_back(std::bit_cast<uint32_t>(v));
  return bits;
}

TEST(SmallFloats, FromSingle) {
  const std::vector<float> x = inputs();
  for (const bool e4m3 : {true, false}) {
    for (const bool relu : {false, true}) {
      const std::string cvt = std::string("cvt.rn.satfinite") + (relu ? ".relu" : "") +
                              (e4m3 ? ".e4m3x2" : ".e5m2x2") + ".f32 %rs1, %f1, %f2; ";
      const std::vector<uint32_t> got = run(cvt + "cvt.u32.u16 %r3, %rs1;", bits_of(x), 2);
      const std::vector<double> all = values(e4m3);
      const auto expected = [&](float v) {
        const uint32_t code = nearest(all, static_cast<double>(v));
        return relu && (code & 0x80) != 0 ? 0u : code;
      };
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], expected(x[2 * i]) << 8 | expected(x[2 * i + 1]))
            << cvt << x[2 * i] << " " << x[2 * i + 1];
    }
  }
}

TEST(SmallFloats, FromAndToHalves) {
  std::vector<uint32_t> halves;
  for (uint32_t h = 0; h < 65536; h += 37) halves.push_back(h | (h ^ 0x8001u) << 16);
  std::vector<uint32_t> codes;
  for (uint32_t c = 0; c < 256; ++c) codes.push_back(c | (255 - c) << 8);
  for (const bool e4m3 : {true, false}) {
    const std::string type = e4m3 ? "e4m3x2" : "e5m2x2";
    const std::vector<double> all = values(e4m3);
    const auto narrow =
        run("cvt.rn.satfinite." + type + ".f16x2 %rs1, %r1; cvt.u32.u16 %r3, %rs1;", halves, 1);
    for (size_t i = 0; i < halves.size(); ++i)
      ASSERT_EQ(narrow[i], nearest(all, exec::half_value(halves[i] & 0xffff, false)) |
                               nearest(all, exec::half_value(halves[i] >> 16, false)) << 8)
          << halves[i];
    const auto wide = run("cvt.u16.u32 %rs1, %r1; cvt.rn.f16x2." + type + " %r3, %rs1;", codes, 1);
    for (uint32_t c = 0; c < 256; ++c) {
      for (const bool upper : {false, true}) {
        const uint32_t code = upper ? 255 - c : c;
        const double v = exec::half_value(upper ? wide[c] >> 16 : wide[c] & 0xffff, false);
        const double expected = (code & 0x80) != 0 ? -all[code & 0x7f] : all[code & 0x7f];
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(v)) << code;
        } else {
          EXPECT_EQ(v, expected) << code;
        }
      }
    }
  }
}

TEST(SmallFloats, Tf32) {
  const std::vector<uint32_t> x = {0,          0x80000000, 0x3f800000, 0x3f801000, 0x3f800fff,
                                   0x3f803000, 0x3f801001, 0xbf801000, 0x7f7fffff, 0x7f800000,
                                   0xff800000, 0x7fc00001, 0x00000001, 0x00001000, 0x3fffffff};
  const auto away = run("cvt.rna.tf32.f32 %r3, %f1;", x, 1);
  const auto even = run("cvt.rn.tf32.f32 %r3, %f1;", x, 1);
  const auto zero = run("cvt.rz.tf32.f32 %r3, %f1;", x, 1);
  const std::vector<uint32_t> expected_away = {0,          0x80000000, 0x3f800000, 0x3f802000,
                                               0x3f800000, 0x3f804000, 0x3f802000, 0xbf802000,
                                               0x7f800000, 0x7f800000, 0xff800000, 0x7fffffff,
                                               0,          0x00002000, 0x40000000};
  std::vector<uint32_t> expected_even = expected_away, expected_zero;
  expected_even[3] = 0x3f800000;
  expected_even[7] = 0xbf800000;
  expected_even[13] = 0;
  for (const uint32_t v : x) expected_zero.push_back(v == 0x7fc00001 ? 0x7fffffff : v & ~0x1fffu);
  EXPECT_EQ(away, expected_away);
  EXPECT_EQ(even, expected_even);
  EXPECT_EQ(zero, expected_zero);
}

TEST(VectorAtomics, EachElementIsAdded) {
  const std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .f32 %f<9>; .reg .b16 %h<9>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;
  mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f40000000; mov.f32 %f4, 0f40400000;
  red.global.gpu.add.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
  atom.global.add.v2.f32 {%f2, %f1}, [%rd1+16], {%f1, %f2};
  mov.b32 %r2, 0x40003C00;
  red.global.add.noftz.v2.f16x2 [%rd1+32], {%r2, %r2};
  mov.b16 %h1, 0x3F80;
  red.global.add.noftz.v8.bf16 [%rd1+48], {%h1, %h1, %h1, %h1, %h1, %h1, %h1, %h1};
  mul.wide.u32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2;
  st.global.v2.f32 [%rd3+64], {%f2, %f1};
  ret; }
)";
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "k.ptx")));
  const DevicePtr p = d.allocate(64 + 32 * 8);
  d.fill(p, 0, 64 + 32 * 8);
  d.launch(module, "k", {1}, {32}, 0, KernelArgs(p));
  const auto f = d.download<float>(p, 16 + 64);
  const auto w = d.download<uint32_t>(p, 16);
  EXPECT_EQ((std::vector<float>(f.begin(), f.begin() + 6)),
            (std::vector<float>{496, 32, 64, 96, 496, 32}));
  EXPECT_EQ(w[8], 0x54005000u);  // 64 and 32 in half precision
  EXPECT_EQ(w[9], 0x54005000u);
  for (size_t i = 12; i < 16; ++i) EXPECT_EQ(w[i], 0x42004200u);  // 32 in bf16
  for (uint32_t lane = 0; lane < 32; ++lane) {                    // what was there before
    EXPECT_EQ(f[16 + 2 * lane], static_cast<float>(lane * (lane - 1) / 2));
    EXPECT_EQ(f[17 + 2 * lane], static_cast<float>(lane));
  }
}

TEST(VectorAtomics, WhatHasNoVectorFormIsRefused) {
  for (const char* statement :
       {"red.global.max.v2.f32 [%rd1], {%f1, %f1};", "red.shared.add.v2.f32 [%rd1], {%f1, %f1};",
        "red.global.add.v8.f32 [%rd1], {%f1, %f1};", "red.global.add.v2.u32 [%rd1], {%r1, %r1};"}) {
    const auto program = compiler::compile_ptx(
        std::string(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
                    ".reg .b64 %rd<2>; .reg .f32 %f<2>; .reg .b32 %r<2>;\n") +
            statement + "\nret; }\n",
        "k.ptx");
    EXPECT_NE(program.kernels.at(0).unsupported, "") << statement;
  }
}

}  // namespace
}  // namespace nearwarp::runtime
