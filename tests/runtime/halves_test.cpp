// Is half-precision arithmetic rounded once, to nearest even, with the special values of PTX?
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <random>

#include "host/functional/instructions/half_ops.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

constexpr int kResults = 24;

/// A half of `exponent_bits` by the definition of IEEE 754, not by the code under test.
struct Format {
  int exponent_bits;
  int mantissa_bits() const { return 15 - exponent_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }

  long double value(uint16_t h) const {
    const int e = h >> mantissa_bits() & ((1 << exponent_bits) - 1);
    const int m = h & ((1 << mantissa_bits()) - 1);
    long double v;
    if (e == (1 << exponent_bits) - 1)
      v = m ? NAN : INFINITY;
    else if (e == 0)
      v = std::ldexp(static_cast<long double>(m), 1 - bias() - mantissa_bits());
    else
      v = std::ldexp(static_cast<long double>(m | 1 << mantissa_bits()),
                     e - bias() - mantissa_bits());
    return h & 0x8000 ? -v : v;
  }
  /// Nearest by bisection over all finite halves.
  uint16_t round(long double v) const {
    if (std::isnan(v)) return 0x7fff;
    const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
    const long double magnitude = std::fabs(v);
    const uint16_t infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits());
    uint16_t low = 0, high = infinity;  // value(low) <= magnitude
    while (high - low > 1) {
      const auto middle = static_cast<uint16_t>((low + high) / 2);
      (value(middle) <= magnitude ? low : high) = middle;
    }
    // Beyond the largest, what the next finite value would be decides.
    const long double above = high == infinity ? std::ldexp(1.0L, bias() + 1) : value(high);
    const long double d_low = magnitude - value(low), d_high = above - magnitude;
    const bool up = d_low > d_high || (d_low == d_high && (low & 1));
    return sign | (magnitude >= above || up ? high : low);
  }
};

void check(const std::string& kernel, Format format) {
  std::mt19937 random(11);
  const auto infinity =
      static_cast<uint16_t>(((1 << format.exponent_bits) - 1) << format.mantissa_bits());
  const std::vector<uint16_t> edges = {0,
                                       0x8000,
                                       1,
                                       0x8001,
                                       static_cast<uint16_t>(infinity - 1),
                                       infinity,
                                       static_cast<uint16_t>(infinity | 0x8000),
                                       0x7fff,
                                       static_cast<uint16_t>(1 << format.mantissa_bits()),
                                       static_cast<uint16_t>((1 << format.mantissa_bits()) - 1),
                                       format.round(1.0L),
                                       format.round(-0.5L)};
  std::vector<uint16_t> in;
  for (const uint16_t a : edges)
    for (const uint16_t b : edges)
      for (const uint16_t c : edges) in.insert(in.end(), {a, b, c});
  for (int i = 0; i < 6000; ++i) {
    // Neighbouring exponents, so that sums round.
    const auto a = static_cast<uint16_t>(random());
    const auto near = [&] {
      return static_cast<uint16_t>((a + (random() % 24 << format.mantissa_bits()) + random() % 64) ^
                                   (random() % 2 << 15));
    };
    in.insert(in.end(), {a, near(), static_cast<uint16_t>(random())});
  }
  const int n = static_cast<int>(in.size() / 3);
  BreadthDevice d("halves");
  const DevicePtr p = d.upload(in), out = d.allocate(uint64_t(n) * kResults * 2),
                  tests = d.allocate(uint64_t(n) * 4), wide = d.allocate(4);
  d.launch(d.module, kernel, {static_cast<uint32_t>((n + 127) / 128)}, {128}, 0,
           KernelArgs(p, out, tests, wide, n));
  const auto got = d.download<uint16_t>(out, static_cast<uint64_t>(n) * kResults);
  const auto flags = d.download<int>(tests, static_cast<uint64_t>(n));
  const auto is_nan = [&](uint16_t h) { return (h & 0x7fff) > infinity; };
  const auto fused = [&](uint16_t a, uint16_t b, uint16_t c) {
    // The sum's rounding error (Knuth) decides what would look like a tie.
    const long double ab = format.value(a) * format.value(b), z = format.value(c), s = ab + z;
    const long double part = s - ab, error = (ab - (s - part)) + (z - part);
    if (!std::isfinite(s) || !(error != 0)) return format.round(s);
    // The odd one of the two neighbours of the true sum is no tie.
    int exponent;
    const long double scaled = std::ldexp(std::frexp(std::fabs(s), &exponent), 64);
    if (static_cast<uint64_t>(scaled) % 2 == 1) return format.round(s);
    return format.round(std::nextafter(
        s, error > 0 ? static_cast<long double>(INFINITY) : -static_cast<long double>(INFINITY)));
  };
  for (int i = 0; i < n; ++i) {
    const uint16_t a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    const long double x = format.value(a), y = format.value(b), z = format.value(c);
    const auto least = [&](uint16_t s, uint16_t t, bool max, bool nan) -> uint16_t {
      if (is_nan(s) || is_nan(t))
        return nan || (is_nan(s) && is_nan(t)) ? 0x7fff : (is_nan(s) ? t : s);
      const long double u = format.value(s), v = format.value(t);
      const bool first = u == v ? std::signbit(u) != max : (u < v) != max;
      return first ? s : t;
    };
    const auto clamped = [&](uint16_t h) -> uint16_t {
      const long double v = format.value(h);
      return v > 0 ? (v < 1 ? h : format.round(1.0L)) : 0;
    };
    const uint16_t sum = format.round(x + y), product_sum = fused(a, b, c);
    const uint16_t want[kResults] = {
        sum,
        format.round(x - y),
        format.round(x * y),
        product_sum,
        is_nan(a) ? uint16_t{0x7fff} : static_cast<uint16_t>(a ^ 0x8000),
        is_nan(a) ? uint16_t{0x7fff} : static_cast<uint16_t>(a & 0x7fff),
        least(a, b, false, false),
        least(a, b, true, false),
        least(a, b, false, true),
        least(a, b, true, true),
        clamped(sum),
        is_nan(product_sum) || !(product_sum & 0x8000) ? product_sum : uint16_t{0},
        sum,
        format.round(y + z),
        format.round(x * y),
        format.round(y * z),
        fused(a, b, a),
        fused(b, c, b),
        x < y ? format.round(1.0L) : uint16_t{0},
        y < z ? format.round(1.0L) : uint16_t{0},
        least(a, b, false, false),
        least(b, c, false, false),
        clamped(product_sum),
        a};
    for (int k = 0; k < kResults; ++k)
      ASSERT_EQ(got[i * kResults + k], want[k])
          << kernel << " result " << k << " of " << std::hex << a << " " << b << " " << c;
    const bool nan = is_nan(a) || is_nan(b);
    const int want_flags = (x < y) | (x == y) << 1 | (x >= y) << 2 | (!nan && x != y) << 3 |
                           (nan || x < y) << 4 | is_nan(a) << 5 | (x > y && y > z) << 6;
    ASSERT_EQ(flags[i], want_flags) << std::hex << a << " " << b << " " << c;
  }
}

