// Do forms that compilers make for later GPUs do what the PTX ISA says?
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "host/functional/device/virtual_device.h"
#include "host/functional/instructions/small_floats.h"
#include "host/functional/instructions/tensor_map.h"
#include "tests/runtime/plane_map.h"

namespace nearwarp::runtime {
namespace {

struct Module : VirtualDevice {
  explicit Module(const std::string& body,
                  const std::string& parameters = ".param .u64 in, .param .u64 out") {
    const std::string text =
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(" + parameters +
        ")\n{\n.reg .b64 %in, %out, %a, %b, %m;\n.reg .b32 %t, %o, %v<8>;\n"
        ".reg .f32 %f<8>;\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b128 %w;\n" +
        ".reg .b8 %c;\n.shared .align 128 .b8 map[128];\n"
        ".shared .align 16 .b8 answer[16];\n.shared .align 8 .b64 bar;\n"
        "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
        "mov.u32 %t, %tid.x;\nmul.wide.u32 %a, %t, 4;\nadd.u64 %b, %out, %a;\n"
        "add.u64 %a, %in, %a;\n" +
        body + "\nret;\n}\n";
    module =
        load_module(std::make_shared<compiler::Program>(compiler::compile_ptx(text, "later.ptx")));
  }
  template <class T, class In>
  std::vector<T> run(const std::vector<In>& in, uint32_t threads = 32) {
    const DevicePtr p = upload(in), out = allocate(threads * 8);
    launch(module, "k", {1}, {threads}, 0, KernelArgs(p, out));
    return download<T>(out, threads);
  }
  uint32_t module = 0;
};

std::vector<float> numbers() {
  std::vector<float> v(32);
  for (int i = 0; i < 32; ++i) v[i] = static_cast<float>(i * 37 % 64 - 40) * 0.25f;
  return v;
}

TEST(LaterForms, ReductionsOfFloats) {
  std::vector<float> in = numbers();
  const auto reduce = [&](const char* how) {
    Module m(std::string("ld.global.f32 %f0, [%a];\nredux.sync.") + how +
             ".f32 %f1, %f0, 0xffffffff;\nst.global.f32 [%b], %f1;");
    return m.run<float>(in);
  };
  EXPECT_EQ(reduce("min")[7], *std::min_element(in.begin(), in.end()));
  EXPECT_EQ(reduce("max")[31], *std::max_element(in.begin(), in.end()));
  float most = 0;
  for (const float v : in) most = std::max(most, std::fabs(v));
  EXPECT_EQ(reduce("max.abs")[0], most);
  in[9] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isnan(reduce("min")[3]));
  EXPECT_TRUE(std::isnan(reduce("min.NaN")[3]));
}

TEST(LaterForms, TheLeastAndTheMostOfThree) {
  const std::vector<float> in = numbers();
  Module m(
      "ld.global.f32 %f0, [%a];\nneg.f32 %f1, %f0;\nmov.f32 %f2, 0f40000000;\n"
      "max.f32 %f0, %f0, %f1, %f2;\nmin.f32 %f3, %f0, 0f40A00000, 0f41000000;\n"
      "st.global.f32 [%b], %f3;");
  const auto got = m.run<float>(in);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], std::min(5.0f, std::max(std::fabs(in[i]), 2.0f))) << i;
}

