// Do products of warp groups of any width lie where their descriptors say: in every type, wider
// than a row of the swizzle, within one, from patterns that begin anywhere?
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/product_matrices.h"

namespace nearwarp::runtime {
namespace {

struct Case {
  std::string types;  ///< result, a, b
  Factor a, b;
  uint32_t k, n;
  bool in_registers = false, a_across = false, b_across = false, saturate = false;
  int sign_a = 1, sign_b = 1;
  char result() const { return types[0] == 's' ? 's' : types[1] == '1' ? 'h' : 'f'; }
  uint32_t words() const { return result() == 'h' ? n / 4 : n / 2; }
};

std::string number(uint32_t n) { return std::to_string(n); }

std::string mnemonic(const Case& c) {
  return "wgmma.mma_async.sync.aligned.m64n" + number(c.n) + "k" + number(c.k) +
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
                     (c.in_registers ? "{%r0, %r1, %r2, %r3}" : "%da") + ", %db, %p";
  if (c.result() != 's') text += ", " + std::to_string(c.sign_a) + ", " + std::to_string(c.sign_b);
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
  .reg .b64 %in, %o, %x, %da, %db, %base; .reg .b32 %t, %i, %s, %v, %n, %r<4>, %d<128>;
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
  ld.param.u64 %x, [pr]; mul.wide.u32 %base, %t, 16; add.u64 %x, %x, %base;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%x];
  mul.wide.u32 %x, %t, )" +
         number(4 * words) + "; add.u64 %o, %o, %x;\n" + loads + "  wgmma.fence.sync.aligned;\n  " +
         text + ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n" +
         stores + "  ret;\n}\n";
}

/// `span`: bytes of a row of the swizzle; `rows`: a pattern begins so many rows of 128 bytes behind
/// a multiple of its length; `skip`: numbers of each row that precede the matrix.
void expect_group(const Case& c, uint32_t span, bool add, uint32_t rows = 0, uint32_t skip = 0) {
  const Matrix a(c.a, 64, c.k + skip, 11), b(c.b, c.n, c.k + skip, 5);
  std::vector<uint8_t> shared(131072);
  const uint32_t base_b = 65536;
  const auto descriptor = [&](const Matrix& m, uint32_t base, bool across) {
    std::vector<uint8_t> pattern(65536 - 1024);
    const uint32_t wide = (m.lines * m.format.bits / 8 + span - 1) / span;  // patterns side by side
    uint64_t d = 0;
    if (span == 16)
      d = across ? lay_out(m, 0, 16, true, 128, 512, &pattern)
                 : lay_out(m, 0, 16, false, m.lines * 16 + 128, 128, &pattern);
    else if (across)
      d = lay_out(m, 0, span, true, 8 * span, 8 * span * wide, &pattern);
    else
      d = lay_out(m, 0, span, false, m.lines * span + 1024, 8 * span, &pattern);
    const uint32_t begin = base + rows * 128;
    std::copy(pattern.begin(), pattern.end(), shared.begin() + begin);
    return d + ((begin + skip * m.format.bits / 8) >> 4) + (uint64_t{rows} << 49);
  };
  const uint64_t da = descriptor(a, 0, c.a_across), db = descriptor(b, base_b, c.b_across);
  std::vector<uint8_t> registers(128 * 16);
  const uint32_t parts = 32 / c.a.bits;
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t r = 0; r < 4; ++r)
      for (uint32_t p = 0; p < parts; ++p)
        put(&registers, t * 128 + r * 32 + p * c.a.bits, c.a.bits,
            a.at(t / 32 * 16 + t % 32 / 4 + 8 * (r % 2),
                 skip + t % 4 * parts + p + 4 * parts * (r / 2)));
  const uint32_t halves = c.result() == 'h' ? 2 : 1;
  const auto before = [&](uint32_t t, uint32_t e) {
    if (c.saturate) return e % 2 == 0 ? 2147483600.0 : -2147483600.0;
    return double((t * 7 + e * 3) % 41) - 20;
  };
  const auto encoded = [&](double v) -> uint32_t {
    if (c.result() == 'f') return std::bit_cast<uint32_t>(static_cast<float>(v));
    if (c.result() == 'h') return exec::half_bits(v, false, exec::Round::kNearest);
    if (c.saturate) v = std::clamp(v, -2147483648.0, 2147483647.0);
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
      for (uint32_t x = skip; x < skip + c.k; ++x)
        sum += c.sign_a * c.sign_b * a.value(i, x) * b.value(j, x);
      const uint32_t word = got[t * c.words() + e / halves];
      ASSERT_EQ(halves == 2 ? word >> 16 * (e % 2) & 0xffff : word, encoded(sum))
          << mnemonic(c) << ", swizzle " << span << ", rows " << rows << ", skip " << skip
          << ", row " << i << ", column " << j;
    }
  validate(d.take_recording(""));
}

