// Do warp groups multiply sparse factors as the PTX ISA says, in every type, from registers and
// from shared memory in every layout?
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>

#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/product_matrices.h"

namespace nearwarp::runtime {
namespace {

struct Case {
  std::string types;  ///< result, a, b
  Factor a, b;
  uint32_t k;  ///< rows of b; a has half as many columns
  uint32_t n = 8, selector = 0;
  bool in_registers = false, a_across = false, b_across = false, saturate = false;
  int sign = 1;
  char result() const { return types[0] == 's' ? 's' : types[1] == '1' ? 'h' : 'f'; }
  uint32_t words() const { return result() == 'h' ? n / 4 : n / 2; }
};

std::string number(uint32_t n) { return std::to_string(n); }

std::string mnemonic(const Case& c) {
  return "wgmma.mma_async.sp.sync.aligned.m64n" + number(c.n) + "k" + number(c.k) +
         (c.saturate ? ".satfinite." : ".") + c.types;
}

std::string kernel_of(const Case& c) {
  const uint32_t words = c.words();
  const std::string kind = c.result() == 'f' ? "%f" : "%d";
  std::string list, loads, stores;
  for (uint32_t i = 0; i < words; ++i) {
    list += (i == 0 ? "" : ", ") + kind + number(i);
    loads += "ld.global.b32 " + kind + number(i) + ", [%o+" + number(4 * i) + "];\n";
    stores += "st.global.b32 [%o+" + number(4 * i) + "], " + kind + number(i) + ";\n";
  }
  std::string text = mnemonic(c) + " {" + list + "}, " +
                     (c.in_registers ? "{%r0, %r1, %r2, %r3}" : "%da") + ", %db, %e, " +
                     number(c.selector) + ", %p";
  if (c.result() != 's') text += ", " + std::to_string(c.sign) + ", 1";
  if (c.a.bits == 16) {
    if (!c.in_registers) text += c.a_across ? ", 1" : ", 0";
    text += c.b_across ? ", 1" : ", 0";
  }
  return R"(.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry k(.param .u64 pi, .param .u32 bytes, .param .u64 a, .param .u64 b, .param .u32 add,
                  .param .u64 pr, .param .u64 po)
{
  .reg .b64 %in, %o, %x, %da, %db, %base; .reg .b32 %t, %i, %s, %v, %n, %e, %r<4>, %d<128>;
  .reg .f32 %f<128>; .reg .pred %p, %q;
  ld.param.u64 %in, [pi]; ld.param.u64 %o, [po]; ld.param.u32 %n, [bytes];
  mov.u32 %t, %tid.x; mov.u32 %s, memory; mul.lo.u32 %i, %t, 4;
copy:
  setp.ge.u32 %q, %i, %n; @%q bra done;
  cvt.u64.u32 %x, %i; add.u64 %x, %in, %x; ld.global.u32 %v, [%x];
  add.u32 %r0, %s, %i; st.shared.u32 [%r0], %v; add.u32 %i, %i, 512; bra copy;
done:
  fence.proxy.async.shared::cta; bar.sync 0;
  shr.u32 %v, %s, 4; cvt.u64.u32 %base, %v;
  ld.param.u64 %da, [a]; add.u64 %da, %da, %base; ld.param.u64 %db, [b]; add.u64 %db, %db, %base;
  ld.param.u32 %v, [add]; setp.ne.u32 %p, %v, 0;
  ld.param.u64 %x, [pr]; mul.wide.u32 %base, %t, 32; add.u64 %x, %x, %base;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%x]; ld.global.u32 %e, [%x+16];
  mul.wide.u32 %x, %t, )" +
         number(4 * words) + "; add.u64 %o, %o, %x;\n" + loads + "  wgmma.fence.sync.aligned;\n  " +
         text + ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n" +
         stores + "  ret;\n}\n";
}

