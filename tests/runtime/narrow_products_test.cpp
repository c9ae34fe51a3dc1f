// Do products of 8, 6 and 4 bits of floating point, with and without scaled blocks, of dense and of
// sparse factors, come to what the PTX ISA says? Sums of the reference are formed in double
// precision, in ascending order of k, as docs/ptx.md says; values are decoded here, from the
// formats' definitions.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {
namespace {

struct Format {
  std::string name;
  uint32_t exponent, mantissa;
  int bias;
  uint32_t shift;  ///< bit of its byte at which a number begins
  uint32_t bits() const { return 1 + exponent + mantissa; }
  double value(uint32_t code) const {
    const uint32_t m = code & ((1u << mantissa) - 1), e = code >> mantissa & ((1u << exponent) - 1);
    if (exponent == 4 && (code & 0x7f) == 0x7f) return NAN;
    if (exponent == 5 && e == 31) return m == 0 ? INFINITY : NAN;
    const double v = e == 0 ? std::ldexp(m, 1 - bias - static_cast<int>(mantissa))
                            : std::ldexp(m + (1u << mantissa),
                                         static_cast<int>(e) - bias - static_cast<int>(mantissa));
    return code >> (bits() - 1) != 0 ? -v : v;
  }
};
const std::array<Format, 5> kFormats = {{{"e4m3", 4, 3, 7, 0},
                                         {"e5m2", 5, 2, 15, 0},
                                         {"e3m2", 3, 2, 3, 0},
                                         {"e2m3", 2, 3, 1, 0},
                                         {"e2m1", 2, 1, 1, 2}}};
const Format& kFour = kFormats[4];

struct Case {
  std::string kind;
  Format a, b;
  bool sparse = false, packed = false, half = false;
  uint32_t scales = 0;
  bool ue4m3 = false, implied = false;  ///< implied: .scale_vec is left out
  uint32_t byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
  bool constants = false;  ///< byte and thread selectors of scales are constants, not registers
  uint32_t k() const { return (packed ? 64u : 32u) << (sparse ? 1 : 0); }
  uint32_t stored() const { return sparse ? k() / 2 : k(); }
};

/// Operands of one product: codes of a's numbers that are there, in which column each is, and of b.
struct Data {
  std::vector<uint32_t> a, column, b;
  std::vector<uint32_t> scale_a, scale_b;  ///< [row or column][which]
  std::vector<float> c;
};

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed) {}
  uint32_t next(uint32_t below) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<uint32_t>((uint64_t{state_} * below) >> 32);
  }

 private:
  uint32_t state_;
};

uint32_t finite_code(const Format& f, Random* random) {
  for (;;) {
    const uint32_t code = random->next(1u << f.bits());
    if (std::isfinite(f.value(code))) return code;
  }
}

Data data_of(const Case& c, uint32_t seed) {
  Random random(seed);
  Data d;
  const uint32_t unit = c.packed ? 2 : 1;  // numbers that are there together
  for (uint32_t i = 0; i < 16; ++i)
    for (uint32_t chunk = 0; chunk < c.stored() / (2 * unit); ++chunk) {
      const uint32_t first = random.next(3), second = first + 1 + random.next(3 - first);
      for (const uint32_t which : {first, second})
        for (uint32_t u = 0; u < unit; ++u) {
          d.a.push_back(finite_code(c.a, &random));
          d.column.push_back(c.sparse ? (chunk * 4 + which) * unit + u
                                      : static_cast<uint32_t>(d.column.size()) % c.k());
        }
    }
  for (uint32_t i = 0; i < 8 * c.k(); ++i) d.b.push_back(finite_code(c.b, &random));
  for (uint32_t i = 0; i < 16 * c.scales; ++i)
    d.scale_a.push_back(c.ue4m3 ? random.next(0x7f) : 120 + random.next(14));
  for (uint32_t i = 0; i < 8 * c.scales; ++i)
    d.scale_b.push_back(c.ue4m3 ? random.next(0x7f) : 120 + random.next(14));
  for (uint32_t i = 0; i < 128; ++i)
    d.c.push_back(static_cast<float>(random.next(4096)) * 0.25f - 512);
  return d;
}

