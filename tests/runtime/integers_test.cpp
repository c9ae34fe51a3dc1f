// Do video instructions, bit fields and carries compute what PTX says?
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "host/functional/device/virtual_device.h"
#include "host/functional/instructions/half_ops.h"
#include "host/functional/ptx/details.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime::integers_test {
namespace {

constexpr int kResults = 16;

uint32_t byte(uint32_t v, int i) { return v >> (8 * i) & 0xff; }

uint32_t nth_set(uint32_t mask, uint32_t base, int n) {
  if (base > 31) return ~0u;
  if (n == 0) return mask >> base & 1 ? base : ~0u;
  for (int at = static_cast<int>(base); at >= 0 && at<32; at += n> 0 ? 1 : -1) {
    if (!(mask >> at & 1)) continue;
    n += n > 0 ? -1 : 1;
    if (n == 0) return static_cast<uint32_t>(at);
  }
  return ~0u;
}

TEST(Integers, VideoBitFieldsAndCarries) {
  std::mt19937 random(5);
  const uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00ff00ff, 0xff800180, 31};
  std::vector<uint32_t> in;
  for (const uint32_t a : edges)
    for (const uint32_t b : edges)
      for (const uint32_t c : edges) in.insert(in.end(), {a, b, c});
  while (in.size() < 3 * 3000) in.push_back(static_cast<uint32_t>(random()));
  const int n = static_cast<int>(in.size() / 3);
  BreadthDevice d("integers");
  const DevicePtr p = d.upload(in), out = d.allocate(static_cast<uint64_t>(n) * kResults * 4);
  d.launch(d.module, "integers", {static_cast<uint32_t>((n + 127) / 128)}, {128}, 0,
           KernelArgs(p, out, n));
  const auto got = d.download<uint32_t>(out, static_cast<uint64_t>(n) * kResults);
  for (int i = 0; i < n; ++i) {
    const uint32_t a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b),
               sc = static_cast<int32_t>(c);
    uint32_t differences = 0, sum = 0, halves = 0, averages = 0;
    for (int k = 0; k < 4; ++k) {
      const int x = static_cast<int>(byte(a, k)), y = static_cast<int>(byte(b, k));
      differences |= static_cast<uint32_t>(std::abs(x - y)) << (8 * k);
      sum += static_cast<uint32_t>(std::abs(x - y));
      averages |= static_cast<uint32_t>((x + y + 1) / 2) << (8 * k);
    }
    for (int k = 0; k < 2; ++k) {
      const int v =
          static_cast<int>(a >> (16 * k) & 0xffff) - static_cast<int>(b >> (16 * k) & 0xffff);
      halves |= (static_cast<uint32_t>(std::clamp(v, -32768, 32767)) & 0xffff) << (16 * k);
    }
    const uint32_t bits = b & 31, clamp_bits = b % 40, position = a % 40;
    const uint64_t carry = (uint64_t{a} + b) >> 32, second = uint64_t{b} + c + carry;
    const uint64_t product = uint64_t{a} * b;
    const uint64_t low_carry = ((product & 0xffffffff) + c) >> 32;
    const uint32_t want[kResults] = {
        byte(a, 0) + static_cast<uint32_t>(static_cast<int16_t>(b >> 16)),
        static_cast<uint32_t>(
            std::abs(static_cast<int>(byte(a, 1)) - static_cast<int>(byte(b, 2)))) +
            c,
        static_cast<uint32_t>((int64_t{static_cast<int16_t>(a)} * byte(b, 0) + sc) >> 7),
        a << (b & 31),
        byte(a, 0) < byte(b, 1),
        static_cast<uint32_t>(std::min(std::max(sa, sb), sc)),
        bits == 0 ? 0
                  : static_cast<uint32_t>(static_cast<int32_t>(a << (32 - bits)) >> (32 - bits)),
        clamp_bits == 0 ? 0 : (clamp_bits >= 32 ? a : a << (32 - clamp_bits) >> (32 - clamp_bits)),
        nth_set(a, b % 33, static_cast<int>(c % 11 - 5)),
        differences,
        sum,
        halves,
        static_cast<uint32_t>(second) + static_cast<uint32_t>(second >> 32),
        static_cast<uint32_t>(product >> 32) + c + static_cast<uint32_t>(low_carry),
        position >= 32 || clamp_bits == 0
            ? 0
            : (clamp_bits >= 32 ? ~0u : (1u << clamp_bits) - 1) << position,
        averages};
    for (int k = 0; k < kResults; ++k)
      ASSERT_EQ(got[i * kResults + k], want[k])
          << "result " << k << " of " << std::hex << a << " " << b << " " << c;
  }
  validate(d.take_recording(""));
}