void expect_group(const Case& c, uint32_t span, bool add) {
  const uint32_t stored = c.k / 2;
  const Matrix a(c.a, 64, stored, 11), b(c.b, c.n, c.k, 5);
  // Two of four neighbours are there; for tf32, one of two, which two halves of it say.
  std::vector<uint32_t> column(64 * stored), metadata(128, 0);
  static constexpr uint32_t kPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  const uint32_t each = c.a.bits == 32 ? 1 : 2, chunks = stored / each;
  for (uint32_t i = 0; i < 64; ++i)
    for (uint32_t q = 0; q < chunks; ++q) {
      const uint32_t* const pair = kPairs[each == 1 ? (i * 3 + q) % 2 * 5 : (i * 5 + q * 7) % 6];
      for (uint32_t x = 0; x < each; ++x)
        column[i * stored + q * each + x] = each == 1 ? q * 2 + pair[0] / 2 : q * 4 + pair[x];
      const uint32_t bits = pair[0] | pair[1] << 2;
      // A warp has 16 rows. Of bytes, a thread has half of a row; else two threads by the selector
      // have a half of two rows each.
      const uint32_t first = i / 16 * 32 + i % 8 * 4, high = i % 16 / 8;
      if (c.a.bits == 8)
        metadata[first + q / 8 * 2 + high] |= bits << q % 8 * 4;
      else
        metadata[first + 2 * c.selector + q / 4] |= bits << (16 * high + q % 4 * 4);
    }
  std::vector<uint8_t> shared(65536);
  const uint32_t base_b = 32768;
  const auto descriptor = [&](const Matrix& m, uint32_t base, bool across) {
    if (!across && span == 16) return lay_out(m, base, 16, false, m.lines * 16 + 128, 128, &shared);
    if (!across)  // pieces beyond a row of the swizzle are `leading` apart
      return lay_out(m, base, span, false, m.lines * span + 1024, 8 * span, &shared);
    if (span == 16) return lay_out(m, base, 16, true, 128, 512, &shared);
    return lay_out(m, base, span, true, 32 * span, 8 * span, &shared);
  };
  const uint64_t da = descriptor(a, 0, c.a_across), db = descriptor(b, base_b, c.b_across);
  std::vector<uint8_t> registers(128 * 32);
  const uint32_t parts = 32 / c.a.bits;
  for (uint32_t t = 0; t < 128; ++t) {
    for (uint32_t r = 0; r < 4; ++r)
      for (uint32_t p = 0; p < parts; ++p)
        put(&registers, t * 256 + r * 32 + p * c.a.bits, c.a.bits,
            a.at(t / 32 * 16 + t % 32 / 4 + 8 * (r % 2), t % 4 * parts + p + 4 * parts * (r / 2)));
    put(&registers, t * 256 + 128, 32, metadata[t]);
  }
  const uint32_t halves = c.result() == 'h' ? 2 : 1;
  const auto before = [&](uint32_t t, uint32_t e) {
    return c.saturate && e % 2 == 0 ? 2147483600.0 : double((t * 7 + e * 3) % 41) - 20;
  };
  const auto encoded = [&](double v) -> uint32_t {
    if (c.result() == 'f') return std::bit_cast<uint32_t>(static_cast<float>(v));
    if (c.result() == 'h') return exec::half_bits(v, false, exec::Round::kNearest);
    if (c.saturate) v = std::min(v, 2147483647.0);
    return static_cast<uint32_t>(static_cast<int>(v));
  };
  std::vector<uint32_t> out(size_t{128} * c.words());
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t e = 0; e < c.n / 2; ++e)
      out[t * c.words() + e / halves] |= encoded(before(t, e)) << 16 * (e % halves);
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(kernel_of(c), "group.ptx")));
  const DevicePtr po = d.upload(out);
  const auto bytes = static_cast<uint32_t>(shared.size());
  d.launch(
      module, "k", {1}, {128}, bytes,
      KernelArgs(d.upload(shared), bytes, da, db, static_cast<int>(add), d.upload(registers), po));
  const auto got = d.download<uint32_t>(po, out.size());
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t e = 0; e < c.n / 2; ++e) {
      const uint32_t i = t / 32 * 16 + t % 32 / 4 + 8 * (e / 2 % 2),
                     j = t % 4 * 2 + e % 2 + e / 4 * 8;
      double sum = add ? before(t, e) : 0;
      for (uint32_t x = 0; x < stored; ++x)
        sum += c.sign * a.value(i, x) * b.value(j, column[i * stored + x]);
      const uint32_t word = got[t * c.words() + e / halves];
      ASSERT_EQ(halves == 2 ? word >> 16 * (e % 2) & 0xffff : word, encoded(sum))
          << mnemonic(c) << ", swizzle " << span << ", row " << i << ", column " << j;
    }
  validate(d.take_recording(""));
}

