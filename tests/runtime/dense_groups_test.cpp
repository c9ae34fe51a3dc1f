// Do products of warp groups of any width lie where their descriptors say: in every type, wider
// than a row of the swizzle, within one, from patterns that begin anywhere?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/runtime/group_products.h"

namespace nearwarp::runtime {
namespace {

using Case = GroupProduct;

/// `span`: bytes of a row of the swizzle; `rows`: a pattern begins so many rows of 128 bytes behind
/// a multiple of its length; `skip`: numbers of each row that precede the matrix.
void expect_group(const Case& c, uint32_t span, bool add, uint32_t rows = 0, uint32_t skip = 0) {
  const Matrix a(c.a, 64, c.k + skip, 11), b(c.b, c.n, c.k + skip, 5);
  GroupOperands in;
  in.shared.resize(131072);
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
    std::copy(pattern.begin(), pattern.end(), in.shared.begin() + begin);
    return d + ((begin + skip * m.format.bits / 8) >> 4) + (uint64_t{rows} << 49);
  };
  in.da = descriptor(a, 0, c.a_across);
  in.db = descriptor(b, 65536, c.b_across);
  in.put_registers(a, skip);
  const auto sum = [&](uint32_t i, uint32_t j) {
    double all = 0;
    for (uint32_t x = skip; x < skip + c.k; ++x)
      all += c.sign_a * c.sign_b * a.value(i, x) * b.value(j, x);
    return all;
  };
  expect_sums(c, in, add, sum,
              ", swizzle " + std::to_string(span) + ", rows " + std::to_string(rows) + ", skip " +
                  std::to_string(skip));
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