TEST(Integers, CarriesOfSubtractions) {
  // After a subtraction the flag is the carry of adding the complement, which addc adds and subc
  // takes for "nothing borrowed".
  const std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
  .reg .b64 %rd<12>; .reg .b32 %r<12>;
  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd3, %r1, 8; add.s64 %rd1, %rd1, %rd3;
  mul.wide.u32 %rd4, %r1, 32; add.s64 %rd2, %rd2, %rd4;
  ld.global.v2.u32 {%r2, %r3}, [%rd1];
  sub.cc.u32 %r4, %r2, %r3;
  addc.u32 %r5, 0, 0;
  sub.cc.u32 %r4, %r2, %r3;
  subc.u32 %r6, 0, 0;
  add.cc.u32 %r7, %r2, %r3;
  subc.cc.u32 %r8, %r2, %r3;
  subc.u32 %r9, %r2, 5;
  cvt.u64.u32 %rd5, %r2; cvt.u64.u32 %rd6, %r3;
  sub.cc.u64 %rd7, %rd5, %rd6;
  addc.u64 %rd8, %rd5, 1;
  st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r8};
  st.global.u32 [%rd2+16], %r9;
  st.global.u64 [%rd2+24], %rd8;
  ret;
}
)";
  const std::vector<uint32_t> values = {0, 1, 2, 5, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  std::vector<uint32_t> in;
  for (const uint32_t a : values)
    for (const uint32_t b : values) in.insert(in.end(), {a, b});
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "k.ptx")));
  const auto count = static_cast<uint32_t>(in.size() / 2);
  const DevicePtr p = d.upload(in), q = d.allocate(count * 32);
  d.launch(module, "k", {count}, {1}, 0, KernelArgs(p, q));
  const auto got = d.download<uint32_t>(q, count * 8);
  for (size_t i = 0; i < in.size() / 2; ++i) {
    const uint32_t a = in[2 * i], b = in[2 * i + 1], *r = got.data() + 8 * i;
    const uint32_t kept = a >= b;  // nothing borrowed
    const uint32_t sum_carry = static_cast<uint32_t>((uint64_t{a} + b) >> 32);
    const uint64_t difference = uint64_t{a} + static_cast<uint32_t>(~b) + sum_carry;
    EXPECT_EQ(r[0], a - b);
    EXPECT_EQ(r[1], kept) << a << " " << b;
    EXPECT_EQ(r[2], kept ? 0 : ~0u) << a << " " << b;
    EXPECT_EQ(r[3], static_cast<uint32_t>(difference)) << a << " " << b;
    EXPECT_EQ(r[4], a - 5 - (difference >> 32 ? 0 : 1)) << a << " " << b;
    EXPECT_EQ(r[6] | uint64_t{r[7]} << 32, a + uint64_t{1} + kept) << a << " " << b;
  }
}