TEST(SparseGroups, EveryTypeAndLayout) {
  const Case cases[] = {
      {.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 32},
      {.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 32, .n = 64, .selector = 1, .sign = -1},
      {.types = "f16.f16.f16", .a = kF16, .b = kF16, .k = 32, .selector = 1},
      {.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 32, .a_across = true},
      {.types = "f32.f16.f16",
       .a = kF16,
       .b = kF16,
       .k = 32,
       .n = 64,
       .a_across = true,
       .b_across = true},
      {.types = "f32.bf16.bf16", .a = kBF16, .b = kBF16, .k = 32, .n = 24},
      {.types = "f32.tf32.tf32", .a = kTF32, .b = kTF32, .k = 16},
      {.types = "f32.tf32.tf32", .a = kTF32, .b = kTF32, .k = 16, .selector = 1},
      {.types = "f32.e4m3.e5m2", .a = kE4M3, .b = kE5M2, .k = 64},
      {.types = "f16.e5m2.e4m3", .a = kE5M2, .b = kE4M3, .k = 64, .sign = -1},
      {.types = "s32.s8.u8", .a = kS8, .b = kU8, .k = 64},
      {.types = "s32.u8.u8", .a = kU8, .b = kU8, .k = 64, .n = 24, .saturate = true},
      {.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 32, .selector = 1, .in_registers = true},
      {.types = "f32.bf16.bf16",
       .a = kBF16,
       .b = kBF16,
       .k = 32,
       .n = 64,
       .in_registers = true,
       .b_across = true},
      {.types = "f32.tf32.tf32",
       .a = kTF32,
       .b = kTF32,
       .k = 16,
       .selector = 1,
       .in_registers = true},
      {.types = "f32.e4m3.e4m3", .a = kE4M3, .b = kE4M3, .k = 64, .in_registers = true},
      {.types = "s32.s8.s8", .a = kS8, .b = kS8, .k = 64, .in_registers = true}};
  for (const Case& c : cases)
    for (const uint32_t span : {16u, 32u, 64u, 128u})
      for (const bool add : {false, true}) expect_group(c, span, add);
}

TEST(SparseGroups, ManyColumns) {
  for (const uint32_t span : {16u, 128u})
    expect_group({.types = "f32.e4m3.e4m3", .a = kE4M3, .b = kE4M3, .k = 64, .n = 256}, span, true);
}

TEST(SparseGroups, SelectorsThatAreNone) {
  for (const auto& [selector, bits8] : {std::pair{2u, false}, {1u, true}}) {
    const Case c =
        bits8
            ? Case{.types = "f32.e4m3.e4m3", .a = kE4M3, .b = kE4M3, .k = 64, .selector = selector}
            : Case{.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 32, .selector = selector};
    try {
      compiler::compile_ptx(kernel_of(c), "group.ptx");
      ADD_FAILURE() << selector;
    } catch (const std::exception& e) {
      EXPECT_NE(std::string(e.what()).find(bits8 ? ";) - 0" : ";) - 0 or 1"), std::string::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace nearwarp::runtime
