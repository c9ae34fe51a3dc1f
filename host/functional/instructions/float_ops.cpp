// Rounding modes come from the host's floating-point environment: this file is compiled with
// -frounding-math, and every operation under a changed mode sits in a function of its own.
#include "host/functional/instructions/float_ops.h"

#include <cfenv>
#include <cmath>
#include <cstring>

#include "host/functional/instructions/convert_rows.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/scalar.h"

// Functions that run under a changed rounding mode must look opaque to the optimiser, which
// otherwise moves pure functions across fesetround().
#if defined(__has_attribute) && __has_attribute(noipa)
#define NW_OPAQUE __attribute__((noipa))
#else
#define NW_OPAQUE __attribute__((noinline))
#endif

namespace nearwarp::exec {

namespace {

/// Sets the host's rounding mode for its lifetime.
class RoundingScope {
 public:
  explicit RoundingScope(Round round)
      : changed_(round != Round::kNearest && round != Round::kNearestAway) {
    if (!changed_) return;
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[static_cast<int>(round)]);
  }
  ~RoundingScope() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  bool changed_;
};

template <class T>
NW_OPAQUE void float_loop(FloatOp op, const T* a, const T* b, const T* c, T* d) {
  switch (op) {
    case FloatOp::kAdd:
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = a[i] + b[i];
      break;
    case FloatOp::kSub:
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = a[i] - b[i];
      break;
    case FloatOp::kMul:
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = a[i] * b[i];
      break;
    case FloatOp::kFma:
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = std::fma(a[i], b[i], c[i]);
      break;
    case FloatOp::kDiv:
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = a[i] / b[i];
      break;
    case FloatOp::kRcp:
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = T{1} / a[i];
      break;
    case FloatOp::kSqrt:
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = std::sqrt(a[i]);
      break;
  }
}

template <class T>
void float_rounded_as(uint8_t* rows, const Op& op, uint32_t mask, const FloatFlags& f) {
  T a[kLanes], b[kLanes], c[kLanes], r[kLanes];
  std::memcpy(a, row<T>(rows, op.a), sizeof(a));
  std::memcpy(b, row<T>(rows, op.b), sizeof(b));
  std::memcpy(c, row<T>(rows, op.c), sizeof(c));
  if (f.ftz) {
    for (uint32_t i = 0; i < kLanes; ++i) {
      a[i] = flush(a[i]);
      b[i] = flush(b[i]);
      c[i] = flush(c[i]);
    }
  }
  {
    const RoundingScope scope(f.round);
    float_loop<T>(f.op, a, b, c, r);
  }
  T* d = row<T>(rows, op.d);
  for (uint32_t i = 0; i < kLanes; ++i) {
    T v = r[i];
    if (f.ftz) v = flush(v);
    if (f.saturate) v = saturate(v);
    d[i] = lane_in<T>(mask, i) ? v : d[i];
  }
}

// --- Conversions ---------------------------------------------------------------------------------

/// A small float (5 exponent bits: f16, 8: bf16) to double, exactly.
double small_to_double(uint32_t h, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t mantissa = h & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>(h >> mantissa_bits & ((1u << exponent_bits) - 1));
  double v;
  if (exponent == (1 << exponent_bits) - 1)
    v = mantissa != 0 ? static_cast<double>(NAN) : static_cast<double>(INFINITY);
  else if (exponent == 0)
    v = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    v = std::ldexp(mantissa | 1u << mantissa_bits, exponent - bias - mantissa_bits);
  return (h & 0x8000) ? -v : v;
}

/// Round a finite double to an integral value, independent of the host's mode.
double round_integral(double v, Round round) {
  switch (round) {
    case Round::kZero:
      return std::trunc(v);
    case Round::kDown:
      return std::floor(v);
    case Round::kUp:
      return std::ceil(v);
    case Round::kNearestAway:
      return std::round(v);
    case Round::kNearest:
      break;
  }
  return std::nearbyint(v);  // the host's mode is always to nearest here
}

/// Double to f16 or bf16.
uint32_t double_to_small(double v, int exponent_bits, Round round) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  if (v != v) return 0x7fff;
  const uint32_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isinf(v)) return sign | infinity;
  if (v == 0) return sign;
  int exponent;
  std::frexp(v, &exponent);  // |v| in [2^(e-1), 2^e)
  int unit = exponent - 1 - mantissa_bits;
  const int least_unit = 1 - bias - mantissa_bits;
  if (unit < least_unit) unit = least_unit;
  const double scaled = round_integral(std::ldexp(v, -unit), round);
  const double magnitude = std::ldexp(std::fabs(scaled), unit);
  const double most = std::ldexp((1 << (mantissa_bits + 1)) - 1, bias - mantissa_bits);
  if (magnitude > most) {
    const bool to_most = round == Round::kZero || (round == Round::kDown && sign == 0) ||
                         (round == Round::kUp && sign != 0);
    return sign | (to_most ? infinity - 1 : infinity);
  }
  if (magnitude == 0) return sign;
  std::frexp(magnitude, &exponent);
  const int e = exponent - 1;
  if (e < 1 - bias) return sign | static_cast<uint32_t>(std::ldexp(magnitude, -least_unit));
  const uint32_t mantissa =
      static_cast<uint32_t>(std::ldexp(magnitude, mantissa_bits - e)) & ((1u << mantissa_bits) - 1);
  return sign | static_cast<uint32_t>(e + bias) << mantissa_bits | mantissa;
}

