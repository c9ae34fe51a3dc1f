// Do integer, logic, shift, bit-field and comparison operations equal plain C++?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "tests/exec/op_harness.h"

namespace nearwarp::exec_test {
namespace {

using U = uint64_t;
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

#define REF(expression)                \
  [](U a, U b, U c) -> U {             \
    (void)a, (void)b, (void)c;         \
    return static_cast<U>(expression); \
  }

/// d = op a, b over registers of the class `r` ("r", "x" or "h").
OpCase binary(const std::string& op, const std::string& r, std::function<U(U, U, U)> f,
              const std::string& draw = "iii") {
  return {op, r + "10", op + " %" + r + "10, %" + r + "1, %" + r + "2;", std::move(f), draw};
}
OpCase unary(const std::string& op, const std::string& d, const std::string& r,
             std::function<U(U, U, U)> f) {
  return {op, d + "10", op + " %" + d + "10, %" + r + "1;", std::move(f)};
}
OpCase ternary(const std::string& op, const std::string& d, const std::string& r,
               const std::string& c, std::function<U(U, U, U)> f, const std::string& draw = "iii") {
  return {op, d + "10", op + " %" + d + "10, %" + r + "1, %" + r + "2, %" + c + "3;", std::move(f),
          draw};
}
OpCase shifted(const std::string& op, const std::string& r, std::function<U(U, U, U)> f) {
  return {op, r + "10", op + " %" + r + "10, %" + r + "1, %r2;", std::move(f), "isi"};
}

template <class T>
T div_as(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  return static_cast<T>(a / b);
}
template <class T>
T rem_as(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

TEST(Integer, AddSubMul) {
  check_cases({
      binary("add.s32", "r", REF(u32(a) + u32(b))),
      binary("add.u64", "x", REF(a + b)),
      binary("add.s16", "h", REF(u16(a + b))),
      binary("sub.s32", "r", REF(u32(a) - u32(b))),
      binary("sub.s64", "x", REF(a - b)),
      binary("sub.u16", "h", REF(u16(a - b))),
      binary("add.sat.s32", "r",
             REF(u32(std::clamp<s64>(s64(s32(a)) + s32(b), INT32_MIN, INT32_MAX)))),
      binary("sub.sat.s32", "r",
             REF(u32(std::clamp<s64>(s64(s32(a)) - s32(b), INT32_MIN, INT32_MAX)))),
      binary("mul.lo.s32", "r", REF(u32(a) * u32(b))),
      binary("mul.lo.u64", "x", REF(a * b)),
      binary("mul.lo.u16", "h", REF(u16(u16(a) * u32(u16(b))))),
      binary("mul.hi.u32", "r", REF(u64(u32(a)) * u32(b) >> 32)),
      binary("mul.hi.s32", "r", REF(u32((s64(s32(a)) * s32(b)) >> 32))),
      binary("mul.hi.u64", "x", REF(u64((u128(a) * b) >> 64))),
      binary("mul.hi.s64", "x", REF(u64((s128(s64(a)) * s64(b)) >> 64))),
      binary("mul.hi.u16", "h", REF(u32(u16(a)) * u16(b) >> 16)),
      binary("mul.hi.s16", "h", REF(u16((s32(s16(a)) * s16(b)) >> 16))),
      {"mul.wide.u32", "x10", "mul.wide.u32 %x10, %r1, %r2;", REF(u64(u32(a)) * u32(b))},
      {"mul.wide.s32", "x10", "mul.wide.s32 %x10, %r1, %r2;", REF(s64(s32(a)) * s32(b))},
      {"mul.wide.u16", "r10", "mul.wide.u16 %r10, %h1, %h2;", REF(u32(u16(a)) * u16(b))},
      {"mul.wide.s16", "r10", "mul.wide.s16 %r10, %h1, %h2;", REF(u32(s32(s16(a)) * s16(b)))},
      ternary("mad.lo.s32", "r", "r", "r", REF(u32(a) * u32(b) + u32(c))),
      ternary("mad.lo.u64", "x", "x", "x", REF(a * b + c)),
      ternary("mad.lo.u16", "h", "h", "h", REF(u16(u16(a) * u32(u16(b)) + c))),
      ternary("mad.hi.u32", "r", "r", "r", REF(u32((u64(u32(a)) * u32(b) >> 32) + c))),
      ternary("mad.hi.s32", "r", "r", "r", REF(u32(((s64(s32(a)) * s32(b)) >> 32) + s64(c)))),
      ternary("mad.hi.u64", "x", "x", "x", REF(u64((u128(a) * b) >> 64) + c)),
      ternary("mad.hi.s64", "x", "x", "x", REF(u64((s128(s64(a)) * s64(b)) >> 64) + c)),
      ternary("mad.wide.u32", "x", "r", "x", REF(u64(u32(a)) * u32(b) + c)),
      ternary("mad.wide.s32", "x", "r", "x", REF(u64(s64(s32(a)) * s32(b)) + c)),
      ternary("mad.wide.s16", "r", "h", "r", REF(u32(s32(s16(a)) * s16(b)) + u32(c))),
      binary("mul24.lo.u32", "r", REF(u32((a & 0xffffff) * (b & 0xffffff)))),
      binary("mul24.lo.s32", "r", REF(u32(s64(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8)))),
      binary("mul24.hi.u32", "r", REF(u32(((a & 0xffffff) * (b & 0xffffff)) >> 16))),
      ternary("mad24.lo.s32", "r", "r", "r",
              REF(u32(s64(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8)) + u32(c))),
      ternary("sad.u32", "r", "r", "r",
              REF(u32(c) + (u32(a) > u32(b) ? u32(a) - u32(b) : u32(b) - u32(a)))),
      ternary("sad.s32", "r", "r", "r",
              REF(u32(c) + (s32(a) > s32(b) ? u32(a) - u32(b) : u32(b) - u32(a)))),
      ternary("sad.s64", "x", "x", "x", REF(c + (s64(a) > s64(b) ? a - b : b - a))),
      ternary("sad.u16", "h", "h", "h", REF(u16(c + (u16(a) > u16(b) ? a - b : b - a)))),
  });
}

TEST(Integer, DivideAndRemainder) {
  check_cases({
      binary("div.u32", "r", REF(div_as<u32>(u32(a), u32(b)))),
      binary("div.s32", "r", REF(u32(div_as<s32>(s32(a), s32(b))))),
      binary("div.u64", "x", REF(div_as<u64>(a, b))),
      binary("div.s64", "x", REF(div_as<s64>(s64(a), s64(b)))),
      binary("div.u16", "h", REF(div_as<u16>(u16(a), u16(b)))),
      binary("div.s16", "h", REF(div_as<s16>(s16(a), s16(b)))),
      binary("rem.u32", "r", REF(rem_as<u32>(u32(a), u32(b)))),
      binary("rem.s32", "r", REF(u32(rem_as<s32>(s32(a), s32(b))))),
      binary("rem.u64", "x", REF(rem_as<u64>(a, b))),
      binary("rem.s64", "x", REF(rem_as<s64>(s64(a), s64(b)))),
      binary("rem.u16", "h", REF(rem_as<u16>(u16(a), u16(b)))),
      binary("rem.s16", "h", REF(rem_as<s16>(s16(a), s16(b)))),
  });
}

TEST(Integer, MinMaxNegAbs) {
  check_cases({
      binary("min.u32", "r", REF(std::min(u32(a), u32(b)))),
      binary("min.s32", "r", REF(u32(std::min(s32(a), s32(b))))),
      binary("max.u32", "r", REF(std::max(u32(a), u32(b)))),
      binary("max.s32", "r", REF(u32(std::max(s32(a), s32(b))))),
      binary("min.u64", "x", REF(std::min(a, b))),
      binary("max.s64", "x", REF(std::max(s64(a), s64(b)))),
      binary("min.s64", "x", REF(std::min(s64(a), s64(b)))),
      binary("max.u64", "x", REF(std::max(a, b))),
      binary("min.s16", "h", REF(std::min(s16(a), s16(b)))),
      binary("max.s16", "h", REF(std::max(s16(a), s16(b)))),
      binary("min.u16", "h", REF(std::min(u16(a), u16(b)))),
      binary("max.u16", "h", REF(std::max(u16(a), u16(b)))),
      unary("neg.s32", "r", "r", REF(0 - u32(a))),
      unary("neg.s64", "x", "x", REF(0 - a)),
      unary("neg.s16", "h", "h", REF(u16(0 - a))),
      unary("abs.s32", "r", "r", REF(s32(a) < 0 ? 0 - u32(a) : u32(a))),
      unary("abs.s64", "x", "x", REF(s64(a) < 0 ? 0 - a : a)),
      unary("abs.s16", "h", "h", REF(s16(a) < 0 ? u16(0 - a) : u16(a))),
  });
}

TEST(Integer, LogicAndShifts) {
  check_cases({
      binary("and.b32", "r", REF(a & b)),
      binary("or.b32", "r", REF(a | b)),
      binary("xor.b32", "r", REF(a ^ b)),
      binary("and.b64", "x", REF(a & b)),
      binary("or.b64", "x", REF(a | b)),
      binary("xor.b64", "x", REF(a ^ b)),
      binary("and.b16", "h", REF(a & b)),
      binary("xor.b16", "h", REF(a ^ b)),
      unary("not.b32", "r", "r", REF(u32(~a))),
      unary("not.b64", "x", "x", REF(~a)),
      unary("not.b16", "h", "h", REF(u16(~a))),
      unary("cnot.b32", "r", "r", REF(u32(a) == 0)),
      unary("cnot.b64", "x", "x", REF(a == 0)),
      unary("cnot.b16", "h", "h", REF(u16(a) == 0)),
      shifted("shl.b32", "r", REF(b > 31 ? 0 : u32(a) << b)),
      shifted("shl.b64", "x", REF(b > 63 ? 0 : a << b)),
      shifted("shl.b16", "h", REF(b > 15 ? 0 : u16(a << b))),
      shifted("shr.u32", "r", REF(b > 31 ? 0 : u32(a) >> b)),
      shifted("shr.s32", "r", REF(u32(s32(a) >> std::min<u64>(b, 31)))),
      shifted("shr.b64", "x", REF(b > 63 ? 0 : a >> b)),
      shifted("shr.s64", "x", REF(s64(a) >> std::min<u64>(b, 63))),
      shifted("shr.u16", "h", REF(b > 15 ? 0 : u16(a) >> b)),
      shifted("shr.s16", "h", REF(u16(s16(a) >> std::min<u64>(b, 15)))),
      ternary("shf.l.wrap.b32", "r", "r", "r", REF(((b << 32 | u32(a)) << (c & 31)) >> 32), "iis"),
      ternary("shf.r.wrap.b32", "r", "r", "r", REF((b << 32 | u32(a)) >> (c & 31)), "iis"),
      ternary("shf.l.clamp.b32", "r", "r", "r",
              REF(c >= 32 ? u32(a) : ((b << 32 | u32(a)) << c) >> 32), "iis"),
      ternary("shf.r.clamp.b32", "r", "r", "r", REF(c >= 32 ? u32(b) : (b << 32 | u32(a)) >> c),
              "iis"),
      {"lop3 0x96", "r10", "lop3.b32 %r10, %r1, %r2, %r3, 0x96;", REF(a ^ b ^ c)},
      {"lop3 0xe8", "r10", "lop3.b32 %r10, %r1, %r2, %r3, 0xe8;", REF((a & b) | (a & c) | (b & c))},
      {"lop3 0xca", "r10", "lop3.b32 %r10, %r1, %r2, %r3, 0xca;", REF((a & b) | (~a & c))},
      {"lop3 0x01", "r10", "lop3.b32 %r10, %r1, %r2, %r3, 0x01;", REF(~(a | b | c))},
  });
}

U bfe_reference(U a, unsigned pos, unsigned len, unsigned width, bool is_signed) {
  pos &= 0xff;
  len &= 0xff;
  const unsigned msb = width - 1;
  bool sign = false;
  if (is_signed && len != 0) sign = (a >> std::min(pos + len - 1, msb)) & 1;
  U d = 0;
  for (unsigned i = 0; i <= msb; ++i) {
    const bool bit = i < len && pos + i <= msb ? (a >> (pos + i)) & 1 : sign;
    d |= U{bit} << i;
  }
  return d;
}
U bfi_reference(U a, U b, unsigned pos, unsigned len, unsigned width) {
  pos &= 0xff;
  len &= 0xff;
  for (unsigned i = 0; i < len && pos + i < width; ++i) {
    b &= ~(U{1} << (pos + i));
    b |= ((a >> i) & 1) << (pos + i);
  }
  return b;
}
U prmt_reference(U a, U b, U c) {
  const U bytes = (b << 32) | u32(a);
  U r = 0;
  for (int i = 0; i < 4; ++i) {
    const U selector = (c >> (4 * i)) & 15;
    U byte = (bytes >> (8 * (selector & 7))) & 0xff;
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= byte << (8 * i);
  }
  return r;
}
U reverse(U a, int bits) {
  U r = 0;
  for (int i = 0; i < bits; ++i) r |= ((a >> i) & 1) << (bits - 1 - i);
  return r;
}
U find(U a, int bits, bool is_signed, bool shift) {
  if (is_signed && ((a >> (bits - 1)) & 1)) a = ~a;
  if (bits == 32) a = u32(a);
  for (int i = bits - 1; i >= 0; --i)
    if ((a >> i) & 1) return static_cast<U>(shift ? bits - 1 - i : i);
  return 0xffffffff;
}

TEST(Integer, BitOperations) {
  check_cases({
      unary("popc.b32", "r", "r", REF(std::popcount(u32(a)))),
      unary("popc.b64", "r", "x", REF(std::popcount(a))),
      unary("clz.b32", "r", "r", REF(std::countl_zero(u32(a)))),
      unary("clz.b64", "r", "x", REF(std::countl_zero(a))),
      unary("brev.b32", "r", "r", REF(reverse(a, 32))),
      unary("brev.b64", "x", "x", REF(reverse(a, 64))),
      unary("bfind.u32", "r", "r", REF(find(a, 32, false, false))),
      unary("bfind.s32", "r", "r", REF(find(a, 32, true, false))),
      unary("bfind.u64", "r", "x", REF(find(a, 64, false, false))),
      unary("bfind.s64", "r", "x", REF(find(a, 64, true, false))),
      unary("bfind.shiftamt.u32", "r", "r", REF(find(a, 32, false, true))),
      unary("bfind.shiftamt.s64", "r", "x", REF(find(a, 64, true, true))),
      {"bfe.u32", "r10", "bfe.u32 %r10, %r1, %r2, %r3;",
       REF(bfe_reference(u32(a), b, c, 32, false)), "iss"},
      {"bfe.s32", "r10", "bfe.s32 %r10, %r1, %r2, %r3;", REF(bfe_reference(u32(a), b, c, 32, true)),
       "iss"},
      {"bfe.u64", "x10", "bfe.u64 %x10, %x1, %r2, %r3;", REF(bfe_reference(a, b, c, 64, false)),
       "iss"},
      {"bfe.s64", "x10", "bfe.s64 %x10, %x1, %r2, %r3;", REF(bfe_reference(a, b, c, 64, true)),
       "iss"},
      {"bfi.b32", "r10", "shr.u32 %r9, %r3, 8; bfi.b32 %r10, %r1, %r2, %r3, %r9;",
       REF(bfi_reference(u32(a), u32(b), c, c >> 8, 32)), "iim"},
      {"bfi.b64", "x10", "shr.u32 %r9, %r3, 8; bfi.b64 %x10, %x1, %x2, %r3, %r9;",
       REF(bfi_reference(a, b, c, c >> 8, 64)), "iim"},
      {"bfi.b32 small", "r10", "bfi.b32 %r10, %r1, %r2, %r3, 5;",
       REF(bfi_reference(u32(a), u32(b), c, 5, 32)), "iis"},
      {"bmsk.clamp", "r10", "bmsk.clamp.b32 %r10, %r1, %r2;",
       REF(a >= 32 ? 0 : ((b >= 32 ? 0xffffffffull : (1ull << b) - 1) << a)), "ssi"},
      {"bmsk.wrap", "r10", "bmsk.wrap.b32 %r10, %r1, %r2;",
       REF(((1ull << (b & 31)) - 1) << (a & 31)), "ssi"},
      {"prmt", "r10", "prmt.b32 %r10, %r1, %r2, %r3;", REF(prmt_reference(a, b, c))},
      {"prmt.f4e", "r10", "prmt.b32.f4e %r10, %r1, %r2, %r3;",
       REF(((b << 32) | u32(a)) >> (8 * (c & 3)))},
      {"prmt.rc8", "r10", "prmt.b32.rc8 %r10, %r1, %r2, %r3;",
       REF(((a >> (8 * (c & 3))) & 0xff) * 0x01010101)},
      {"prmt.rc16", "r10", "prmt.b32.rc16 %r10, %r1, %r2, %r3;",
       REF(((a >> (16 * (c & 1))) & 0xffff) * 0x00010001)},
      {"prmt.b4e", "r10", "prmt.b32.b4e %r10, %r1, %r2, %r3;",
       REF(prmt_reference(a, b, std::array<U, 4>{0x5670, 0x6701, 0x7012, 0x0123}[c & 3]))},
      {"prmt.ecl", "r10", "prmt.b32.ecl %r10, %r1, %r2, %r3;",
       REF(prmt_reference(a, b, std::array<U, 4>{0x3210, 0x3211, 0x3222, 0x3333}[c & 3]))},
      {"prmt.ecr", "r10", "prmt.b32.ecr %r10, %r1, %r2, %r3;",
       REF(prmt_reference(a, b, std::array<U, 4>{0x0000, 0x1110, 0x2210, 0x3210}[c & 3]))},
  });
}

U dot(U a, U b, U c, bool sa, bool sb) {
  s64 r = s32(c);
  for (int i = 0; i < 4; ++i) {
    const s64 x = sa ? s64(s8(a >> (8 * i))) : s64(u8(a >> (8 * i)));
    const s64 y = sb ? s64(s8(b >> (8 * i))) : s64(u8(b >> (8 * i)));
    r += x * y;
  }
  return u32(r);
}
U dot2(U a, U b, U c, bool sa, bool sb, bool high) {
  s64 r = s32(c);
  for (int i = 0; i < 2; ++i) {
    const s64 x = sa ? s64(s16(a >> (16 * i))) : s64(u16(a >> (16 * i)));
    const int k = 8 * (i + (high ? 2 : 0));
    r += x * (sb ? s64(s8(b >> k)) : s64(u8(b >> k)));
  }
  return u32(r);
}

TEST(Integer, DotProducts) {
  check_cases({
      ternary("dp4a.u32.u32", "r", "r", "r", REF(dot(a, b, c, false, false))),
      ternary("dp4a.s32.s32", "r", "r", "r", REF(dot(a, b, c, true, true))),
      ternary("dp4a.s32.u32", "r", "r", "r", REF(dot(a, b, c, true, false))),
      ternary("dp4a.u32.s32", "r", "r", "r", REF(dot(a, b, c, false, true))),
      ternary("dp2a.lo.s32.s32", "r", "r", "r", REF(dot2(a, b, c, true, true, false))),
      ternary("dp2a.hi.u32.s32", "r", "r", "r", REF(dot2(a, b, c, false, true, true))),
  });
}

TEST(Integer, CarryChains) {
  check_cases({
      {"add.cc/addc 32", "x10",
       "add.cc.u32 %r8, %r1, %r2; addc.u32 %r9, 0, 0; mov.b64 %x10, {%r8, %r9};",
       REF(u64(u32(a)) + u32(b))},
      {"sub.cc/subc 64", "x10", "sub.cc.u64 %x8, %x1, %x2; subc.u64 %x10, %x3, 0;",
       REF(c - (a < b))},
      {"add 128 high", "x10", "add.cc.u64 %x8, %x1, %x2; addc.u64 %x10, %x3, %x3;",
       REF(2 * c + (a + b < a))},
      {"add.cc/addc.cc/addc", "r10",
       "add.cc.u32 %r7, %r1, %r2; addc.cc.u32 %r8, %r2, %r3; addc.u32 %r10, %r1, %r1;",
       REF(2 * u32(a) + (((u64(u32(b)) + u32(c) + ((u64(u32(a)) + u32(b)) >> 32)) >> 32)))},
      {"mad.lo.cc/madc.hi", "x10",
       "mad.lo.cc.u32 %r8, %r1, %r2, %r3; madc.hi.u32 %r9, %r1, %r2, 0; mov.b64 %x10, {%r8, %r9};",
       REF(u64(u32(a)) * u32(b) + u32(c))},
      {"mad.lo.cc/madc.hi 64", "x10",
       "mad.lo.cc.u64 %x8, %x1, %x2, %x3; madc.hi.u64 %x10, %x1, %x2, 0;",
       REF((u128(a) * b + c) >> 64)},
  });
}

OpCase set_predicate(const std::string& op, const std::string& r, std::function<U(U, U, U)> f) {
  return {op, "p1", op + " %p1, %" + r + "1, %" + r + "2;", std::move(f)};
}

TEST(Integer, Comparisons) {
  check_cases({
      set_predicate("setp.eq.s32", "r", REF(u32(a) == u32(b))),
      set_predicate("setp.ne.b32", "r", REF(u32(a) != u32(b))),
      set_predicate("setp.lt.s32", "r", REF(s32(a) < s32(b))),
      set_predicate("setp.le.s32", "r", REF(s32(a) <= s32(b))),
      set_predicate("setp.gt.s32", "r", REF(s32(a) > s32(b))),
      set_predicate("setp.ge.s32", "r", REF(s32(a) >= s32(b))),
      set_predicate("setp.lt.u32", "r", REF(u32(a) < u32(b))),
      set_predicate("setp.lo.u32", "r", REF(u32(a) < u32(b))),
      set_predicate("setp.ls.u32", "r", REF(u32(a) <= u32(b))),
      set_predicate("setp.hi.u32", "r", REF(u32(a) > u32(b))),
      set_predicate("setp.hs.u32", "r", REF(u32(a) >= u32(b))),
      set_predicate("setp.eq.s64", "x", REF(a == b)),
      set_predicate("setp.ne.u64", "x", REF(a != b)),
      set_predicate("setp.lt.s64", "x", REF(s64(a) < s64(b))),
      set_predicate("setp.le.u64", "x", REF(a <= b)),
      set_predicate("setp.gt.s64", "x", REF(s64(a) > s64(b))),
      set_predicate("setp.ge.u64", "x", REF(a >= b)),
      set_predicate("setp.lt.s16", "h", REF(s16(a) < s16(b))),
      set_predicate("setp.ge.u16", "h", REF(u16(a) >= u16(b))),
      {"setp imm s16", "p1", "setp.gt.s16 %p1, %h1, -5;", REF(s16(a) > -5)},
      {"setp imm u16", "p1", "setp.eq.b16 %p1, %h1, -1;", REF(u16(a) == 0xffff)},
      {"setp.and", "p1", "setp.ge.s32 %p2, %r1, 0; setp.lt.and.s32 %p1, %r1, %r2, %p2;",
       REF(s32(a) >= 0 && s32(a) < s32(b))},
      {"setp.or not", "p1", "setp.ge.s32 %p2, %r1, 0; setp.lt.or.s32 %p1, %r1, %r2, !%p2;",
       REF(s32(a) < 0 || s32(a) < s32(b))},
      {"setp.xor |", "r10",
       "setp.ge.s32 %p2, %r3, 0; setp.lt.xor.u32 %p1|%p3, %r1, %r2, %p2; selp.u32 %r8, 1, 0, %p1; "
       "selp.u32 %r9, 2, 0, %p3; or.b32 %r10, %r8, %r9;",
       REF(((u32(a) < u32(b)) != (s32(c) >= 0) ? 1 : 0) |
           ((u32(a) >= u32(b)) != (s32(c) >= 0) ? 2 : 0))},
      {"predicate logic", "p1",
       "setp.lt.s32 %p2, %r1, 0; setp.lt.s32 %p3, %r2, 0; setp.lt.s32 %p4, %r3, 0; and.pred %p5, "
       "%p2, !%p3; xor.pred %p6, %p5, %p4; not.pred %p5, %p6; or.pred %p1, %p5, %p3;",
       REF(!(((s32(a) < 0) && !(s32(b) < 0)) != (s32(c) < 0)) || s32(b) < 0)},
      {"set.lt.u32.s32", "r10", "set.lt.u32.s32 %r10, %r1, %r2;",
       REF(s32(a) < s32(b) ? 0xffffffff : 0)},
      {"set.gt.f32.u32", "f10", "set.gt.f32.u32 %f10, %r1, %r2;",
       REF(u32(a) > u32(b) ? 0x3f800000 : 0)},
      {"set.ge.and.s32.s32", "r10",
       "setp.ge.s32 %p2, %r3, 0; set.ge.and.s32.s32 %r10, %r1, %r2, %p2;",
       REF(s32(a) >= s32(b) && s32(c) >= 0 ? 0xffffffff : 0)},
      {"selp.b64", "x10", "setp.lt.s32 %p2, %r3, 0; selp.b64 %x10, %x1, %x2, %p2;",
       REF(s32(c) < 0 ? a : b)},
      {"selp.b16 not", "h10", "setp.lt.s32 %p2, %r3, 0; selp.b16 %h10, %h1, %h2, %p2;",
       REF(s32(c) < 0 ? a : b)},
      ternary("slct.u32.s32", "r", "r", "r", REF(s32(c) >= 0 ? a : b)),
      ternary("slct.b64.s32", "x", "x", "r", REF(s32(c) >= 0 ? a : b)),
  });
}

TEST(Integer, MovesAndPacking) {
  check_cases({
      {"mov.b64 pack", "x10", "mov.b64 %x10, {%r1, %r2};", REF(b << 32 | u32(a))},
      {"mov.b64 unpack", "r10", "mov.b64 {%r8, %r9}, %x1; xor.b32 %r10, %r8, %r9;",
       REF(u32(a) ^ (a >> 32))},
      {"mov.b64 unpack one", "r10", "mov.b64 {_, %r10}, %x1;", REF(a >> 32)},
      {"mov.b32 pack", "r10", "mov.b32 %r10, {%h1, %h2};", REF(u16(a) | u32(u16(b)) << 16)},
      {"mov.b32 unpack", "h10", "mov.b32 {%h8, %h9}, %r1; xor.b16 %h10, %h8, %h9;",
       REF(u16(a) ^ u16(a >> 16))},
      {"mov.b64 pack 4", "x10", "mov.b64 %x10, {%h1, %h2, %h3, %h1};",
       REF(u64(u16(a)) | u64(u16(b)) << 16 | u64(u16(c)) << 32 | u64(u16(a)) << 48)},
      {"mov.b64 unpack 4", "h10",
       "mov.b64 {%h6, %h7, %h8, %h9}, %x1; sub.s16 %h6, %h6, %h7; sub.s16 %h8, %h8, %h9; xor.b16 "
       "%h10, %h6, %h8;",
       REF(u16(a - (a >> 16)) ^ u16((a >> 32) - (a >> 48)))},
      {"lanes", "r10",
       "mov.u32 %r8, %laneid; mov.u32 %r9, %lanemask_lt; shl.b32 %r7, 1, %r8; sub.s32 %r7, %r7, 1; "
       "xor.b32 %r10, %r7, %r9;",
       REF(0)},
      {"isspacep", "p1", "cvta.shared.u64 %x9, 0; isspacep.shared %p1, %x9;", REF(1)},
  });
}

}  // namespace
}  // namespace nearwarp::exec_test
