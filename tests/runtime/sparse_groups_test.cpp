// Do warp groups multiply sparse factors as the PTX ISA says, in every type, from registers and
// from shared memory in every layout?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/runtime/group_products.h"

namespace nearwarp::runtime {
namespace {

using Case = GroupProduct;

void expect_group(Case c, uint32_t span, bool add) {
  c.sparse = true;
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
  GroupOperands in;
  in.shared.resize(65536);
  const auto descriptor = [&](const Matrix& m, uint32_t base, bool across) {
    if (!across && span == 16)
      return lay_out(m, base, 16, false, m.lines * 16 + 128, 128, &in.shared);
    if (!across)  // pieces beyond a row of the swizzle are `leading` apart
      return lay_out(m, base, span, false, m.lines * span + 1024, 8 * span, &in.shared);
    if (span == 16) return lay_out(m, base, 16, true, 128, 512, &in.shared);
    return lay_out(m, base, span, true, 32 * span, 8 * span, &in.shared);
  };
  in.da = descriptor(a, 0, c.a_across);
  in.db = descriptor(b, 32768, c.b_across);
  in.put_registers(a);
  for (uint32_t t = 0; t < 128; ++t) put(&in.registers, t * 256 + 128, 32, metadata[t]);
  const auto sum = [&](uint32_t i, uint32_t j) {
    double all = 0;
    for (uint32_t x = 0; x < stored; ++x)
      all += c.sign_a * a.value(i, x) * b.value(j, column[i * stored + x]);
    return all;
  };
  expect_sums(c, in, add, sum, ", swizzle " + std::to_string(span));
}

TEST(SparseGroups, EveryTypeAndLayout) {
  const Case cases[] = {
      {.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 32},
      {.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 32, .n = 64, .selector = 1, .sign_a = -1},
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
      {.types = "f16.e5m2.e4m3", .a = kE5M2, .b = kE4M3, .k = 64, .sign_a = -1},
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
    Case c =
        bits8
            ? Case{.types = "f32.e4m3.e4m3", .a = kE4M3, .b = kE4M3, .k = 64, .selector = selector}
            : Case{.types = "f32.f16.f16", .a = kF16, .b = kF16, .k = 32, .selector = selector};
    c.sparse = true;
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