NW_OPAQUE float narrow(double v) {
  const volatile double source = v;
  return static_cast<float>(source);
}
NW_OPAQUE float from_s64(int64_t v) {
  const volatile int64_t source = v;
  return static_cast<float>(source);
}
NW_OPAQUE float from_u64(uint64_t v) {
  const volatile uint64_t source = v;
  return static_cast<float>(source);
}
NW_OPAQUE double double_from_s64(int64_t v) {
  const volatile int64_t source = v;
  return static_cast<double>(source);
}
NW_OPAQUE double double_from_u64(uint64_t v) {
  const volatile uint64_t source = v;
  return static_cast<double>(source);
}

double to_double(const ConvertFlags& f, uint64_t bits) {
  switch (f.from) {
    case Number::kF16:
      return small_to_double(static_cast<uint32_t>(bits) & 0xffff, 5);
    case Number::kBF16:
      return small_to_double(static_cast<uint32_t>(bits) & 0xffff, 8);
    case Number::kF32: {
      const float v = bits_as<float>(static_cast<uint32_t>(bits));
      return static_cast<double>(f.ftz ? flush(v) : v);
    }
    default:
      return bits_as<double>(bits);
  }
}

/// Sign- or zero-extended integer source.
uint64_t integer_source(Number from, uint64_t bits) {
  const unsigned width = bits_of(from);
  if (width == 64) return bits;
  const unsigned up = 64 - width;
  return is_signed_number(from) ? static_cast<uint64_t>(static_cast<int64_t>(bits << up) >> up)
                                : bits << up >> up;
}

uint64_t float_to_integer(double v, Number from, Number to, Round round) {
  const unsigned width = bits_of(to);
  if (v != v) {
    if (!nan_has_top_bit(from, to)) return 0;
    return is_signed_number(to) ? static_cast<uint64_t>(INT64_MIN >> (64 - width))
                                : uint64_t{1} << (width - 1);
  }
  const double r = std::isinf(v) ? v : round_integral(v, round);
  if (is_signed_number(to)) {
    const double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
    if (r >= limit) return (uint64_t{1} << (width - 1)) - 1;
    if (r < -limit) return static_cast<uint64_t>(INT64_MIN >> (64 - width));
    return static_cast<uint64_t>(static_cast<int64_t>(r));
  }
  if (r <= 0) return 0;
  if (r >= std::ldexp(1.0, static_cast<int>(width))) return ~uint64_t{0} >> (64 - width);
  return static_cast<uint64_t>(r);
}

uint64_t integer_to_integer(const ConvertFlags& f, uint64_t v) {
  const unsigned width = bits_of(f.to);
  const bool source_signed = is_signed_number(f.from);
  if (f.saturate) {
    if (is_signed_number(f.to)) {
      const int64_t most = static_cast<int64_t>(~uint64_t{0} >> (65 - width));
      if (!source_signed) {
        if (v > static_cast<uint64_t>(most)) v = static_cast<uint64_t>(most);
      } else {
        const int64_t s = static_cast<int64_t>(v);
        v = static_cast<uint64_t>(s > most ? most : (s < -most - 1 ? -most - 1 : s));
      }
    } else {
      const uint64_t most = ~uint64_t{0} >> (64 - width);
      if (source_signed && static_cast<int64_t>(v) < 0)
        v = 0;
      else if (v > most)
        v = most;
    }
  }
  return integer_source(f.to, v);  // truncate, then extend to the register
}