std::string mnemonic(const Case& c) {
  const std::string result = c.half ? "f16" : "f32";
  std::string text = "mma" + std::string(c.sparse ? ".sp::ordered_metadata" : "") +
                     ".sync.aligned.m16n8k" + std::to_string(c.k()) + ".row.col.kind::" + c.kind;
  if (c.scales != 0) {
    text += ".block_scale";
    if (!c.implied) text += ".scale_vec::" + std::to_string(c.scales) + "X";
  }
  text += "." + result + "." + c.a.name + "." + c.b.name + "." + result;
  if (c.scales != 0) text += c.ue4m3 ? ".ue4m3" : ".ue8m0";
  return text;
}

std::string kernel_of(const Case& c) {
  const auto number = [](uint32_t n) { return std::to_string(n); };
  const auto selector = [&](const char* data, uint32_t byte, uint32_t thread,
                            const char* registers) {
    return std::string(", ") + data + ", " +
           (c.constants ? "{" + number(byte) + ", " + number(thread) + "}" : registers);
  };
  std::string text = mnemonic(c);
  text += c.half ? " {%d0, %d1}, {%a0, %a1, %a2, %a3}, "
                 : " {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, ";
  text += c.sparse ? "{%b0, %b1, %b2, %b3}, " : "{%b0, %b1}, ";
  text += c.half ? "{%d0, %d1}" : "{%f0, %f1, %f2, %f3}";
  if (c.sparse) text += ", %e, 0";
  if (c.scales != 0)
    text += selector("%sa", c.byte_a, c.thread_a, "{%h0, %h1}") +
            selector("%sb", c.byte_b, c.thread_b, "{%h2, %h3}");
  std::string moves;
  for (uint32_t i = 0; i < 4; ++i) moves += "mov.b32 %f" + number(i) + ", %d" + number(i) + "; ";
  std::string back;
  for (uint32_t i = 0; i < 4; ++i) back += "mov.b32 %d" + number(i) + ", %f" + number(i) + "; ";
  return R"(.version 9.0
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 pi, .param .u64 po)
{
  .reg .b64 %in, %o, %x; .reg .b32 %t, %a<4>, %b<4>, %d<4>, %e, %sa, %sb; .reg .f32 %f<4>;
  .reg .b16 %h<4>;
  ld.param.u64 %in, [pi]; ld.param.u64 %o, [po];
  mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 64; add.u64 %in, %in, %x;
  mul.wide.u32 %x, %t, 16; add.u64 %o, %o, %x;
  ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%in];
  ld.global.v4.u32 {%b0, %b1, %b2, %b3}, [%in+16];
  ld.global.v4.u32 {%d0, %d1, %d2, %d3}, [%in+32];
  ld.global.v2.u32 {%sa, %sb}, [%in+48]; ld.global.u32 %e, [%in+56];
  mov.u16 %h0, )" +
         number(c.byte_a) + "; mov.u16 %h1, " + number(c.thread_a) + "; mov.u16 %h2, " +
         number(c.byte_b) + "; mov.u16 %h3, " + number(c.thread_b) + ";\n  " +
         (c.half ? "" : moves) + "\n  " + text + ";\n  " + (c.half ? "" : back) +
         "\n  st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3};\n  ret;\n}\n";
}

uint32_t half_code(double v) { return std::bit_cast<uint16_t>(static_cast<_Float16>(v)); }
double half_value(uint32_t v) {
  return static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(v)));
}