TEST(DenseGroups, EveryTypeAndWidth) {
  const Case cases[] = {
      {.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 16, .n = 40},
      {.types = "f16.f16.f16", .a = kF16, .b = kF16, .k = 16, .n = 256, .sign_b = -1},
      {.types = "f32.bf16.bf16", .a = kBF16, .b = kBF16, .k = 16, .n = 192, .b_across = true},
      {.types = "f32.bf16.bf16", .a = kBF16, .b = kBF16, .k = 16, .n = 8, .a_across = true},
      {.types = "f16.f16.f16",
       .a = kF16,
       .b = kF16,
       .k = 16,
       .n = 136,
       .a_across = true,
       .b_across = true,
       .sign_a = -1,
       .sign_b = -1},
      {.types = "f32.tf32.tf32", .a = kTF32, .b = kTF32, .k = 8, .n = 128, .sign_a = -1},
      {.types = "f32.e4m3.e4m3", .a = kE4M3, .b = kE4M3, .k = 32, .n = 248},
      {.types = "f32.e5m2.e5m2", .a = kE5M2, .b = kE5M2, .k = 32, .n = 64},
      {.types = "f16.e4m3.e5m2", .a = kE4M3, .b = kE5M2, .k = 32, .n = 24, .sign_b = -1},
      {.types = "s32.s8.s8", .a = kS8, .b = kS8, .k = 32, .n = 24},
      {.types = "s32.u8.s8", .a = kU8, .b = kS8, .k = 32, .n = 224, .saturate = true},
      {.types = "s32.u8.u8", .a = kU8, .b = kU8, .k = 32, .n = 16, .saturate = true},
      {.types = "s32.b1.b1.and.popc", .a = kB1, .b = kB1, .k = 256, .n = 48},
      {.types = "f32.bf16.bf16",
       .a = kBF16,
       .b = kBF16,
       .k = 16,
       .n = 96,
       .in_registers = true,
       .b_across = true,
       .sign_a = -1},
      {.types = "f16.f16.f16", .a = kF16, .b = kF16, .k = 16, .n = 32, .in_registers = true},
      {.types = "f16.e5m2.e4m3", .a = kE5M2, .b = kE4M3, .k = 32, .n = 8, .in_registers = true},
      {.types = "s32.s8.u8",
       .a = kS8,
       .b = kU8,
       .k = 32,
       .n = 48,
       .in_registers = true,
       .saturate = true},
      {.types = "s32.b1.b1.and.popc", .a = kB1, .b = kB1, .k = 256, .n = 8, .in_registers = true}};
  for (const Case& c : cases)
    for (const uint32_t span : {16u, 32u, 64u, 128u})
      for (const bool add : {false, true}) expect_group(c, span, add);
}

TEST(DenseGroups, PatternsBeginAnywhere) {
  const Case along{.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 16, .n = 32};
  const Case across{.types = "f32.f16.f16",
                    .a = kF16,
                    .b = kF16,
                    .k = 16,
                    .n = 128,
                    .a_across = true,
                    .b_across = true};
  for (const uint32_t span : {32u, 64u, 128u})
    for (uint32_t rows = 0; rows < span / 16; ++rows) {
      expect_group(along, span, true, rows);
      expect_group(across, span, true, rows);
    }
}

TEST(DenseGroups, StepsWithinARow) {
  const Case half{.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 16, .n = 64};
  const Case byte{.types = "f32.e4m3.e5m2", .a = kE4M3, .b = kE5M2, .k = 32, .n = 64};
  for (const uint32_t span : {64u, 128u})
    for (uint32_t skip = 32; skip < span; skip += 32) {
      expect_group(half, span, true, 0, skip / 2);
      expect_group(byte, span, true, 0, skip);
    }
}

}  // namespace
}  // namespace nearwarp::runtime
