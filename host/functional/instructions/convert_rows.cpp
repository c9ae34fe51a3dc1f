// A conversion has three parts: values of all lanes are read into an array of one of the types
// uint64_t, float and double, converted, and written for the lanes that take part. What lanes hold
// that do not take part is converted as well, to no effect. Loops have no branches that depend on
// lanes, so the compiler makes vector instructions of them.
#include "host/functional/instructions/convert_rows.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "host/functional/instructions/half_rows.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/long_rows.h"
#include "host/functional/instructions/scalar.h"

namespace nearwarp::exec {

namespace {

#if defined(__F16C__)
constexpr bool kHasF16 = true;
#else
constexpr bool kHasF16 = false;
#endif

/// f(T{}) for the type of an integer format.
template <class F>
void with_integer(Number n, F&& f) {
  switch (n) {
    case Number::kU8:
      return f(uint8_t{});
    case Number::kS8:
      return f(int8_t{});
    case Number::kU16:
      return f(uint16_t{});
    case Number::kS16:
      return f(int16_t{});
    case Number::kU32:
      return f(uint32_t{});
    case Number::kS32:
      return f(int32_t{});
    case Number::kU64:
      return f(uint64_t{});
    default:
      return f(int64_t{});
  }
}

// Values of all lanes. Integers are extended to 64 bits as their format's sign says.
using Integers = uint64_t[kLanes];
using Floats = float[kLanes];
using Doubles = double[kLanes];

/// Reads a register whose lanes are of type Row.
template <class Row>
void read(const Row* from, Number format, Integers& to) {
  with_integer(format, [&]<class T>(T) {
    for (uint32_t i = 0; i < kLanes; ++i)
      to[i] = static_cast<uint64_t>(static_cast<T>(from[i]));  // a signed one is extended so
  });
}
template <class Row>
void read(const Row* from, Number format, bool ftz, Floats& to) {
  if (format == Number::kF32) {
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = bits_as<float>(static_cast<uint32_t>(from[i]));
    if (!ftz) return;
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = flush(to[i]);
    return;
  }
  if (format == Number::kBF16) {
    for (uint32_t i = 0; i < kLanes; ++i)
      to[i] = bits_as<float>(static_cast<uint32_t>(from[i]) << 16);
    return;
  }
  uint16_t halves[kLanes];
  for (uint32_t i = 0; i < kLanes; ++i) halves[i] = static_cast<uint16_t>(from[i]);
  floats_of_f16(halves, kLanes, to);
}

/// f(round as a constant).
template <class F>
void with_round(Round round, F&& f) {
  switch (round) {
    case Round::kZero:
      return f(std::integral_constant<Round, Round::kZero>{});
    case Round::kDown:
      return f(std::integral_constant<Round, Round::kDown>{});
    case Round::kUp:
      return f(std::integral_constant<Round, Round::kUp>{});
    default:
      return f(std::integral_constant<Round, Round::kNearest>{});
  }
}

template <Round kRound, class T>
T rounded(T x) {
  if constexpr (kRound == Round::kZero) return std::trunc(x);
  if constexpr (kRound == Round::kDown) return std::floor(x);
  if constexpr (kRound == Round::kUp) return std::ceil(x);
  return std::rint(x);  // the host's mode is to nearest
}
/// Rounds to whole numbers, in place.
template <class T>
void round_all(T (&x)[kLanes], Round round) {
  with_round(round, [&]<Round kRound>(std::integral_constant<Round, kRound>) {
    for (uint32_t i = 0; i < kLanes; ++i) x[i] = rounded<kRound>(x[i]);
  });
}

/// Whole numbers, read from format `from`, to integers: what is beyond the format's range becomes
/// its end, what is no number 0 or the top bit alone.
template <class T>
void to_integers(const T (&x)[kLanes], Number from, Number format, Integers& to) {
  const bool top_bit = nan_has_top_bit(from, format);
  with_integer(format, [&]<class I>(I) {
    // 2^63 and 2^64 have no neighbours below in f64 that 64-bit integers have.
    const double most = std::ldexp(1.0, std::numeric_limits<I>::digits);
    const auto least = static_cast<double>(std::numeric_limits<I>::min());
    const I nan = top_bit ? static_cast<I>(I{1} << (8 * sizeof(I) - 1)) : I{0};
    for (uint32_t i = 0; i < kLanes; ++i) {
      const auto v = static_cast<double>(x[i]);
      const bool inside = v >= least && v < most;
      const double safe = inside ? v : 0;
      const I beyond = v >= most   ? std::numeric_limits<I>::max()
                       : v < least ? std::numeric_limits<I>::min()
                                   : nan;
      to[i] = static_cast<uint64_t>(inside ? static_cast<I>(safe) : beyond);
    }
  });
}

/// Integers to integers of another width; `is_signed`: of the source.
void to_integers(const Integers& x, bool is_signed, bool saturates, Number format, Integers& to) {
  with_integer(format, [&]<class I>(I) {
    if (!saturates) {
      for (uint32_t i = 0; i < kLanes; ++i) to[i] = static_cast<uint64_t>(static_cast<I>(x[i]));
      return;
    }
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<I>::max());
    constexpr auto kLeast =
        static_cast<int64_t>(std::is_signed_v<I> ? std::numeric_limits<I>::min() : 0);
    for (uint32_t i = 0; i < kLanes; ++i) {
      const bool negative = is_signed && static_cast<int64_t>(x[i]) < 0;
      const auto low = static_cast<int64_t>(x[i]) < kLeast ? kLeast : static_cast<int64_t>(x[i]);
      to[i] = negative ? static_cast<uint64_t>(low) : x[i] > kMost ? kMost : x[i];
    }
  });
}

/// A number and, by its sign, on which side of it the exact one lies.
struct Inexact {
  double nearest, error;
};
/// An integer of 64 bits as the sum of its halves, which are exact, and what was lost of that
/// (Dekker's error of a sum).
Inexact halves_of(uint64_t x, bool is_signed) {
  const double upper = (is_signed ? static_cast<double>(static_cast<int32_t>(x >> 32))
                                  : static_cast<double>(static_cast<uint32_t>(x >> 32))) *
                       0x1p32;
  const auto lower = static_cast<double>(static_cast<uint32_t>(x));
  const double sum = upper + lower;
  return {sum, lower - (sum - upper)};
}

/// The neighbour above or below among floating-point numbers whose bits are B.
template <class B, class T>
T next(T x, bool up) {
  const auto bits = bits_as<B>(x);
  constexpr B kSign = B{1} << (8 * sizeof(B) - 1);
  const bool negative = (bits & kSign) != 0;
  const bool from_zero = (bits & ~kSign) == 0;
  const B moved = negative == up ? bits - 1 : bits + 1;
  return from_zero ? bits_as<T>(up ? B{1} : kSign | 1) : bits_as<T>(moved);
}
/// The nearest number, as another rounding has it; `error`: exact less nearest.
template <Round kRound, class B, class T>
T directed(T nearest, double error) {
  const bool below = error<0, above = error> 0;
  if constexpr (kRound == Round::kDown) return below ? next<B>(nearest, false) : nearest;
  if constexpr (kRound == Round::kUp) return above ? next<B>(nearest, true) : nearest;
  if constexpr (kRound == Round::kZero) {
    const bool beyond = nearest > 0 ? below : above;  // too far from zero
    return beyond && nearest != 0 ? next<B>(nearest, nearest < 0) : nearest;
  }
  return nearest;
}
void narrow(const Doubles& x, Round round, Floats& to) {
  with_round(round, [&]<Round kRound>(std::integral_constant<Round, kRound>) {
    for (uint32_t i = 0; i < kLanes; ++i) {
      const auto nearest = static_cast<float>(x[i]);
      const auto back = static_cast<double>(nearest);
      // The error's sign, not the difference, which is none where both are infinite.
      const double error = x[i] < back ? -1.0 : x[i] > back ? 1.0 : 0.0;
      to[i] = directed<kRound, uint32_t>(nearest, error);
    }
  });
}
/// Converts to f32 rounded to odd, so that rounding it again, to halves, is right.
void narrow_to_odd(const Doubles& x, Floats& to) {
  for (uint32_t i = 0; i < kLanes; ++i) to[i] = odd_float(x[i]);
}

void to_doubles(const Integers& x, bool is_signed, Round round, Doubles& to) {
  with_round(round, [&]<Round kRound>(std::integral_constant<Round, kRound>) {
    for (uint32_t i = 0; i < kLanes; ++i) {
      const Inexact v = halves_of(x[i], is_signed);
      to[i] = directed<kRound, uint64_t>(v.nearest, v.error);
    }
  });
}
void to_odd_doubles(const Integers& x, bool is_signed, Doubles& to) {
  for (uint32_t i = 0; i < kLanes; ++i) {
    const Inexact v = halves_of(x[i], is_signed);
    const auto bits = bits_as<uint64_t>(v.nearest);
    const bool moves = v.error != 0 && (bits & 1) == 0;
    to[i] = moves ? next<uint64_t>(v.nearest, v.error > 0) : v.nearest;
  }
}
void to_floats(const Integers& x, bool is_signed, Floats& to) {
  if (is_signed)
    floats_of_longs<true>(x, to);
  else
    floats_of_longs<false>(x, to);
}

void finish(Floats& x, const ConvertFlags& f, Integers& to) {
  for (uint32_t i = 0; i < kLanes; ++i) x[i] = x[i] != x[i] ? canonical_nan(0.0f) : x[i];
  if (f.ftz)
    for (uint32_t i = 0; i < kLanes; ++i) x[i] = flush(x[i]);
  if (f.saturate)
    for (uint32_t i = 0; i < kLanes; ++i) x[i] = saturate(x[i]);
  for (uint32_t i = 0; i < kLanes; ++i) to[i] = bits_as<uint32_t>(x[i]);
}
void finish(Doubles& x, const ConvertFlags& f, Integers& to) {
  for (uint32_t i = 0; i < kLanes; ++i) x[i] = x[i] != x[i] ? canonical_nan(0.0) : x[i];
  if (f.saturate)
    for (uint32_t i = 0; i < kLanes; ++i) x[i] = saturate(x[i]);
  for (uint32_t i = 0; i < kLanes; ++i) to[i] = bits_as<uint64_t>(x[i]);
}

void to_bf16(Floats& x, const ConvertFlags& f, Integers& to) {
  if (f.saturate)
    for (uint32_t i = 0; i < kLanes; ++i) x[i] = saturate(x[i]);
  with_round(f.integral ? Round::kNearest : f.round,
             [&]<Round kRound>(std::integral_constant<Round, kRound>) {
               for (uint32_t i = 0; i < kLanes; ++i) {
                 const auto bits = bits_as<uint32_t>(x[i]);
                 const bool grows = (bits >> 31 != 0) == (kRound == Round::kDown);
                 // To nearest: half of the last place, less one where the value is even. Either
                 // may carry into an infinity.
                 const uint32_t added = kRound == Round::kNearest ? 0x7fff + (bits >> 16 & 1)
                                        : kRound == Round::kZero  ? 0
                                        : grows                   ? 0xffff
                                                                  : 0;
                 to[i] = x[i] == x[i] ? (bits + added) >> 16 : 0x7fff;
               }
             });
}
void to_f16([[maybe_unused]] Floats& x, [[maybe_unused]] const ConvertFlags& f,
            [[maybe_unused]] Integers& to) {
#if defined(__F16C__)
  if (f.saturate)
    for (uint32_t i = 0; i < kLanes; ++i) x[i] = saturate(x[i]);
  alignas(32) uint16_t halves[kLanes];
  const auto all = [&]<int kMode>(std::integral_constant<int, kMode>) {
    for (uint32_t i = 0; i < kLanes; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(x + i), kMode));
  };
  const Round round = f.integral ? Round::kNearest : f.round;
  switch (round) {
    case Round::kZero:
      all(std::integral_constant<int, _MM_FROUND_TO_ZERO>{});
      break;
    case Round::kDown:
      all(std::integral_constant<int, _MM_FROUND_TO_NEG_INF>{});
      break;
    case Round::kUp:
      all(std::integral_constant<int, _MM_FROUND_TO_POS_INF>{});
      break;
    default:
      all(std::integral_constant<int, _MM_FROUND_TO_NEAREST_INT>{});
      break;
  }
  for (uint32_t i = 0; i < kLanes; ++i) to[i] = x[i] != x[i] ? 0x7fff : halves[i];
#endif
}