/// 16 words of each lane: a, b, c, scales, where a's numbers are.
std::vector<uint32_t> words_of(const Case& c, const Data& d) {
  std::vector<uint32_t> words(32 * 16, 0x55555555);  // padding and what nobody reads is not zero
  const uint32_t bits = c.packed ? 4 : 8, parts = 32 / bits;
  const auto put = [&](uint32_t* word, uint32_t part, const Format& f, uint32_t code) {
    const uint32_t shift = part * bits + (c.packed ? 0 : f.shift);
    *word = (*word & ~(((1u << f.bits()) - 1) << shift)) | code << shift;
  };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t* const w = words.data() + size_t{16} * lane;
    for (uint32_t r = 0; r < 4; ++r)
      for (uint32_t p = 0; p < parts; ++p) {
        const uint32_t j = lane % 4 * parts + p + r / 2 * 4 * parts;
        put(w + r, p, c.a, d.a[(lane / 4 + 8 * (r % 2)) * c.stored() + j]);
      }
    for (uint32_t r = 0; r < (c.sparse ? 4 : 2); ++r)
      for (uint32_t p = 0; p < parts; ++p)
        put(w + 4 + r, p, c.b, d.b[lane / 4 * c.k() + lane % 4 * parts + p + r * 4 * parts]);
    for (uint32_t e = 0; e < 4; ++e) {
      const float v = d.c[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2];
      if (c.half)
        w[8 + e / 2] = (w[8 + e / 2] & ~(0xffffu << 16 * (e % 2))) |
                       half_code(static_cast<double>(v)) << 16 * (e % 2);
      else
        w[8 + e] = std::bit_cast<uint32_t>(v);
    }
  }
  const auto put_scale = [&](uint32_t lane, uint32_t at, uint32_t byte, uint32_t value) {
    uint32_t& w = words[lane * 16 + at];
    w = (w & ~(0xffu << 8 * byte)) | value << 8 * byte;
  };
  for (uint32_t s = 0; s < c.scales; ++s) {
    for (uint32_t i = 0; i < 16; ++i)
      put_scale(i % 8 * 4 + c.thread_a * 2 + i / 8, 12, c.byte_a + s, d.scale_a[i * c.scales + s]);
    for (uint32_t j = 0; j < 8; ++j)
      put_scale(j * 4 + c.thread_b, 13, c.byte_b + s, d.scale_b[j * c.scales + s]);
  }
  if (c.sparse) {  // four bits a chunk; a thread has half of a row
    const uint32_t unit = c.packed ? 2 : 1;
    for (uint32_t lane = 0; lane < 32; ++lane) words[lane * 16 + 14] = 0;
    for (uint32_t i = 0; i < 16; ++i)
      for (uint32_t chunk = 0; chunk < 16; ++chunk) {
        const uint32_t* const column = d.column.data() + i * c.stored() + chunk * 2 * unit;
        const uint32_t first = column[0] / unit % 4, second = column[unit] / unit % 4;
        words[(i % 8 * 4 + chunk / 8 * 2 + i / 8) * 16 + 14] |= (first | second << 2)
                                                                << chunk % 8 * 4;
      }
  }
  return words;
}

double scale_value(const Case& c, uint32_t code) {
  if (!c.ue4m3) return code == 0xff ? NAN : std::ldexp(1.0, static_cast<int>(code) - 127);
  return kFormats[0].value(code & 0x7f);
}

double expected(const Case& c, const Data& d, uint32_t i, uint32_t j) {
  double sum = 0;
  for (uint32_t n = 0; n < c.stored(); ++n) {
    const uint32_t k = d.column[i * c.stored() + n];
    double a = c.a.value(d.a[i * c.stored() + n]), b = c.b.value(d.b[j * c.k() + k]);
    if (c.scales != 0) {
      const uint32_t block = k / (c.k() / c.scales);
      a *= scale_value(c, d.scale_a[i * c.scales + block]);
      b *= scale_value(c, d.scale_b[j * c.scales + block]);
    }
    sum += a * b;
  }
  const auto before = static_cast<double>(d.c[i * 8 + j]);
  return sum + (c.half ? half_value(half_code(before)) : before);
}

