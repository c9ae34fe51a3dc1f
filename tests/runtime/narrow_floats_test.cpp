// Are floating point of 8, 6 and 4 bits and powers of two converted as PTX says, all patterns of
// them, and are random bits added where they should be? The references are searches among all
// numbers of a format, written from its definition, and arithmetic on the bits of f32.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "host/functional/device/virtual_device.h"

namespace nearwarp::runtime {
namespace {

/// A format by its definition: OCP 8-bit floating point 1.0, Microscaling formats 1.0.
struct Format {
  const char* name;
  int exponent, mantissa, bias;
  int distance;  ///< bits from one number of a pair to the next
  uint32_t sign() const { return 1u << (exponent + mantissa); }
  double value(uint32_t magnitude) const {  ///< NAN, INFINITY where it is none
    const int e = static_cast<int>(magnitude >> mantissa), m = magnitude & ((1 << mantissa) - 1);
    const double fraction = std::ldexp(m, -mantissa);
    if (exponent == 4 && magnitude == 0x7f) return NAN;
    if (exponent == 5 && e == 31) return m == 0 ? INFINITY : NAN;
    return e == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, e - bias);
  }
  std::vector<double> finite() const {
    std::vector<double> all;
    for (uint32_t c = 0; c < sign() && std::isfinite(value(c)); ++c) all.push_back(value(c));
    return all;
  }
  uint32_t none() const { return exponent + mantissa == 7 ? 0x7f : sign() - 1; }
};
const Format kFormats[] = {{"e4m3", 4, 3, 7, 8},
                           {"e5m2", 5, 2, 15, 8},
                           {"e2m3", 2, 3, 1, 8},
                           {"e3m2", 3, 2, 3, 8},
                           {"e2m1", 2, 1, 1, 4}};

/// The nearest finite code, ties to even ones; what is larger is the largest.
uint32_t nearest(const Format& f, const std::vector<double>& all, double v) {
  if (std::isnan(v)) return f.none();
  const uint32_t sign = std::signbit(v) ? f.sign() : 0;
  const double x = std::fabs(v);
  const auto above = static_cast<size_t>(std::lower_bound(all.begin(), all.end(), x) - all.begin());
  if (above == all.size()) return sign | static_cast<uint32_t>(all.size() - 1);
  if (above == 0) return sign;
  const double up = all[above] - x, down = x - all[above - 1];
  const bool takes_upper = up < down || (up == down && above % 2 == 0);
  return sign | static_cast<uint32_t>(takes_upper ? above : above - 1);
}

double half(uint32_t bits) {
  const uint32_t e = bits >> 10 & 31, m = bits & 1023;
  const double v = e == 31  ? (m == 0 ? INFINITY : NAN)
                   : e == 0 ? std::ldexp(m, -24)
                            : std::ldexp(1024 + m, static_cast<int>(e) - 25);
  return bits >> 15 != 0 ? -v : v;
}

/// Runs `body` for every four words %r1 to %r4 (as f32 %f1 to %f4) of the input; its result is %r5.
std::vector<uint32_t> run(const std::string& body, const std::vector<uint32_t>& in) {
  const std::string text = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 pi, .param .u64 po) {
  .reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .b16 %h<8>; .reg .b8 %b<8>; .reg .f32 %f<6>;
  ld.param.u64 %rd1, [pi]; ld.param.u64 %rd2, [po];
  mov.u32 %r6, %ctaid.x; mov.u32 %r7, %tid.x; mad.lo.u32 %r6, %r6, 256, %r7;
  mul.wide.u32 %rd3, %r6, 16; add.s64 %rd1, %rd1, %rd3;
  mul.wide.u32 %rd3, %r6, 4; add.s64 %rd2, %rd2, %rd3;
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
  mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.b32 %f4, %r4;
)" + body + "\nst.global.u32 [%rd2], %r5; ret; }\n";
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "k.ptx")));
  std::vector<uint32_t> whole = in;
  whole.resize((in.size() + 1023) / 1024 * 1024);
  const auto count = static_cast<uint32_t>(whole.size() / 4);
  const DevicePtr device_in = d.upload(whole), out = d.allocate(count * 4);
  d.launch(module, "k", {count / 256}, {256}, 0, KernelArgs(device_in, out));
  auto got = d.download<uint32_t>(out, count);
  got.resize(in.size() / 4);
  return got;
}