/// Is there a way for all lanes?
bool has_rows(const ConvertFlags& f) {
  if (f.round == Round::kNearestAway) return false;
  return kHasF16 || (f.from != Number::kF16 && f.to != Number::kF16);
}

void from_floats(Floats& x, const ConvertFlags& f, Integers& to) {
  if (!is_float(f.to)) {
    round_all(x, f.round);
    return to_integers(x, f.from, f.to, to);
  }
  if (f.integral) round_all(x, f.round);
  if (f.to == Number::kF32) return finish(x, f, to);
  if (f.to == Number::kBF16) return to_bf16(x, f, to);
  if (f.to == Number::kF16) return to_f16(x, f, to);
  Doubles wide;
  for (uint32_t i = 0; i < kLanes; ++i) wide[i] = static_cast<double>(x[i]);
  finish(wide, f, to);
}
void from_doubles(Doubles& x, const ConvertFlags& f, Integers& to) {
  if (!is_float(f.to)) {
    round_all(x, f.round);
    return to_integers(x, f.from, f.to, to);
  }
  if (f.integral) round_all(x, f.round);
  if (f.to == Number::kF64) return finish(x, f, to);
  Floats fewer;
  if (f.to == Number::kF32) {
    narrow(x, f.integral ? Round::kNearest : f.round, fewer);
    return finish(fewer, f, to);
  }
  narrow_to_odd(x, fewer);
  if (f.to == Number::kBF16) return to_bf16(fewer, f, to);
  to_f16(fewer, f, to);
}
void from_integers(const Integers& x, const ConvertFlags& f, Integers& to) {
  const bool is_signed = is_signed_number(f.from);
  if (!is_float(f.to)) return to_integers(x, is_signed, f.saturate, f.to, to);
  ConvertFlags as = f;  // .ftz is of f32 that are read, .sat of results in f32 and f64
  as.ftz = false;
  as.saturate = f.saturate && (f.to == Number::kF32 || f.to == Number::kF64);
  Doubles wide;
  Floats reals;
  if (f.to == Number::kF64) {
    to_doubles(x, is_signed, f.round, wide);
    return finish(wide, as, to);
  }
  if (f.to == Number::kF32 && f.round == Round::kNearest) {
    to_floats(x, is_signed, reals);
    return finish(reals, as, to);
  }
  to_odd_doubles(x, is_signed, wide);
  if (f.to == Number::kF32) {
    narrow(wide, f.round, reals);
    return finish(reals, as, to);
  }
  narrow_to_odd(wide, reals);
  if (f.to == Number::kBF16) return to_bf16(reals, as, to);
  to_f16(reals, as, to);
}