void expect_product(const Case& c, const Data& d) {
  VirtualDevice device;
  const uint32_t module = device.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(kernel_of(c), "mma.ptx")));
  const DevicePtr out = device.allocate(512);
  device.launch(module, "k", {1}, {32}, 0, KernelArgs(device.upload(words_of(c, d)), out));
  const auto got = device.download<uint32_t>(out, 128);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t e = 0; e < 4; ++e) {
      const uint32_t i = lane / 4 + e / 2 * 8, j = lane % 4 * 2 + e % 2;
      const double want = expected(c, d, i, j);
      if (c.half) {
        ASSERT_EQ(got[lane * 4 + e / 2] >> 16 * (e % 2) & 0xffff, half_code(want)) << mnemonic(c);
      } else if (std::isnan(want)) {
        ASSERT_EQ(got[lane * 4 + e], 0x7fffffffu)
            << mnemonic(c) << ", row " << i << ", column " << j;
      } else {
        ASSERT_EQ(std::bit_cast<float>(got[lane * 4 + e]), static_cast<float>(want))
            << mnemonic(c) << ", row " << i << ", column " << j;
      }
    }
  validate(device.take_recording(""));
}

TEST(NarrowProducts, EveryPairOfFormats) {
  uint32_t seed = 1;
  for (const Format& a : kFormats)
    for (const Format& b : kFormats)
      for (const bool sparse : {false, true}) {
        const Case c{.kind = "f8f6f4", .a = a, .b = b, .sparse = sparse};
        expect_product(c, data_of(c, seed++));
        Case scaled = c;
        scaled.kind = "mxf8f6f4";
        scaled.scales = 1;
        scaled.byte_a = seed % 4;
        scaled.thread_a = seed / 4 % 2;
        scaled.byte_b = seed / 8 % 4;
        scaled.thread_b = seed / 2 % 4;
        scaled.constants = seed % 3 == 0;
        scaled.implied = seed % 5 == 0;
        expect_product(scaled, data_of(scaled, seed++));
      }
}

TEST(NarrowProducts, ResultsOfHalves) {
  // Factors have few bits, so that sums stay within what halves hold.
  for (const uint32_t f : {2u, 3u, 4u})
    for (const bool sparse : {false, true}) {
      const Case c{.kind = "f8f6f4", .a = kFormats[f], .b = kFour, .sparse = sparse, .half = true};
      expect_product(c, data_of(c, f));
    }
}

TEST(NarrowProducts, FourBitsWithTwoAndFourScales) {
  uint32_t seed = 100;
  for (const bool sparse : {false, true})
    for (uint32_t thread = 0; thread < 4; ++thread)
      for (const bool constants : {false, true}) {
        Case c{
            .kind = "mxf4", .a = kFour, .b = kFour, .sparse = sparse, .packed = true, .scales = 2};
        c.thread_a = thread % 2;
        c.thread_b = thread;
        c.byte_a = thread / 2 * 2;
        c.byte_b = 2 - c.byte_a;
        c.constants = constants;
        c.implied = constants;
        expect_product(c, data_of(c, seed++));
        c.kind = "mxf4nvf4";
        c.implied = false;
        expect_product(c, data_of(c, seed++));
        c.scales = 4;
        c.ue4m3 = true;
        c.byte_a = c.byte_b = 0;
        expect_product(c, data_of(c, seed++));
      }
}

TEST(NarrowProducts, WhatIsNoNumber) {
  // A scale that is none makes its row and its block none; a number of b that no number of a meets
  // counts for nothing.
  Case c{.kind = "mxf8f6f4", .a = kFormats[1], .b = kFormats[1], .sparse = true, .scales = 1};
  Data d = data_of(c, 5);
  d.scale_a[3] = 0xff;
  expect_product(c, d);
  d.scale_a[3] = 127;
  std::vector<bool> met(c.k(), false);
  for (uint32_t n = 0; n < c.stored(); ++n) met[d.column[n]] = true;
  for (uint32_t k = 0; k < c.k(); ++k)
    if (!met[k]) d.b[k] = 0x7c;  // infinite, of e5m2
  EXPECT_TRUE(std::isfinite(expected(c, d, 0, 0)));
  EXPECT_FALSE(std::isfinite(expected(c, d, 1, 0)));
  expect_product(c, d);
}