/// The pair's conversion, and what takes it to %r5: pairs of 4 bits share a byte.
std::string to_pair(const Format& f, const std::string& modifiers, const std::string& sources) {
  const std::string cvt = "cvt.rn.satfinite" + modifiers + "." + f.name + "x2" + sources;
  return f.distance == 4 ? cvt.substr(0, cvt.find('@')) + "%b1" + cvt.substr(cvt.find('@') + 1) +
                               " mov.b16 %h1, {%b1, 0}; cvt.u32.u16 %r5, %h1;"
                         : cvt.substr(0, cvt.find('@')) + "%h1" + cvt.substr(cvt.find('@') + 1) +
                               " cvt.u32.u16 %r5, %h1;";
}

TEST(NarrowFloats, AllHalvesToPairs) {
  std::vector<uint32_t> in;
  for (uint32_t h = 0; h < 65536; ++h) in.insert(in.end(), {h | (h ^ 0x8001u) << 16, 0, 0, 0});
  for (const Format& f : kFormats) {
    if (f.exponent + f.mantissa == 5) continue;  // there is no such conversion to 6 bits
    const auto all = f.finite();
    for (const bool relu : {false, true}) {
      const auto got = run(to_pair(f, relu ? ".relu" : "", ".f16x2 @, %r1;"), in);
      for (uint32_t h = 0; h < 65536; ++h) {
        const auto code = [&](uint32_t bits) {
          const uint32_t c = nearest(f, all, half(bits & 0xffff));
          return relu && (c & f.sign()) != 0 ? 0 : c;
        };
        ASSERT_EQ(got[h], code(h) | code(h ^ 0x8001u) << f.distance) << f.name << " " << h;
      }
    }
  }
}

TEST(NarrowFloats, SinglesToPairs) {
  for (const Format& f : kFormats) {
    const auto all = f.finite();
    std::vector<uint32_t> in;  // all upper halves of f32, and around all middles
    for (uint32_t h = 0; h < 65536; ++h)
      in.insert(in.end(), {h << 16, (65535 - h) << 16 | 0x1fff, 0, 0});
    for (size_t i = 0; i + 1 < all.size(); ++i) {
      const auto middle = static_cast<float>((all[i] + all[i + 1]) / 2);
      for (const float v : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)})
        in.insert(in.end(), {std::bit_cast<uint32_t>(v), std::bit_cast<uint32_t>(-v), 0, 0});
    }
    const auto got = run(to_pair(f, "", ".f32 @, %f1, %f2;"), in);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto code = [&](uint32_t bits) {
        return nearest(f, all, static_cast<double>(std::bit_cast<float>(bits)));
      };
      ASSERT_EQ(got[i], code(in[4 * i]) << f.distance | code(in[4 * i + 1])) << f.name << " " << i;
    }
  }
}

TEST(NarrowFloats, AllPatternsToHalves) {
  std::vector<uint32_t> in;
  for (uint32_t c = 0; c < 256; ++c) in.insert(in.end(), {c | (255 - c) << 8, 0, 0, 0});
  for (const Format& f : kFormats) {
    const std::string source =
        f.distance == 4
            ? "cvt.u16.u32 %h1, %r1; mov.b16 {%b1, %b2}, %h1; cvt.rn.f16x2.e2m1x2 %r5, %b1;"
            : "cvt.u16.u32 %h1, %r1; cvt.rn.f16x2." + std::string(f.name) + "x2 %r5, %h1;";
    const auto got = run(source, in);
    for (uint32_t c = 0; c < 256; ++c)
      for (const bool upper : {false, true}) {
        const uint32_t code = in[4 * c] >> (upper ? f.distance : 0) & (2 * f.sign() - 1);
        const double magnitude = f.value(code & (f.sign() - 1));
        const double want = (code & f.sign()) != 0 ? -magnitude : magnitude;
        const double found = half(upper ? got[c] >> 16 : got[c] & 0xffff);
        ASSERT_TRUE(std::isnan(want) ? std::isnan(found)
                                     : found == want && std::signbit(found) == std::signbit(want))
            << f.name << " " << code;
      }
  }
}