TEST(LaterForms, FourSixAndEightBits) {
  // Values of the formats, from the tables of the OCP Microscaling specification 1.0.
  static constexpr float kFour[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint32_t i = 0; i < 16; ++i)
    EXPECT_EQ(exec::small_value(ptx::SmallFloat::kE2M1, i), i < 8 ? kFour[i] : -kFour[i - 8]);
  EXPECT_EQ(exec::small_value(ptx::SmallFloat::kE2M3, 0x1f), 7.5);
  EXPECT_EQ(exec::small_value(ptx::SmallFloat::kE2M3, 0x01), 0.125);
  EXPECT_EQ(exec::small_value(ptx::SmallFloat::kE3M2, 0x1f), 28);
  EXPECT_EQ(exec::small_value(ptx::SmallFloat::kE3M2, 0x21), -0.0625);
  EXPECT_EQ(exec::small_value(ptx::SmallFloat::kUE8M0, 127), 1);
  EXPECT_EQ(exec::small_value(ptx::SmallFloat::kUE8M0, 130), 8);
  const std::vector<float> in = numbers();
  Module four(
      "ld.global.f32 %f0, [%a];\nneg.f32 %f1, %f0;\n"
      "cvt.rn.satfinite.e2m1x2.f32 %c, %f1, %f0;\ncvt.rn.f16x2.e2m1x2 %v0, %c;\n"
      "st.global.b32 [%b], %v0;");
  const auto pairs = four.run<uint32_t>(in);
  const auto nearest = [](float v) {  // ties to the even code
    uint32_t best = 0;
    for (uint32_t i = 1; i < 8; ++i) {
      const float d = std::fabs(kFour[i] - v), b = std::fabs(kFour[best] - v);
      if (d < b || (d == b && i % 2 == 0)) best = i;
    }
    return kFour[best];
  };
  for (int i = 0; i < 32; ++i) {
    _Float16 low, high;
    const auto l = static_cast<uint16_t>(pairs[i]), h = static_cast<uint16_t>(pairs[i] >> 16);
    std::memcpy(&low, &l, 2);
    std::memcpy(&high, &h, 2);
    const float want = std::copysign(nearest(std::fabs(in[i])), in[i]);
    EXPECT_EQ(static_cast<float>(low), want) << in[i];
    EXPECT_EQ(static_cast<float>(high), -want) << in[i];
  }
  Module scale(
      "ld.global.f32 %f0, [%a];\ncvt.rp.satfinite.ue8m0x2.f32 %h0, %f0, 0f40400000;\n"
      "cvt.rn.bf16x2.ue8m0x2 %v0, %h0;\nst.global.b32 [%b], %v0;");
  const auto powers = scale.run<uint32_t>(in);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(std::bit_cast<float>(powers[i] << 16), 4.0f);  // 3, rounded up
    if (in[i] == 0) continue;
    EXPECT_EQ(std::bit_cast<float>(powers[i] & 0xffff0000u),
              std::exp2(std::ceil(std::log2(std::fabs(in[i])))))
        << in[i];
  }
}

/// Conversions to f16 with .satfinite: numbers beyond the largest finite one become that.
TEST(LaterForms, FiniteHalves) {
  const float none = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> in = {1.5f,  65504,     65519, 65520, 1e6f,    infinity,
                                 -7e4f, -infinity, none,  -3,    0x1p-30f};
  const std::vector<uint16_t> nearest = {0x3e00, 0x7bff, 0x7bff, 0x7bff, 0x7bff, 0x7bff,
                                         0xfbff, 0xfbff, 0x7fff, 0xc200, 0};
  for (const bool pair : {false, true})
    for (const bool relu : {false, true}) {
      const std::string how = std::string("cvt.rn") + (relu ? ".relu" : "") + ".satfinite.f16";
      Module m("ld.global.f32 %f0, [%a];\n" +
               (pair ? how + "x2.f32 %v0, %f0, %f0;\nst.global.b32 [%b], %v0;"
                     : how + ".f32 %h0, %f0;\ncvt.u32.u16 %v0, %h0;\nst.global.b32 [%b], %v0;"));
      const auto out = m.run<uint32_t>(in, static_cast<uint32_t>(in.size()));
      for (size_t i = 0; i < in.size(); ++i) {
        const uint32_t want = relu && in[i] < 0 ? 0 : nearest[i];
        EXPECT_EQ(out[i], pair ? want * 0x10001u : want) << how << " " << in[i];
      }
    }
  Module wide(
      "ld.global.f32 %f0, [%a];\ncvt.rz.satfinite.bf16x2.f32 %v0, %f0, 0f7f7fffff;\n"
      "st.global.b32 [%b], %v0;");
  const auto out = wide.run<uint32_t>(std::vector<float>{infinity, -infinity, 1.0f, none}, 4);
  EXPECT_EQ(out, (std::vector<uint32_t>{0x7f7f7f7f, 0xff7f7f7f, 0x3f807f7f, 0x7fff7f7f}));
}