TEST(Packed, IntegersOf16Bits) {
  const std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
  .reg .b64 %rd<6>; .reg .b32 %r<12>;
  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd3, %r1, 8; add.s64 %rd1, %rd1, %rd3;
  mul.wide.u32 %rd4, %r1, 32; add.s64 %rd2, %rd2, %rd4;
  ld.global.v2.u32 {%r2, %r3}, [%rd1];
  add.u16x2 %r4, %r2, %r3;
  add.s16x2 %r5, %r2, %r3;
  min.u16x2 %r6, %r2, %r3;
  max.u16x2 %r7, %r2, %r3;
  min.s16x2 %r8, %r2, %r3;
  max.s16x2 %r9, %r2, %r3;
  min.s16x2.relu %r10, %r2, %r3;
  max.s16x2.relu %r11, %r2, %r3;
  st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};
  st.global.v4.u32 [%rd2+16], {%r8, %r9, %r10, %r11};
  ret; }
)";
  std::vector<uint32_t> in;
  for (const uint32_t a : {0u, 0x7fff8000u, 0x00010000u, 0xffff0001u, 0x12345678u, 0x8000ffffu})
    for (const uint32_t b : {0u, 0x00017fffu, 0xffffffffu, 0x80018000u, 0x23450001u}) {
      in.push_back(a);
      in.push_back(b);
    }
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "k.ptx")));
  const auto count = static_cast<uint32_t>(in.size() / 2);
  const DevicePtr p = d.upload(in), q = d.allocate(count * 32);
  d.launch(module, "k", {count}, {1}, 0, KernelArgs(p, q));
  const auto out = d.download<uint32_t>(q, count * 8);
  for (uint32_t i = 0; i < count; ++i)
    for (const uint32_t shift : {0u, 16u}) {
      const auto a = static_cast<uint16_t>(in[2 * i] >> shift);
      const auto b = static_cast<uint16_t>(in[2 * i + 1] >> shift);
      const auto x = static_cast<int16_t>(a), y = static_cast<int16_t>(b);
      const int16_t low = std::min(x, y), high = std::max(x, y), none = 0;
      const uint16_t expected[] = {static_cast<uint16_t>(a + b),
                                   static_cast<uint16_t>(a + b),
                                   std::min(a, b),
                                   std::max(a, b),
                                   static_cast<uint16_t>(low),
                                   static_cast<uint16_t>(high),
                                   static_cast<uint16_t>(std::max(low, none)),
                                   static_cast<uint16_t>(std::max(high, none))};
      for (uint32_t k = 0; k < 8; ++k)
        EXPECT_EQ(static_cast<uint16_t>(out[8 * i + k] >> shift), expected[k])
            << k << " of " << in[2 * i] << ", " << in[2 * i + 1];
    }
}

TEST(Relu, OfIntegersAndOfConversions) {
  const std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 q, .param .u32 a, .param .u32 b) {
  .reg .b64 %rd<2>; .reg .b32 %r<8>; .reg .b16 %h<3>; .reg .f32 %f<2>;
  ld.param.u64 %rd1, [q]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];
  min.s32.relu %r3, %r1, %r2;
  max.s32.relu %r4, %r1, %r2;
  cvt.rn.f32.s32 %f1, %r1;
  cvt.rn.relu.f16.f32 %h1, %f1; cvt.u32.u16 %r5, %h1;
  cvt.rn.relu.bf16.f32 %h2, %f1; cvt.u32.u16 %r6, %h2;
  st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};
  ret; }
)";
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "k.ptx")));
  const DevicePtr q = d.allocate(16);
  const auto run = [&](int a, int b) {
    d.launch(module, "k", {1}, {1}, 0, KernelArgs(q, a, b));
    return d.download<uint32_t>(q, 4);
  };
  EXPECT_EQ(run(-1, 5), (std::vector<uint32_t>{0, 5, 0, 0}));
  EXPECT_EQ(run(1, 5), (std::vector<uint32_t>{1, 5, 0x3c00, 0x3f80}));
  EXPECT_EQ(run(-7, -5), (std::vector<uint32_t>{0, 0, 0, 0}));
}

TEST(Video, ProductsOfUnsignedWordsSaturateUpwards) {
  ptx::VideoDetail d;
  d.op = ptx::VideoDetail::Op::kMad;
  EXPECT_EQ(exec::video(d.pack(), ~0u, ~0u, 5), 6u);
  d.saturate = true;
  for (const int shift : {0, 7, 15}) {
    d.shift = static_cast<uint8_t>(shift);
    EXPECT_EQ(exec::video(d.pack(), ~0u, ~0u, 0), ~0u) << shift;
  }
  d.a_signed = d.d_signed = true;
  EXPECT_EQ(exec::video(d.pack(), 0x80000000u, ~0u, 0), 0x80000000u);
}

}  // namespace
}  // namespace nearwarp::runtime::integers_test