uint64_t integer_to_float(const ConvertFlags& f, uint64_t v) {
  const bool s = is_signed_number(f.from);
  if (f.to == Number::kF32) {
    float r;
    {
      const RoundingScope scope(f.round);
      r = s ? from_s64(static_cast<int64_t>(v)) : from_u64(v);
    }
    return bits_as<uint32_t>(f.saturate ? saturate(r) : r);
  }
  if (f.to == Number::kF64) {
    double r;
    {
      const RoundingScope scope(f.round);
      r = s ? double_from_s64(static_cast<int64_t>(v)) : double_from_u64(v);
    }
    return bits_as<uint64_t>(f.saturate ? saturate(r) : r);
  }
  // A 64-bit integer beyond 2^53 is far outside of f16; for bf16, rounding to odd first is exact.
  double d = s ? double_from_s64(static_cast<int64_t>(v)) : double_from_u64(v);
  if (f.to == Number::kBF16) {
    const RoundingScope scope(Round::kZero);
    const double z = s ? double_from_s64(static_cast<int64_t>(v)) : double_from_u64(v);
    const bool exact =
        s ? static_cast<Int128>(z) == static_cast<int64_t>(v) : static_cast<Uint128>(z) == v;
    d = exact ? z : bits_as<double>(bits_as<uint64_t>(z) | 1);
  }
  return double_to_small(d, f.to == Number::kF16 ? 5 : 8, f.round);
}

uint64_t float_to_float(const ConvertFlags& f, uint64_t bits) {
  double v = to_double(f, bits);
  if (f.integral && std::isfinite(v)) {
    const double r = round_integral(v, f.round);
    v = r == 0 ? std::copysign(0.0, v) : r;
  }
  switch (f.to) {
    case Number::kF32: {
      float r;
      if (v != v) {
        r = canonical_nan(0.0f);
      } else {
        const RoundingScope scope(f.integral ? Round::kNearest : f.round);
        r = narrow(v);
      }
      if (f.ftz) r = flush(r);
      return bits_as<uint32_t>(f.saturate ? saturate(r) : r);
    }
    case Number::kF64:
      if (v != v) v = canonical_nan(0.0);
      return bits_as<uint64_t>(f.saturate ? saturate(v) : v);
    default:
      if (f.saturate) v = saturate(v);
      return double_to_small(v, f.to == Number::kF16 ? 5 : 8,
                             f.integral ? Round::kNearest : f.round);
  }
}

}  // namespace

void float_rounded(uint8_t* rows, const Op& op, uint32_t mask) {
  const FloatFlags f = FloatFlags::unpack(op.imm);
  if (f.is_double)
    float_rounded_as<double>(rows, op, mask, f);
  else
    float_rounded_as<float>(rows, op, mask, f);
}

uint64_t convert_value(const ConvertFlags& f, uint64_t bits) {
  if (is_float(f.from)) {
    if (is_float(f.to)) return float_to_float(f, bits);
    return float_to_integer(to_double(f, bits), f.from, f.to, f.round);
  }
  const uint64_t v = integer_source(f.from, bits);
  return is_float(f.to) ? integer_to_float(f, v) : integer_to_integer(f, v);
}

void convert(uint8_t* rows, const Op& op, uint32_t mask) {
  if (convert_rows(rows, op, mask)) return;
  const ConvertFlags f = ConvertFlags::unpack(op.imm);
  const bool wide_source = op.b != 0;  // the source register has 64-bit lanes
  for_each_lane(mask, [&](uint32_t i) {
    const uint64_t bits = wide_source ? row<uint64_t>(rows, op.a)[i] : row<uint32_t>(rows, op.a)[i];
    const uint64_t r = convert_value(f, bits);
    if (f.reg_bytes == 8)
      row<uint64_t>(rows, op.d)[i] = r;
    else
      row<uint32_t>(rows, op.d)[i] =
          f.reg_bytes == 2 ? static_cast<uint32_t>(r) & 0xffff : static_cast<uint32_t>(r);
  });
}

}  // namespace nearwarp::exec