TEST(NarrowProducts, WithinTheBoundOfExactSums) {
  // Exactly: all products are multiples of 2^-25 below 2^25. Half of the last place of f32, and
  // what sums in double precision lose.
  const Case c{.kind = "f8f6f4", .a = kFormats[0], .b = kFormats[1]};
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Data d = data_of(c, seed + 300);
    for (uint32_t i = 0; i < 16; ++i)
      for (uint32_t j = 0; j < 8; ++j) {
        int64_t exact = 0;
        double largest = 0;
        for (uint32_t k = 0; k < c.k(); ++k) {
          const double p = c.a.value(d.a[i * c.k() + k]) * c.b.value(d.b[j * c.k() + k]);
          exact += static_cast<int64_t>(std::ldexp(p, 25));
          largest = std::max(largest, std::fabs(p));
        }
        exact += static_cast<int64_t>(std::ldexp(static_cast<double>(d.c[i * 8 + j]), 25));
        const auto found = static_cast<double>(static_cast<float>(expected(c, d, i, j)));
        const double real = std::ldexp(static_cast<double>(exact), -25);
        EXPECT_LE(std::fabs(found - real), std::fabs(real) * 0x1p-24 + largest * 0x1p-46);
      }
  }
}

TEST(NarrowProducts, WhatIsNoFormIsRefused) {
  const auto problem = [](Case c, const std::string& from, const std::string& to) {
    std::string text = kernel_of(c);
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      VirtualDevice d;
      const uint32_t module = d.load_module(
          std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "mma.ptx")));
      d.launch(module, "k", {1}, {32}, 0, KernelArgs(d.allocate(2048), d.allocate(512)));
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const Case eight{.kind = "mxf8f6f4", .a = kFormats[0], .b = kFormats[0], .scales = 1};
  Case four{.kind = "mxf4nvf4", .a = kFour, .b = kFour, .packed = true, .scales = 4, .ue4m3 = true};
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(problem(eight, "scale_vec::1X", "scale_vec::2X"), "scales of this number"));
  EXPECT_TRUE(contains(problem(eight, ".block_scale.scale_vec::1X", ""), "wants .block_scale"));
  EXPECT_TRUE(contains(problem(four, ".ue4m3", ".ue8m0"), "scales of this number"));
  EXPECT_TRUE(contains(problem(four, ".scale_vec::4X", ""), "scales of this number"));
  EXPECT_TRUE(contains(problem(four, "f32.e2m1.e2m1", "f32.e4m3.e2m1"), "this form of mma"));
  EXPECT_TRUE(contains(problem(four, "{%h2, %h3}", "%h2"), "a byte and a thread"));
  EXPECT_TRUE(contains(
      problem({.kind = "f8f6f4", .a = kFour, .b = kFour, .sparse = true}, "%e, 0", "%e, 1"),
      "a selector of 1"));
  four.constants = true;
  EXPECT_EQ(problem(four, "mma", "mma"), "");
  EXPECT_TRUE(contains(problem(four, "%sa, {0, 0}", "%sa, {1, 0}"), "begin at byte 1"));
  EXPECT_TRUE(contains(problem(four, "%sa, {0, 0}", "%sa, {0, 2}"), "scales of thread 2"));
  EXPECT_EQ(problem(four, "%sb, {0, 0}", "%sb, {0, 3}"), "");
  EXPECT_TRUE(contains(problem(four, "%sb, {0, 0}", "%sb, {0, 4}"), "scales of thread 4"));
  const Case two{
      .kind = "mxf4", .a = kFour, .b = kFour, .packed = true, .scales = 2, .constants = true};
  EXPECT_EQ(problem(two, "%sa, {0, 0}", "%sa, {2, 1}"), "");
  EXPECT_TRUE(contains(problem(two, "%sa, {0, 0}", "%sa, {3, 0}"), "begin at byte 3"));
  four = {.kind = "f8f6f4", .a = kFour, .b = kFour};
  EXPECT_TRUE(contains(problem(four, ".kind::f8f6f4", ""), "this form of mma"));
  EXPECT_TRUE(contains(problem(four, "m16n8k32", "m16n8k64"), "this form of mma"));
  four.sparse = true;
  EXPECT_TRUE(contains(problem(four, ".sp::ordered_metadata", ".sp"), "this form of mma"));
}

}  // namespace
}  // namespace nearwarp::runtime