template <class Row>
void convert(const Row* from, const ConvertFlags& f, Integers& to) {
  if (!is_float(f.from)) {
    Integers x;
    read(from, f.from, x);
    return from_integers(x, f, to);
  }
  if (f.from == Number::kF64) {
    Doubles x;
    for (uint32_t i = 0; i < kLanes; ++i) x[i] = bits_as<double>(static_cast<uint64_t>(from[i]));
    return from_doubles(x, f, to);
  }
  Floats x;
  read(from, f.from, f.ftz, x);
  from_floats(x, f, to);
}

template <class Row>
void write(const Integers& x, Row* to, uint32_t mask, uint64_t keep) {
  if (mask == ~0u) {
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = static_cast<Row>(x[i] & keep);
    return;
  }
  for (uint32_t i = 0; i < kLanes; ++i)
    to[i] = lane_in<Row>(mask, i) ? static_cast<Row>(x[i] & keep) : to[i];
}

}  // namespace

bool converted(const uint32_t* from, const ConvertFlags& f, uint32_t (&to)[kLanes]) {
  if (!has_rows(f)) return false;
  Integers result;
  convert(from, f, result);
  write(result, to, ~0u, f.reg_bytes == 2 ? 0xffff : 0xffffffff);
  return true;
}

bool convert_rows(uint8_t* rows, const Op& op, uint32_t mask) {
  const ConvertFlags f = ConvertFlags::unpack(op.imm);
  if (!has_rows(f)) return false;
  Integers result;
  if (op.b != 0)  // the source register has 64-bit lanes
    convert(row<uint64_t>(rows, op.a), f, result);
  else
    convert(row<uint32_t>(rows, op.a), f, result);
  if (f.reg_bytes == 8)
    write(result, row<uint64_t>(rows, op.d), mask, ~uint64_t{0});
  else
    write(result, row<uint32_t>(rows, op.d), mask, f.reg_bytes == 2 ? 0xffff : 0xffffffff);
  return true;
}

}  // namespace nearwarp::exec