TEST(NarrowFloats, PowersOfTwo) {
  // All pairs of bf16 as they are, and all powers back.
  std::vector<uint32_t> in;
  for (uint32_t h = 0; h < 65536; ++h) in.insert(in.end(), {h | (h ^ 0x0101u) << 16, 0, 0, 0});
  for (const bool up : {false, true})
    for (const bool saturate : {false, true})
      for (const bool single : {false, true}) {
        std::string cvt = std::string("cvt.") + (up ? "rp" : "rz") + (saturate ? ".satfinite" : "");
        cvt += single ? ".ue8m0x2.f32 %h1, %f2, %f3;" : ".ue8m0x2.bf16x2 %h1, %r1;";
        // f32 takes the upper halves of %r1, then its lower ones, as f32.
        const auto got =
            run("and.b32 %r2, %r1, 0xffff0000; mov.b32 %f2, %r2; shl.b32 %r3, %r1, 16; "
                "mov.b32 %f3, %r3; " +
                    cvt + " cvt.u32.u16 %r5, %h1;",
                in);
        const auto code = [&](uint32_t bits) -> uint32_t {
          const uint32_t e = bits >> 7 & 255, m = bits & 127;
          if (e == 255) return m != 0 || !saturate ? 255 : 254;
          if (!up || m == 0) return e == 0 && m == 0 ? 0 : e;
          if (e == 0) return m > 64 ? 1 : 0;  // subnormal; 2^-127 is code 0
          return e == 254 ? (saturate ? 254 : 255) : e + 1;
        };
        for (uint32_t h = 0; h < 65536; ++h)
          ASSERT_EQ(got[h], code(h) | code(h ^ 0x0101u) << 8) << cvt << " " << std::hex << h;
      }
  std::vector<uint32_t> codes;
  for (uint32_t c = 0; c < 256; ++c) codes.insert(codes.end(), {c | (255 - c) << 8, 0, 0, 0});
  const auto wide = run("cvt.u16.u32 %h1, %r1; cvt.rn.bf16x2.ue8m0x2 %r5, %h1;", codes);
  for (uint32_t c = 0; c < 256; ++c) {
    const uint32_t bits = wide[c] & 0xffff;
    if (c == 255) {
      EXPECT_GT(bits & 0x7fff, 0x7f80u);
    } else {
      EXPECT_EQ(bits, c == 0 ? 0x40u : c << 7) << c;  // 2^-127 is subnormal
    }
  }
}

/// Code of a number whose last bits are `random`, of 2^-width each, before the rest is dropped.
uint32_t pushed(const Format& f, const std::vector<double>& all, float v, uint32_t random,
                int width) {
  if (std::isnan(v)) return f.none();
  const uint32_t sign = std::signbit(v) ? f.sign() : 0;
  const double x = std::fabs(static_cast<double>(v));
  if (x >= all.back()) return sign | static_cast<uint32_t>(all.size() - 1);
  const auto at =
      static_cast<size_t>(std::upper_bound(all.begin(), all.end(), x) - all.begin() - 1);
  const double part = (x - all[at]) / (all[at + 1] - all[at]);
  const bool carries = std::floor(std::ldexp(part, width)) + random >= std::ldexp(1.0, width);
  return sign | static_cast<uint32_t>(at + (carries ? 1 : 0));
}

TEST(NarrowFloats, FourByRandomBits) {
  for (const Format& f : kFormats) {
    const auto all = f.finite();
    std::vector<uint32_t> in;
    uint32_t state = 1;
    const auto next = [&] { return state = state * 1664525u + 1013904223u; };
    for (int i = 0; i < 16384; ++i) {
      // Numbers between two of the format, of it, beyond it, and of any bits.
      const uint32_t at = next() >> 8;
      const double low = all[at % all.size()],
                   high = all[std::min(at % all.size() + 1, all.size() - 1)];
      double v = low + (high - low) * (next() >> 8) * 0x1p-24;
      if (i % 16 == 3) v = low;
      if (i % 64 == 5) v = high * 1.5;
      uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(i % 2 == 0 ? v : -v));
      if (i % 128 == 7) bits = next();
      const uint32_t other = std::bit_cast<uint32_t>(static_cast<float>(low) * 1.03f);
      in.insert(in.end(), {bits, other, bits ^ 0x80000000u, next()});
    }
    const bool four = f.distance == 4;
    for (const bool relu : {false, true}) {
      const std::string cvt = std::string("cvt.rs") + (relu ? ".relu" : "") + ".satfinite." +
                              f.name + "x4.f32 " + (four ? "%h1" : "%r5") +
                              ", {%f1, %f2, %f3, %f2}, %r4;" +
                              (four ? " cvt.u32.u16 %r5, %h1;" : "");
      const auto got = run(cvt, in);
      for (size_t i = 0; i < got.size(); ++i) {
        const uint32_t r = in[4 * i + 3];
        const auto code = [&](int source, uint32_t random) {
          const uint32_t c =
              pushed(f, all, std::bit_cast<float>(in[4 * i + source]), random, four ? 8 : 16);
          return relu && (c & f.sign()) != 0 ? 0 : c;
        };
        const uint32_t a = code(0, four ? r >> 24 : r >> 16),
                       b = code(1, four ? r >> 8 & 255 : r >> 16);
        const uint32_t e = code(2, four ? r >> 16 & 255 : r & 0xffff),
                       g = code(1, four ? r & 255 : r & 0xffff);
        const int d = f.distance;
        ASSERT_EQ(got[i], a << 3 * d | b << 2 * d | e << d | g) << f.name << " " << i;
      }
    }
  }
}

