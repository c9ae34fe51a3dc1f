// Do floating-point arithmetic in every rounding mode and all conversions agree with independent
// computations on the host, and are approximations within PTX's bounds?
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/exec/op_harness.h"

namespace nearwarp::exec_test {
namespace {

using U = uint64_t;
__extension__ typedef __int128 Wide;

float f32(U v) { return std::bit_cast<float>(static_cast<uint32_t>(v)); }
double f64(U v) { return std::bit_cast<double>(v); }
U bits(float v) { return std::bit_cast<uint32_t>(v); }
U bits(double v) { return std::bit_cast<uint64_t>(v); }

#define REF(expression)                \
  [](U a, U b, U c) -> U {             \
    (void)a, (void)b, (void)c;         \
    return static_cast<U>(expression); \
  }
#define REFM(expression)               \
  [mode](U a, U b, U c) -> U {         \
    (void)a, (void)b, (void)c;         \
    return static_cast<U>(expression); \
  }

/// The value of f() under a rounding mode; `volatile` keeps the compiler from moving or folding it.
template <class T, class F>
T rounded(int mode, F f) {
  std::fesetround(mode);
  volatile T r = f();
  std::fesetround(FE_TONEAREST);
  return r;
}
template <class T>
T add(int mode, T a, T b) {
  volatile T x = a, y = b;
  return rounded<T>(mode, [&] { return x + y; });
}
template <class T>
T sub(int mode, T a, T b) {
  volatile T x = a, y = b;
  return rounded<T>(mode, [&] { return x - y; });
}
template <class T>
T mul(int mode, T a, T b) {
  volatile T x = a, y = b;
  return rounded<T>(mode, [&] { return x * y; });
}
template <class T>
T quotient(int mode, T a, T b) {
  volatile T x = a, y = b;
  return rounded<T>(mode, [&] { return x / y; });
}
template <class T>
T root(int mode, T a) {
  volatile T x = a;
  return rounded<T>(mode, [&] { return std::sqrt(x); });
}
template <class T>
T fused(int mode, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  return rounded<T>(mode, [&] { return std::fma(x, y, z); });
}

float zero_subnormals(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
}
/// The value of .sat: `v` clamped to [0, 1], and 0 for a NaN.
float saturated(float v) { return std::isnan(v) || v <= 0 ? 0.0f : (v > 1 ? 1.0f : v); }

TEST(Float, ArithmeticInAllRoundingModes) {
  std::vector<OpCase> cases;
  const std::pair<const char*, int> modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto& [name, rounding] : modes) {
    const int mode = rounding;
    const std::string r = name;
    const auto f = [&](const std::string& op, const std::string& args,
                       std::function<U(U, U, U)> ref) {
      cases.push_back({op, "f10", op + " %f10, " + args + ";", std::move(ref), "fff"});
    };
    const auto d = [&](const std::string& op, const std::string& args,
                       std::function<U(U, U, U)> ref) {
      cases.push_back({op, "d10", op + " %d10, " + args + ";", std::move(ref), "ddd"});
    };
    f("add." + r + ".f32", "%f1, %f2", REFM(bits(add(mode, f32(a), f32(b)))));
    f("sub." + r + ".f32", "%f1, %f2", REFM(bits(sub(mode, f32(a), f32(b)))));
    f("mul." + r + ".f32", "%f1, %f2", REFM(bits(mul(mode, f32(a), f32(b)))));
    f("fma." + r + ".f32", "%f1, %f2, %f3", REFM(bits(fused(mode, f32(a), f32(b), f32(c)))));
    f("div." + r + ".f32", "%f1, %f2", REFM(bits(quotient(mode, f32(a), f32(b)))));
    f("rcp." + r + ".f32", "%f1", REFM(bits(quotient(mode, 1.0f, f32(a)))));
    f("sqrt." + r + ".f32", "%f1", REFM(bits(root(mode, f32(a)))));
    f("add." + r + ".ftz.f32", "%f1, %f2",
      REFM(bits(zero_subnormals(add(mode, zero_subnormals(f32(a)), zero_subnormals(f32(b)))))));
    f("mul." + r + ".ftz.f32", "%f1, %f2",
      REFM(bits(zero_subnormals(mul(mode, zero_subnormals(f32(a)), zero_subnormals(f32(b)))))));
    f("fma." + r + ".ftz.f32", "%f1, %f2, %f3",
      REFM(bits(zero_subnormals(fused(mode, zero_subnormals(f32(a)), zero_subnormals(f32(b)),
                                      zero_subnormals(f32(c)))))));
    f("add." + r + ".sat.f32", "%f1, %f2", REFM(bits(saturated(add(mode, f32(a), f32(b))))));
    f("fma." + r + ".sat.f32", "%f1, %f2, %f3",
      REFM(bits(saturated(fused(mode, f32(a), f32(b), f32(c))))));
    f("mul." + r + ".ftz.sat.f32", "%f1, %f2",
      REFM(bits(saturated(
          zero_subnormals(mul(mode, zero_subnormals(f32(a)), zero_subnormals(f32(b))))))));
    d("add." + r + ".f64", "%d1, %d2", REFM(bits(add(mode, f64(a), f64(b)))));
    d("sub." + r + ".f64", "%d1, %d2", REFM(bits(sub(mode, f64(a), f64(b)))));
    d("mul." + r + ".f64", "%d1, %d2", REFM(bits(mul(mode, f64(a), f64(b)))));
    d("fma." + r + ".f64", "%d1, %d2, %d3", REFM(bits(fused(mode, f64(a), f64(b), f64(c)))));
    d("div." + r + ".f64", "%d1, %d2", REFM(bits(quotient(mode, f64(a), f64(b)))));
    d("rcp." + r + ".f64", "%d1", REFM(bits(quotient(mode, 1.0, f64(a)))));
    d("sqrt." + r + ".f64", "%d1", REFM(bits(root(mode, f64(a)))));
  }
  check_cases(cases);
}

float least(float a, float b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
float most(float a, float b) { return -least(-a, -b); }
double least(double a, double b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

TEST(Float, SimpleOperations) {
  const auto f = [](const std::string& op, const std::string& args, std::function<U(U, U, U)> ref) {
    return OpCase{op, "f10", op + " %f10, " + args + ";", std::move(ref), "fff"};
  };
  const auto d = [](const std::string& op, const std::string& args, std::function<U(U, U, U)> ref) {
    return OpCase{op, "d10", op + " %d10, " + args + ";", std::move(ref), "ddd"};
  };
  check_cases({
      f("add.f32", "%f1, %f2", REF(bits(f32(a) + f32(b)))),
      f("mul.f32", "%f1, %f2", REF(bits(f32(a) * f32(b)))),
      f("neg.f32", "%f1", REF(bits(-f32(a)))),
      f("abs.f32", "%f1", REF(bits(std::fabs(f32(a))))),
      f("neg.ftz.f32", "%f1", REF(bits(-zero_subnormals(f32(a))))),
      f("abs.ftz.f32", "%f1", REF(bits(std::fabs(zero_subnormals(f32(a)))))),
      f("min.f32", "%f1, %f2", REF(bits(least(f32(a), f32(b))))),
      f("max.f32", "%f1, %f2", REF(bits(most(f32(a), f32(b))))),
      f("min.ftz.f32", "%f1, %f2",
        REF(bits(least(zero_subnormals(f32(a)), zero_subnormals(f32(b)))))),
      f("max.NaN.f32", "%f1, %f2",
        REF(bits(std::isnan(f32(a)) || std::isnan(f32(b)) ? NAN : most(f32(a), f32(b))))),
      f("copysign.f32", "%f1, %f2", REF((a & 0x80000000) | (b & 0x7fffffff))),
      d("neg.f64", "%d1", REF(bits(-f64(a)))),
      d("abs.f64", "%d1", REF(bits(std::fabs(f64(a))))),
      d("min.f64", "%d1, %d2", REF(bits(least(f64(a), f64(b))))),
      d("max.f64", "%d1, %d2", REF(bits(-least(-f64(a), -f64(b))))),
      d("copysign.f64", "%d1, %d2", REF((a & (1ull << 63)) | (b & ~(1ull << 63)))),
  });
}

TEST(Float, Comparisons) {
  std::vector<OpCase> cases;
  const auto set = [&](const std::string& op, bool wide, std::function<bool(double, double)> f) {
    const std::string type = wide ? ".f64" : ".f32", r = wide ? "d" : "f";
    cases.push_back({"setp." + op + type, "p1",
                     "setp." + op + type + " %p1, %" + r + "1, %" + r + "2;",
                     [f, wide](U a, U b, U) -> U {
                       return wide ? f(f64(a), f64(b)) : f(double{f32(a)}, double{f32(b)});
                     },
                     wide ? "dd" : "ff"});
  };
  for (const bool wide : {false, true}) {
    set("eq", wide, [](double a, double b) { return a == b; });
    set("ne", wide, [](double a, double b) { return !std::isunordered(a, b) && a != b; });
    set("lt", wide, [](double a, double b) { return a < b; });
    set("le", wide, [](double a, double b) { return a <= b; });
    set("gt", wide, [](double a, double b) { return a > b; });
    set("ge", wide, [](double a, double b) { return a >= b; });
    set("equ", wide, [](double a, double b) { return std::isunordered(a, b) || a == b; });
    set("neu", wide, [](double a, double b) { return std::isunordered(a, b) || a != b; });
    set("ltu", wide, [](double a, double b) { return std::isunordered(a, b) || a < b; });
    set("leu", wide, [](double a, double b) { return std::isunordered(a, b) || a <= b; });
    set("gtu", wide, [](double a, double b) { return std::isunordered(a, b) || a > b; });
    set("geu", wide, [](double a, double b) { return std::isunordered(a, b) || a >= b; });
    set("num", wide, [](double a, double b) { return !std::isunordered(a, b); });
    set("nan", wide, [](double a, double b) { return std::isunordered(a, b); });
  }
  cases.push_back({"setp.lt.ftz.f32", "p1", "setp.lt.ftz.f32 %p1, %f1, %f2;",
                   REF(zero_subnormals(f32(a)) < zero_subnormals(f32(b))), "ff"});
  cases.push_back({"slct.f32.f32", "f10", "slct.f32.f32 %f10, %f1, %f2, %f3;",
                   REF(f32(c) >= 0 ? a : b), "fff"});
  cases.push_back({"set.lt.u32.f32", "r10", "set.lt.u32.f32 %r10, %f1, %f2;",
                   REF(f32(a) < f32(b) ? 0xffffffff : 0), "ff"});
  const auto test = [&](const std::string& what, std::function<bool(double, bool)> f) {
    cases.push_back({"testp." + what + ".f32", "p1", "testp." + what + ".f32 %p1, %f1;",
                     [f](U a, U, U) -> U { return f(f32(a), std::isnormal(f32(a))); }, "f"});
    cases.push_back({"testp." + what + ".f64", "p1", "testp." + what + ".f64 %p1, %d1;",
                     [f](U a, U, U) -> U { return f(f64(a), std::isnormal(f64(a))); }, "d"});
  };
  test("finite", [](double v, bool) { return std::isfinite(v); });
  test("infinite", [](double v, bool) { return std::isinf(v); });
  test("number", [](double v, bool) { return !std::isnan(v); });
  test("notanumber", [](double v, bool) { return std::isnan(v); });
  test("normal", [](double, bool normal) { return normal; });
  test("subnormal", [](double v, bool normal) { return v != 0 && std::isfinite(v) && !normal; });
  check_cases(cases);
}

// Bounds from PTX ISA 9.0, section 9.7.3.
TEST(Float, ApproximationsAreWithinTheirBounds) {
  const double ulp = 0x1p-23;
  const auto f = [](const std::string& op, std::function<U(U, U, U)> ref, double relative,
                    double absolute) {
    return OpCase{op, "f10", op + " %f10, %f1;", std::move(ref), "f", relative, absolute};
  };
  std::vector<OpCase> cases = {
      f("rcp.approx.f32", REF(bits(1.0f / f32(a))), ulp, 0),
      f("sqrt.approx.f32", REF(bits(std::sqrt(f32(a)))), ulp, 0),
      f("rsqrt.approx.f32", REF(bits(static_cast<float>(1 / std::sqrt(double{f32(a)})))), 0x1p-22,
        0),
      f("ex2.approx.f32", REF(bits(static_cast<float>(std::exp2(double{f32(a)})))), 2 * ulp,
        0x1p-149),
      f("ex2.approx.ftz.f32",
        REF(bits(zero_subnormals(static_cast<float>(std::exp2(double{zero_subnormals(f32(a))}))))),
        2 * ulp, 0x1p-126),
      f("lg2.approx.f32", REF(bits(static_cast<float>(std::log2(double{f32(a)})))), 2 * ulp,
        0x1p-22),
      f("tanh.approx.f32", REF(bits(static_cast<float>(std::tanh(double{f32(a)})))), 0x1p-11, 0),
      {"div.approx.f32", "f10", "div.approx.f32 %f10, %f1, %f2;", REF(bits(f32(a) / f32(b))), "ff",
       2 * ulp, 0},
      {"div.full.f32", "f10", "div.full.f32 %f10, %f1, %f2;", REF(bits(f32(a) / f32(b))), "ff",
       2 * ulp, 0},
      {"div.approx.ftz.f32", "f10", "div.approx.ftz.f32 %f10, %f1, %f2;",
       REF(bits(zero_subnormals(zero_subnormals(f32(a)) / zero_subnormals(f32(b))))), "ff", 2 * ulp,
       0},
      // The instructions before scale angles into [-pi, pi], where the bound is absolute.
      {"sin.approx.f32", "f10",
       "cvt.rn.f32.s16 %f4, %h1; mul.f32 %f5, %f4, 0f38C90FDB; sin.approx.f32 %f10, %f5;",
       REF(bits(static_cast<float>(
           std::sin(double{float(int16_t(a)) * std::bit_cast<float>(0x38c90fdbu)})))),
       "i", 0, 0x1p-20},
      {"cos.approx.f32", "f10",
       "cvt.rn.f32.s16 %f4, %h1; mul.f32 %f5, %f4, 0f38C90FDB; cos.approx.f32 %f10, %f5;",
       REF(bits(static_cast<float>(
           std::cos(double{float(int16_t(a)) * std::bit_cast<float>(0x38c90fdbu)})))),
       "i", 0, 0x1p-20},
      {"sin.approx.f32 wide", "f10", "cvt.rn.f32.s16 %f5, %h1; sin.approx.f32 %f10, %f5;",
       REF(bits(static_cast<float>(std::sin(double(int16_t(a)))))), "i", 0, 0x1p-18},
      {"rsqrt.approx.f64", "d10", "rsqrt.approx.f64 %d10, %d1;", REF(bits(1 / std::sqrt(f64(a)))),
       "d", 0x1p-22, 0},
  };
  check_cases(cases);
}

// --- Conversions ---------------------------------------------------------------------------------

struct Kind {
  const char* name;
  int bits;
  bool is_signed, is_float;
};
const Kind kKinds[] = {{"u8", 8, false, false},   {"s8", 8, true, false},
                       {"u16", 16, false, false}, {"s16", 16, true, false},
                       {"u32", 32, false, false}, {"s32", 32, true, false},
                       {"u64", 64, false, false}, {"s64", 64, true, false},
                       {"f32", 32, true, true},   {"f64", 64, true, true}};

Wide integer_of(const Kind& k, U v) {
  const Wide modulus = Wide{1} << k.bits;
  Wide r = static_cast<Wide>(v) & (modulus - 1);
  if (k.is_signed && r >= modulus / 2) r -= modulus;
  return r;
}
Wide lowest(const Kind& k) { return k.is_signed ? -(Wide{1} << (k.bits - 1)) : 0; }
Wide highest(const Kind& k) { return (Wide{1} << (k.bits - (k.is_signed ? 1 : 0))) - 1; }

/// `v` rounded to an integer; `mode` is rni, rzi, rmi or rpi.
double integral(double v, const std::string& mode) {
  if (mode == "rzi") return std::trunc(v);
  if (mode == "rmi") return std::floor(v);
  if (mode == "rpi") return std::ceil(v);
  const double down = std::floor(v), rest = v - down;
  if (rest != 0.5) return std::copysign(rest < 0.5 ? down : down + 1, v);
  return std::copysign(std::fmod(down, 2) == 0 ? down : down + 1, v);
}

const char* source_register(const Kind& k) {
  if (k.is_float) return k.bits == 32 ? "%f1" : "%d1";
  return k.bits == 64 ? "%x1" : k.bits == 32 ? "%r1" : k.bits == 16 ? "%h1" : "%r1";
}
std::string result_register(const Kind& k) {
  if (k.is_float) return k.bits == 32 ? "f10" : "d10";
  return k.bits == 64 ? "x10" : k.bits == 16 ? "h10" : "r10";
}

TEST(Convert, BetweenIntegers) {
  std::vector<OpCase> cases;
  for (const Kind& from : kKinds) {
    for (const Kind& to : kKinds) {
      if (from.is_float || to.is_float) continue;
      for (const bool sat : {false, true}) {
        const std::string op =
            std::string("cvt") + (sat ? ".sat." : ".") + to.name + "." + from.name;
        const std::string d = result_register(to);
        cases.push_back({op, d, op + " %" + d + ", " + source_register(from) + ";",
                         [from, to, sat](U a, U, U) -> U {
                           Wide v = integer_of(from, a);
                           if (sat)
                             v = v < lowest(to) ? lowest(to) : v > highest(to) ? highest(to) : v;
                           return static_cast<U>(integer_of(to, static_cast<U>(v)));
                         }});
      }
      // In a wider register the result is extended as the destination's type is (signed or not).
      const std::string op = std::string("cvt.") + to.name + "." + from.name;
      cases.push_back({op + " wide", "x10", op + " %x10, " + source_register(from) + ";",
                       [from, to](U a, U, U) -> U {
                         return static_cast<U>(integer_of(to, static_cast<U>(integer_of(from, a))));
                       }});
    }
  }
  check_cases(cases);
}

TEST(Convert, FloatsToIntegers) {
  std::vector<OpCase> cases;
  for (const Kind& from : kKinds) {
    for (const Kind& to : kKinds) {
      if (!from.is_float || to.is_float) continue;
      for (const std::string mode : {"rni", "rzi", "rmi", "rpi"}) {
        const std::string op = "cvt." + mode + "." + to.name + "." + from.name;
        const std::string d = result_register(to);
        cases.push_back({op, d, op + " %" + d + ", " + source_register(from) + ";",
                         [from, to, mode](U a, U, U) -> U {
                           const double v = from.bits == 32 ? double{f32(a)} : f64(a);
                           if (std::isnan(v)) {  // PTX ISA 9.0, cvt
                             const Wide top = Wide{1} << (to.bits - 1);
                             if (from.bits != 64 && to.bits != 64) return 0;
                             return static_cast<U>(lowest(to) < 0 ? -top : top);
                           }
                           const double r = std::isinf(v) ? v : integral(v, mode);
                           if (r <= static_cast<double>(lowest(to)))
                             return static_cast<U>(lowest(to));
                           if (r >= static_cast<double>(highest(to)))
                             return static_cast<U>(highest(to));
                           return static_cast<U>(static_cast<Wide>(r));
                         },
                         from.bits == 32 ? "f" : "d"});
      }
    }
  }
  check_cases(cases);
}

TEST(Convert, IntegersToFloats) {
  std::vector<OpCase> cases;
  const std::pair<std::string, int> modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const Kind& from : kKinds) {
    for (const Kind& to : kKinds) {
      if (from.is_float || !to.is_float) continue;
      for (const auto& [name, rounding] : modes) {
        const int mode = rounding;
        const std::string op = "cvt." + name + "." + to.name + "." + from.name;
        const std::string d = result_register(to);
        cases.push_back(
            {op, d, op + " %" + d + ", " + source_register(from) + ";",
             [from, to, mode](U a, U, U) -> U {
               // 80-bit floats hold every 64-bit integer.
               volatile long double v = static_cast<long double>(integer_of(from, a));
               if (to.bits == 32)
                 return bits(rounded<float>(mode, [&] { return static_cast<float>(v); }));
               return bits(rounded<double>(mode, [&] { return static_cast<double>(v); }));
             }});
      }
    }
  }
  check_cases(cases);
}

TEST(Convert, BetweenFloats) {
  std::vector<OpCase> cases;
  const std::pair<std::string, int> modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto& [name, rounding] : modes) {
    const int mode = rounding;
    cases.push_back({"cvt." + name + ".f32.f64", "f10", "cvt." + name + ".f32.f64 %f10, %d1;",
                     [mode](U a, U, U) -> U {
                       volatile double v = f64(a);
                       return bits(rounded<float>(mode, [&] { return static_cast<float>(v); }));
                     },
                     "d"});
  }
  cases.push_back({"cvt.f64.f32", "d10", "cvt.f64.f32 %d10, %f1;", REF(bits(double{f32(a)})), "f"});
  cases.push_back({"cvt.ftz.f64.f32", "d10", "cvt.ftz.f64.f32 %d10, %f1;",
                   REF(bits(double{zero_subnormals(f32(a))})), "f"});
  cases.push_back({"cvt.rn.ftz.f32.f64", "f10", "cvt.rn.ftz.f32.f64 %f10, %d1;",
                   REF(bits(zero_subnormals(static_cast<float>(f64(a))))), "d"});
  cases.push_back(
      {"cvt.sat.f32.f32", "f10", "cvt.sat.f32.f32 %f10, %f1;", REF(bits(saturated(f32(a)))), "f"});
  cases.push_back({"cvt.ftz.f32.f32", "f10", "cvt.ftz.f32.f32 %f10, %f1;",
                   REF(bits(zero_subnormals(f32(a)))), "f"});
  for (const std::string mode : {"rni", "rzi", "rmi", "rpi"}) {
    cases.push_back({"cvt." + mode + ".f32.f32", "f10", "cvt." + mode + ".f32.f32 %f10, %f1;",
                     [mode](U a, U, U) -> U {
                       const double v = f32(a);
                       return bits(static_cast<float>(
                           std::isfinite(v) ? std::copysign(integral(v, mode), v) : v));
                     },
                     "f"});
    cases.push_back({"cvt." + mode + ".f64.f64", "d10", "cvt." + mode + ".f64.f64 %d10, %d1;",
                     [mode](U a, U, U) -> U {
                       const double v = f64(a);
                       return bits(std::isfinite(v) ? std::copysign(integral(v, mode), v) : v);
                     },
                     "d"});
  }
  check_cases(cases);
}

}  // namespace
}  // namespace nearwarp::exec_test