TEST(LaterForms, IntegersBesideEachOther) {
  const std::vector<int32_t> in = {0, 1, -1, 127, 128, -128, -129, 255, 256, 40000, -40000, 7, -8};
  struct Kind {
    const char* name;
    uint32_t bits;
    bool is_signed;
  };
  for (const Kind& k : {Kind{"u16", 16, false},
                        {"s16", 16, true},
                        {"u8", 8, false},
                        {"s8", 8, true},
                        {"u4", 4, false},
                        {"s4", 4, true},
                        {"u2", 2, false},
                        {"s2", 2, true}}) {
    const bool third = k.bits < 16;
    Module m("ld.global.s32 %v0, [%a];\nneg.s32 %v1, %v0;\nmov.b32 %v2, 0xabcd1234;\n" +
             std::string("cvt.pack.sat.") + k.name + ".s32" + (third ? ".b32" : "") +
             " %v3, %v0, %v1" + (third ? ", %v2" : "") + ";\nst.global.b32 [%b], %v3;");
    const auto out = m.run<uint32_t>(in, static_cast<uint32_t>(in.size()));
    const uint32_t mask = (1u << k.bits) - 1;
    const int32_t least = k.is_signed ? -(1 << (k.bits - 1)) : 0,
                  most = static_cast<int32_t>(k.is_signed ? mask >> 1 : mask);
    for (size_t i = 0; i < in.size(); ++i) {
      const auto limited = [&](int32_t v) {
        return static_cast<uint32_t>(std::clamp(v, least, most)) & mask;
      };
      const uint32_t want =
          limited(-in[i]) | limited(in[i]) << k.bits | (third ? 0xabcd1234u << (2 * k.bits) : 0);
      EXPECT_EQ(out[i], want) << k.name << " " << in[i];
    }
  }
}

TEST(LaterForms, WhatLiesOutsideCountsForNothing) {
  // 1.5 * factor + 2 in both halves: a number, infinity, what is outside of a box, what is none.
  const std::vector<uint32_t> in = {0x40003c00, 0x7ff73c00, 0x3c007ff7, 0x7fff7ff7, 0x7c00fff7};
  const auto run = [&](const char* how, const char* type, const char* operands) {
    Module m(
        "ld.global.b32 %v0, [%a];\nmov.b32 %v1, 0x3e003e00;\nmov.b32 %v2, 0x40004000;\n"
        "fma.rn.oob" +
        std::string(how) + "." + type + " %v3, " + operands + ";\nst.global.b32 [%b], %v3;");
    return m.run<uint32_t>(in, 5);
  };
  const std::vector<uint32_t> want = {0x45004300, 0x00004300, 0x43000000, 0x7fff0000, 0x7c007fff};
  EXPECT_EQ(run("", "f16x2", "%v0, %v1, %v2"), want);
  EXPECT_EQ(run("", "f16x2", "%v1, %v0, %v2"), want);
  EXPECT_EQ(run(".relu", "f16x2", "%v1, %v0, %v2"), want);
  EXPECT_EQ(run(".sat", "f16x2", "%v1, %v0, %v2"),
            (std::vector<uint32_t>{0x3c003c00, 0x00003c00, 0x3c000000, 0, 0x3c000000}));
  const auto sum = run("", "f16x2", "%v1, %v2, %v0");  // the addend may lie anywhere
  EXPECT_EQ(sum[2], 0x44007fffu);
  const auto bf16 = run("", "bf16x2", "%v0, %v1, %v2");
  EXPECT_EQ(bf16[1] >> 16, 0u);
  EXPECT_EQ(bf16[2] & 0xffff, 0u);
  EXPECT_EQ(bf16[3], 0x7fff0000u);
}

TEST(LaterForms, ComparisonsOfFloatsAsHalves) {
  const std::vector<float> in = numbers();
  Module m(
      "ld.global.f32 %f0, [%a];\nset.lt.f16.f32 %h0, %f0, 0f40000000;\n"
      "set.ge.bf16.f32 %h1, %f0, 0f40000000;\nmov.b32 %v0, {%h0, %h1};\n"
      "st.global.b32 [%b], %v0;");
  const auto got = m.run<uint32_t>(in);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], in[i] < 2 ? 0x3c00u : 0x3f80'0000u) << i;
}