TEST(NarrowFloats, HalvesByRandomBits) {
  std::vector<uint32_t> in;
  uint32_t state = 7;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (int i = 0; i < 65536; ++i)  // all upper halves of f32, with any lower ones
    in.insert(in.end(), {static_cast<uint32_t>(i) << 16 | next() >> 16, next(), 0, next()});
  for (const bool bf16 : {false, true})
    for (const bool saturate : {false, true})
      for (const bool relu : {false, true}) {
        const std::string cvt = std::string("cvt.rs") + (relu ? ".relu" : "") +
                                (saturate ? ".satfinite" : "") + (bf16 ? ".bf16x2" : ".f16x2") +
                                ".f32 %r5, %f1, %f2, %r4;";
        const auto got = run(cvt, in);
        const auto code = [&](uint32_t bits, uint32_t random) -> uint32_t {
          const uint32_t magnitude = bits & 0x7fffffff, infinity = bf16 ? 0x7f80 : 0x7c00;
          if (magnitude > 0x7f800000) return 0x7fff;
          uint32_t c;
          if (magnitude == 0x7f800000) {
            c = infinity;
          } else if (bf16) {
            c = (magnitude + random) >> 16;
          } else if (magnitude >= 0x38800000) {  // normal in f16: 13 bits are dropped
            c = std::min((magnitude - 0x38000000 + (random & 0x1fff)) >> 13, infinity);
          } else {  // in units of 2^-24
            const double units =
                std::ldexp(static_cast<double>(std::bit_cast<float>(magnitude)), 24);
            c = static_cast<uint32_t>(units);
            const double rest = std::floor((units - c) * 8192);
            c += rest + (random & 0x1fff) >= 8192 ? 1 : 0;
          }
          if (saturate) c = std::min(c, infinity - 1);
          return bits >> 31 == 0 ? c : relu ? 0 : c | 0x8000;
        };
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got[i], code(in[4 * i], in[4 * i + 3] >> 16) << 16 |
                                code(in[4 * i + 1], in[4 * i + 3] & 0xffff))
              << cvt << " " << std::hex << in[4 * i] << " " << in[4 * i + 1] << " "
              << in[4 * i + 3];
      }
}

TEST(NarrowFloats, BytesInBraces) {
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 64; ++i) in.insert(in.end(), {i * 0x01234567u, i * 77, 0, 0});
  const auto four = run("mov.b32 {%b1, %b2, %b3, %b4}, %r1; mov.b32 %r5, {%b4, %b1, 7, %b2};", in);
  const auto two = run(
      "cvt.u16.u32 %h1, %r2; mov.b16 {_, %b2}, %h1; mov.b16 %h2, {%b2, 3}; cvt.u32.u16 %r5, %h2;",
      in);
  for (size_t i = 0; i < four.size(); ++i) {
    const uint32_t v = in[4 * i];
    EXPECT_EQ(four[i], v >> 24 | (v & 255) << 8 | 7u << 16 | (v >> 8 & 255) << 24);
    EXPECT_EQ(two[i], (in[4 * i + 1] >> 8 & 255) | 3u << 8);
  }
}

TEST(NarrowFloats, EightBytesAreNoVectorOfMov) {
  EXPECT_THROW(run("mov.b64 %rd3, {%b1, %b2, %b3, %b4, %b1, %b2, %b3, %b4}; mov.u32 %r5, 0;",
                   std::vector<uint32_t>(4)),
               std::exception);
}

}  // namespace
}  // namespace nearwarp::runtime
