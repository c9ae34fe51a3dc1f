// Video instructions (PTX ISA 9.0, sections 9.7.17 and 9.7.18), szext and fns.
#include <algorithm>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/scalar.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::exec {

namespace {

using ptx::VideoDetail;

/// One lane of a video instruction: operands and result of up to 34 bits; `bits` is the width.
int64_t element(const VideoDetail& d, int64_t a, int64_t b, int64_t c, unsigned bits) {
  using Op = VideoDetail::Op;
  int64_t r = 0;
  switch (d.op) {
    case Op::kAdd:
      r = a + b;
      break;
    case Op::kSub:
      r = a - b;
      break;
    case Op::kAbsdiff:
      r = a > b ? a - b : b - a;
      break;
    case Op::kMin:
      r = std::min(a, b);
      break;
    case Op::kMax:
      r = std::max(a, b);
      break;
    case Op::kAvrg:
      r = (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
      break;
    case Op::kShl:
    case Op::kShr: {
      uint64_t n = static_cast<uint64_t>(b) & 0xffffffffu;
      n = d.wrap ? n & 31 : std::min<uint64_t>(n, 32);
      r = d.op == Op::kShl ? static_cast<int64_t>(static_cast<uint64_t>(a) << n) : a >> n;
      if (d.op == Op::kShl) r &= 0xffffffff;
      break;
    }
    case Op::kSet:
      switch (d.compare) {
        case 0:
          return a == b;
        case 1:
          return a != b;
        case 2:
          return a < b;
        case 3:
          return a <= b;
        case 4:
          return a > b;
        default:
          return a >= b;
      }
    case Op::kMad: {
      // A product of unsigned words takes all of 64 bits.
      const Int128 whole = (Int128{a} * b + c) >> d.shift;
      constexpr Int128 kMost = INT64_MAX, kLeast = INT64_MIN;
      r = static_cast<int64_t>(d.saturate ? std::clamp(whole, kLeast, kMost) : whole);
      break;
    }
  }
  if (d.saturate) {
    const int64_t most = d.d_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
    const int64_t least = d.d_signed ? -(int64_t{1} << (bits - 1)) : 0;
    r = std::clamp(r, least, most);
  }
  return r;
}

int64_t extend(uint32_t word, unsigned at, unsigned bits, bool is_signed) {
  const uint64_t field = uint64_t{word} >> at;
  const unsigned up = 64 - bits;
  return is_signed ? static_cast<int64_t>(field << up) >> up
                   : static_cast<int64_t>(field << up >> up);
}

}  // namespace

uint32_t video(uint32_t packed, uint32_t a, uint32_t b, uint32_t c) {
  const VideoDetail d = VideoDetail::unpack(packed);
  using Second = VideoDetail::Second;
  const unsigned bits = 32u / d.lanes;
  if (d.lanes == 1) {
    const auto r = static_cast<uint32_t>(
        element(d, extend(a, 0, 32, d.a_signed), extend(b, 0, 32, d.b_signed),
                d.op == VideoDetail::Op::kMad ? extend(c, 0, 32, d.d_signed) : 0, 32));
    const auto sr = static_cast<int32_t>(r), sc = static_cast<int32_t>(c);
    switch (d.second) {
      case Second::kAdd:
        return r + c;
      case Second::kMin:
        return d.d_signed ? static_cast<uint32_t>(std::min(sr, sc)) : std::min(r, c);
      case Second::kMax:
        return d.d_signed ? static_cast<uint32_t>(std::max(sr, sc)) : std::max(r, c);
      case Second::kNone:
        return r;
    }
  }
  uint32_t result = d.second == Second::kAdd ? c : 0;
  for (unsigned i = 0; i < d.lanes; ++i) {
    const auto r = static_cast<uint32_t>(element(d, extend(a, i * bits, bits, d.a_signed),
                                                 extend(b, i * bits, bits, d.b_signed), 0, bits));
    const uint32_t mask = (uint32_t{1} << bits) - 1;
    if (d.second == Second::kAdd) {
      result += d.d_signed ? static_cast<uint32_t>(extend(r, 0, bits, true)) : r & mask;
    } else {
      result |= (r & mask) << (i * bits);
    }
  }
  return result;
}

/// Sign- or zero-extension of the lower `b` bits of `a`.
uint32_t szext(uint32_t a, uint32_t b, int32_t flags) {
  const bool is_signed = (flags & 1) != 0, wrap = (flags & 2) != 0;
  if (wrap) b &= 31;
  if (b >= 32) return a;
  if (b == 0) return 0;
  const unsigned up = 32 - b;
  return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(a << up) >> up) : a << up >> up;
}

/// fns: position of the n-th set bit from `base` upwards (n > 0) or downwards (n < 0), ~0 if none;
/// n = 0 asks for the bit at base itself.
uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t n) {
  if (base > 31) return ~0u;
  if (n == 0) return (mask >> base & 1) != 0 ? base : ~0u;
  const int step = n > 0 ? 1 : -1;
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && (n -= step) == 0) return static_cast<uint32_t>(at);
  return ~0u;
}

}  // namespace nearwarp::exec