TEST(LaterForms, CopiesThatIgnoreTheirSource) {
  for (const bool negated : {false, true}) {
    Module m(std::string("mov.u32 %o, map;\nshl.b32 %v0, %t, 2;\nadd.u32 %o, %o, %v0;\n"
                         "setp.lt.u32 %p0, %t, 16;\ncp.async.ca.shared.global [%o], [%a], 4, ") +
             (negated ? "!" : "") +
             "%p0;\ncp.async.wait_all;\nld.shared.b32 %v1, [%o];\nst.global.b32 [%b], %v1;");
    const auto got = m.run<int>(std::vector<int>(32, 7));
    for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], (i < 16) != negated ? 0 : 7) << i;
  }
}

TEST(LaterForms, PredicatesMayBeLeftOut) {
  Module m("isspacep.shared _, %a;\ntestp.finite.f32 _, %f0;\nst.global.b32 [%b], %t;");
  EXPECT_EQ(m.run<uint32_t>(std::vector<int>(32))[5], 5u);
}

TEST(LaterForms, NoClusterIsCancelled) {
  Module m(
      "mbarrier.init.shared::cta.b64 [bar], 1;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
      "[answer], [bar];\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0;\n"
      "ld.shared.b128 %w, [answer];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %w;\n"
      "selp.u32 %v0, 1, 0, %p0;\nselp.u32 %v1, 2, 0, %p1;\nor.b32 %v0, %v0, %v1;\n"
      "st.global.b32 [%b], %v0;");
  EXPECT_EQ(m.run<uint32_t>(std::vector<int>(4), 1)[0], 1u);  // the answer has come: no
}

TEST(LaterForms, MapsAreChangedInSharedMemory) {
  // A map in global memory comes to shared memory, is changed there, and goes back.
  Module m(
      "cvta.to.global.u64 %in, %in;\nmov.u32 %o, map;\nshl.b32 %v0, %t, 2;\n"
      "add.u32 %v0, %o, %v0;\nld.global.b32 %v1, [%a];\nst.shared.b32 [%v0], %v1;\n"
      "bar.sync 0;\nsetp.ne.u32 %p0, %t, 0;\n@%p0 bra SKIP;\ncvt.u64.u32 %m, %o;\n"
      "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%m], 0x7f2d00100000;\n"
      "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%m], 1, 77;\n"
      "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%m], 0, 512;\n"
      "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%m], 0, 16;\n"
      "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%m], 1, 2;\n"
      "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%m], 10;\n"
      "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%m], 1;\n"
      "SKIP:\nbar.sync 0;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%out], [map], 128;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%out], 128;");
  const PlaneMap before(0x7f2d'0020'0000, 7, 64, 32, 32, 16, 0);
  std::vector<uint32_t> words(32);
  std::memcpy(words.data(), &before.map, 128);
  const auto got = m.run<uint32_t>(words);
  exec::TensorMap after;
  std::memcpy(static_cast<void*>(&after), got.data(), 128);
  EXPECT_EQ(after.magic, exec::TensorMap::kMagic);
  EXPECT_EQ(after.address, 0x7f2d'0010'0000u);
  EXPECT_EQ(after.last[1], 76u);
  EXPECT_EQ(after.last[0], 63u);
  EXPECT_EQ(after.strides[0], 512u);
  EXPECT_EQ(after.box[0], 16);
  EXPECT_EQ(after.box[1], 16);
  EXPECT_EQ(after.element_strides[1], 2);
  EXPECT_EQ(after.type, exec::TensorType::kBF16);
  EXPECT_EQ(after.swizzle, exec::Swizzle::k32B);
}

TEST(LaterForms, OneDevicesMulticastMemoryIsItsOwn) {
  const std::vector<float> in = numbers();
  Module m(
      "multimem.ld_reduce.relaxed.sys.global.add.f32 %f0, [%a];\n"
      "multimem.st.weak.global.f32 [%b], %f0;\n"
      "multimem.red.relaxed.sys.global.add.f32 [%b], 0f3F800000;");
  const auto got = m.run<float>(in);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], in[i] + 1) << i;
}

}  // namespace
}  // namespace nearwarp::runtime