TEST(Halves, F16) { check("half_arithmetic", {5}); }
TEST(Halves, BFloat16) { check("bfloat_arithmetic", {8}); }

TEST(Halves, Conversions) {
  std::mt19937 random(3);
  std::vector<float> in = {0.0f,     -0.0f,    INFINITY,      -INFINITY,     NAN,
                           65504.0f, 65519.9f, 65520.0f,      FLT_MAX,       FLT_MIN,
                           1e-8f,    6e-8f,    5.9604645e-8f, 2.9802322e-8f, 1.0f};
  for (int i = 0; i < 2000; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random());
    float f;
    std::memcpy(&f, &bits, 4);
    in.push_back(i % 2 ? f : std::ldexp(static_cast<float>(bits), -40 + static_cast<int>(i % 20)));
  }
  const int n = static_cast<int>(in.size());
  BreadthDevice d("halves");
  const DevicePtr p = d.upload(in), h = d.allocate(n * 2), b = d.allocate(n * 2),
                  pairs = d.allocate(n * 4);
  d.launch(d.module, "conversions", {static_cast<uint32_t>((n + 63) / 64)}, {64}, 0,
           KernelArgs(p, h, b, pairs, n));
  const auto got_h = d.download<uint16_t>(h, n - 1), got_b = d.download<uint16_t>(b, n - 1);
  const auto got_pairs = d.download<uint32_t>(pairs, n - 1);
  for (int i = 0; i + 1 < n; ++i) {
    EXPECT_EQ(got_h[i], Format{5}.round(in[i])) << in[i];
    EXPECT_EQ(got_b[i], Format{8}.round(in[i])) << in[i];
    EXPECT_EQ(got_pairs[i],
              Format{5}.round(in[i]) | static_cast<uint32_t>(Format{5}.round(in[i + 1])) << 16);
  }
}

TEST(Halves, Atomics) {
  BreadthDevice d("halves");
  const DevicePtr h = d.upload(std::vector<uint16_t>(2, 0)),
                  h2 = d.upload(std::vector<uint16_t>(2, 0)),
                  b = d.upload(std::vector<uint16_t>(2, 0)),
                  w = d.upload(std::vector<uint16_t>(2, 0));
  d.launch(d.module, "atomics", {2}, {32}, 0, KernelArgs(h, h2, b, w));
  EXPECT_EQ(d.download<uint16_t>(h, 1)[0], Format{5}.round(64));
  EXPECT_EQ(d.download<uint16_t>(h2, 2),
            (std::vector<uint16_t>{Format{5}.round(64), Format{5}.round(128)}));
  EXPECT_EQ(d.download<uint16_t>(b, 1)[0], Format{8}.round(128));
  EXPECT_EQ(d.download<uint16_t>(w, 1)[0], 192);
  validate(d.take_recording(""));
}

}  // namespace
}  // namespace nearwarp::runtime
