// Arithmetic on halves of all lanes at once, with the bits of half_arithmetic(). Loops have no
// branches that depend on lanes, so the compiler makes vector instructions of them.
#include "host/functional/instructions/half_rows.h"

#include "host/functional/instructions/lanes.h"

namespace nearwarp::exec {

namespace {

constexpr uint32_t kMost = 2 * kLanes;
constexpr uint16_t kNone = 0x7fff;  // what is no number

/// Halves of all lanes: the lower or only ones, behind them the upper ones.
using Halves = uint16_t[kMost];

struct Format {
  uint16_t infinity, one;
};
constexpr Format kF16{0x7c00, 0x3c00}, kBF16{0x7f80, 0x3f80};

class Arithmetic {
 public:
  explicit Arithmetic(const HalfFlags& f)
      : f_(f), format_(f.bf16 ? kBF16 : kF16), count_(f.pair ? kMost : kLanes) {}

  void read(const uint32_t* from, Halves& to) const {
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = static_cast<uint16_t>(from[i]);
    if (f_.pair)
      for (uint32_t i = 0; i < kLanes; ++i) to[kLanes + i] = static_cast<uint16_t>(from[i] >> 16);
    if (f_.ftz) flush_all(to);
  }
  void write(const Halves& from, uint32_t* to, uint32_t mask) const {
    uint32_t words[kLanes];
    for (uint32_t i = 0; i < kLanes; ++i) words[i] = from[i];
    if (f_.pair)
      for (uint32_t i = 0; i < kLanes; ++i) words[i] |= uint32_t{from[kLanes + i]} << 16;
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = lane_in<uint32_t>(mask, i) ? words[i] : to[i];
  }

  void negate(const Halves& a, Halves& r) const {
    for (uint32_t i = 0; i < count_; ++i)
      r[i] = none(a[i]) ? kNone : static_cast<uint16_t>(a[i] ^ 0x8000);
  }
  void magnitude(const Halves& a, Halves& r) const {
    for (uint32_t i = 0; i < count_; ++i)
      r[i] = none(a[i]) ? kNone : static_cast<uint16_t>(a[i] & 0x7fff);
  }

  /// The lesser or the greater.
  void extreme(const Halves& a, const Halves& b, Halves& r) const {
    const bool least = f_.op == HalfOp::kMin;
    const uint16_t kept = f_.xorsign ? 0x7fff : 0xffff;
    for (uint32_t i = 0; i < count_; ++i) {
      const auto x = static_cast<uint16_t>(a[i] & kept), y = static_cast<uint16_t>(b[i] & kept);
      const auto sign = static_cast<uint16_t>(f_.xorsign ? (a[i] ^ b[i]) & 0x8000 : 0);
      const bool x_first = (order(x) < order(y)) == least;
      const bool no_x = none(x), no_y = none(y);
      const uint16_t chosen = no_x ? y : no_y ? x : x_first ? x : y;
      const bool no_number = (no_x && no_y) || (f_.nan && (no_x || no_y));
      r[i] = no_number ? kNone : static_cast<uint16_t>(chosen | sign);
    }
  }

  /// Sums and products, in f64: exact, or rounded to odd.
  void compute(const Halves& a, const Halves& b, const Halves& c, Halves& r) const {
    double x[kMost], y[kMost], results[kMost];
    numbers(a, x);
    numbers(b, y);
    switch (f_.op) {
      case HalfOp::kAdd:
        for (uint32_t i = 0; i < count_; ++i) results[i] = odd_sum(x[i], y[i]);
        break;
      case HalfOp::kSub:
        for (uint32_t i = 0; i < count_; ++i) results[i] = odd_sum(x[i], -y[i]);
        break;
      case HalfOp::kMul:
        for (uint32_t i = 0; i < count_; ++i) results[i] = x[i] * y[i];
        break;
      default: {
        double z[kMost];
        numbers(c, z);
        for (uint32_t i = 0; i < count_; ++i) results[i] = odd_sum(x[i] * y[i], z[i]);
      }
    }
    halves_of_doubles(results, count_, f_.bf16, r);
  }

  /// 0 where a factor lies outside of its tensor.
  void leave_outside(const Halves& a, const Halves& b, Halves& r) const {
    for (uint32_t i = 0; i < count_; ++i)
      r[i] = a[i] == kOutsideHalf || b[i] == kOutsideHalf ? uint16_t{0} : r[i];
  }

  void finish(Halves& r) const {
    if (f_.ftz) flush_all(r);
    if (f_.saturate)
      for (uint32_t i = 0; i < count_; ++i) {
        const uint16_t most = r[i] > format_.one ? format_.one : r[i];
        r[i] = (r[i] & 0x8000) != 0 || none(r[i]) ? uint16_t{0} : most;
      }
    if (f_.relu)
      for (uint32_t i = 0; i < count_; ++i)
        r[i] = (r[i] & 0x8000) != 0 && !none(r[i]) ? uint16_t{0} : r[i];
  }

 private:
  bool none(uint16_t h) const { return (h & 0x7fff) > format_.infinity; }
  /// Numbers in their order, -0 before 0.
  static uint16_t order(uint16_t h) {
    return static_cast<uint16_t>((h & 0x8000) != 0 ? ~h : h | 0x8000);
  }
  void flush_all(Halves& h) const {
    for (uint32_t i = 0; i < count_; ++i)
      h[i] = (h[i] & format_.infinity) == 0 ? static_cast<uint16_t>(h[i] & 0x8000) : h[i];
  }
  void numbers(const Halves& h, double (&to)[kMost]) const {
    float floats[kMost];
    if (f_.bf16)
      floats_of_bf16(h, count_, floats);
    else
      floats_of_f16(h, count_, floats);
    for (uint32_t i = 0; i < count_; ++i) to[i] = static_cast<double>(floats[i]);
  }

  const HalfFlags f_;
  const Format format_;
  const uint32_t count_;
};

}  // namespace

bool half_rows(uint8_t* rows, const Op& op, uint32_t mask) {
  const HalfFlags f = HalfFlags::unpack(op.imm);
  if (f.op == HalfOp::kEx2 || f.op == HalfOp::kTanh) return false;
  const Arithmetic arithmetic(f);
  Halves a, b, c, r;
  arithmetic.read(row<uint32_t>(rows, op.a), a);
  arithmetic.read(row<uint32_t>(rows, op.b), b);
  arithmetic.read(row<uint32_t>(rows, op.c), c);
  switch (f.op) {
    case HalfOp::kNeg:
      arithmetic.negate(a, r);
      break;
    case HalfOp::kAbs:
      arithmetic.magnitude(a, r);
      break;
    case HalfOp::kMin:
    case HalfOp::kMax:
      arithmetic.extreme(a, b, r);
      arithmetic.finish(r);
      break;
    default:
      arithmetic.compute(a, b, c, r);
      arithmetic.finish(r);
      if (f.zero_outside) arithmetic.leave_outside(a, b, r);
  }
  arithmetic.write(r, row<uint32_t>(rows, op.d), mask);
  return true;
}

}  // namespace nearwarp::exec
