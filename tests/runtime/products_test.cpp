// Do warp groups, and warps with numbers of 8, 4 and 1 bits, multiply as the PTX ISA says?
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "host/functional/instructions/half_ops.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"
#include "tests/runtime/product_matrices.h"

namespace nearwarp::runtime {
namespace {

struct GroupCase {
  std::string kernel;
  Factor a, b;
  uint32_t n = 8, k = 16;
  enum class Result { kF32, kF16, kS32 } result = Result::kF32;
  double sign = 1;
  bool a_across = false, b_across = false, a_in_registers = false;
};

/// Row and column of a thread's element.
std::pair<uint32_t, uint32_t> place(uint32_t thread, uint32_t e) {
  return {thread / 32 * 16 + thread % 32 / 4 + 8 * (e / 2 % 2), thread % 4 * 2 + e % 2 + e / 4 * 8};
}

void expect_group(const GroupCase& c, uint32_t span, bool add) {
  BreadthDevice d("products");
  const Matrix a(c.a, 64, c.k, 11), b(c.b, c.n, c.k, 5);
  std::vector<uint8_t> shared(32768);
  const uint32_t base_b = 16384;
  // Leading and stride such that nothing overlaps, with gaps.
  const auto descriptor = [&](const Matrix& m, uint32_t base, bool across) {
    if (!across)
      return lay_out(m, base, span, false, 2048 + 16, 8 * span == 128 ? 256 : 8 * span, &shared);
    if (span == 16) return lay_out(m, base, 16, true, 128, 256, &shared);
    return lay_out(m, base, span, true, 16 * span, 8 * span, &shared);
  };
  // Without a swizzle, pieces along k are `leading` apart, beyond all lines.
  const auto along = [&](const Matrix& m, uint32_t base) {
    return lay_out(m, base, 16, false, m.lines * 16 + 128, 128, &shared);
  };
  const uint64_t da = span == 16 && !c.a_across ? along(a, 0) : descriptor(a, 0, c.a_across);
  const uint64_t db =
      span == 16 && !c.b_across ? along(b, base_b) : descriptor(b, base_b, c.b_across);
  std::vector<uint8_t> registers(128 * 16);
  const uint32_t parts = 32 / c.a.bits;
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t r = 0; r < 4; ++r)
      for (uint32_t p = 0; p < parts; ++p)
        put(&registers, (t * 4 + r) * 32 + p * c.a.bits, c.a.bits,
            a.at(t / 32 * 16 + t % 32 / 4 + 8 * (r % 2),
                 (t % 4 * parts + p + 4 * parts * (r / 2)) % c.k));
  const uint32_t halves = c.result == GroupCase::Result::kF16 ? 2 : 1;
  const uint32_t words = c.n / 2 / halves, elements = c.n / 2;
  std::vector<uint32_t> out(size_t{128} * words);
  const auto before = [&](uint32_t t, uint32_t e) { return double((t * 7 + e * 3) % 41) - 20; };
  const auto encoded = [&](double v) {
    return c.result == GroupCase::Result::kF32   ? std::bit_cast<uint32_t>(static_cast<float>(v))
           : c.result == GroupCase::Result::kS32 ? static_cast<uint32_t>(static_cast<int>(v))
                                                 : exec::half_bits(v, false, exec::Round::kNearest);
  };
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t e = 0; e < elements; ++e)
      out[t * words + e / halves] |= encoded(before(t, e)) << 16 * (e % halves);
  const DevicePtr in = d.upload(shared), pr = d.upload(registers), po = d.upload(out);
  const uint32_t bytes = static_cast<uint32_t>(shared.size());
  d.launch(
      d.module, c.kernel, {1}, {128}, bytes,
      KernelArgs(in, bytes, da, db, static_cast<int>(add), c.n == 256 ? DevicePtr{0} : pr, po));
  const auto got = d.download<uint32_t>(po, out.size());
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t e = 0; e < elements; ++e) {
      const auto [i, j] = place(t, e);
      const double sum = c.sign * dot(a, i, b, j) + (add ? before(t, e) : 0);
      const uint32_t word = got[t * words + e / halves];
      ASSERT_EQ(halves == 2 ? word >> 16 * (e % 2) & 0xffff : word, encoded(sum))
          << c.kernel << ", swizzle " << span << ", row " << i << ", column " << j;
    }
  validate(d.take_recording(""));
}

TEST(Products, WarpGroupsInEveryTypeAndLayout) {
  using R = GroupCase::Result;
  const GroupCase cases[] = {
      {"group_f16", kF16, kF16},
      {.kernel = "group_f16_negated", .a = kF16, .b = kF16, .sign = -1},
      {.kernel = "group_f16_a_across", .a = kF16, .b = kF16, .a_across = true},
      {.kernel = "group_f16_both_across", .a = kF16, .b = kF16, .a_across = true, .b_across = true},
      {.kernel = "group_f16_half", .a = kF16, .b = kF16, .result = R::kF16},
      {"group_bf16", kBF16, kBF16},
      {.kernel = "group_tf32", .a = kTF32, .b = kTF32, .k = 8},
      {.kernel = "group_e4m3", .a = kE4M3, .b = kE4M3, .k = 32},
      {.kernel = "group_e5m2_e4m3", .a = kE5M2, .b = kE4M3, .k = 32, .sign = -1},
      {.kernel = "group_e4m3_half", .a = kE4M3, .b = kE5M2, .k = 32, .result = R::kF16},
      {.kernel = "group_s8_u8", .a = kS8, .b = kU8, .k = 32, .result = R::kS32},
      {.kernel = "group_u8_s8", .a = kU8, .b = kS8, .k = 32, .result = R::kS32},
      {.kernel = "group_b1", .a = kB1, .b = kB1, .k = 256, .result = R::kS32},
      {.kernel = "group_registers_f16", .a = kF16, .b = kF16, .a_in_registers = true},
      {.kernel = "group_registers_f16_across",
       .a = kF16,
       .b = kF16,
       .sign = -1,
       .b_across = true,
       .a_in_registers = true},
      {.kernel = "group_registers_tf32", .a = kTF32, .b = kTF32, .k = 8, .a_in_registers = true},
      {.kernel = "group_registers_e4m3", .a = kE4M3, .b = kE4M3, .k = 32, .a_in_registers = true},
  };
  for (const GroupCase& c : cases)
    for (const uint32_t span : {16u, 32u, 64u, 128u})
      for (const bool add : {false, true}) expect_group(c, span, add);
}

TEST(Products, WarpGroupsWithManyColumns) {
  for (const uint32_t span : {16u, 32u, 64u, 128u})
    expect_group({.kernel = "group_wide", .a = kF16, .b = kF16, .n = 256, .b_across = true}, span,
                 true);
}

/// A matrix as mma's fragments: lane i has line i / 4, and of a matrix of 16 lines also i / 4 + 8.
std::vector<uint8_t> fragments(const Matrix& m, bool is_a, uint32_t registers) {
  std::vector<uint8_t> out(size_t{32} * registers * 4);
  const uint32_t parts = 32 / m.format.bits, halves = is_a ? m.lines / 8 : 1;
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t r = 0; r < registers; ++r)
      for (uint32_t p = 0; p < parts; ++p)
        put(&out, (lane * registers + r) * 32 + p * m.format.bits, m.format.bits,
            m.at(lane / 4 + 8 * (r % halves), lane % 4 * parts + p + 4 * parts * (r / halves)));
  return out;
}

std::vector<int> start(size_t count) {
  std::vector<int> c(count);
  for (size_t i = 0; i < count; ++i) c[i] = static_cast<int>(i * 31 % 67) - 33;
  return c;
}

TEST(Products, FourAndOneBits) {
  struct Case {
    const char* kernel;
    Factor a, b;
    uint32_t m, k;
    bool differ;
  };
  for (const Case& c :
       {Case{"warp_s4", kS4, kU4, 16, 64, false}, Case{"warp_u4_8", kU4, kS4, 8, 32, false},
        Case{"warp_b1_and", kB1, kB1, 16, 256, false},
        Case{"warp_b1_xor", kB1, kB1, 16, 256, true}}) {
    BreadthDevice d("products");
    const Matrix a(c.a, c.m, c.k, 3), b(c.b, 8, c.k, 9);
    const uint32_t na = c.m * c.k * c.a.bits / 1024, nb = 8 * c.k * c.b.bits / 1024;
    const std::vector<int> before = start(c.m * 8);
    const DevicePtr pa = d.upload(fragments(a, true, na)), pb = d.upload(fragments(b, false, nb)),
                    pc = d.upload(before), out = d.allocate(c.m * 32);
    d.launch(d.module, c.kernel, {1}, {32}, 0, KernelArgs(pa, pb, pc, pc, out));
    const auto got = d.download<int>(out, c.m * 8);
    const uint32_t each = c.m / 4;
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t e = 0; e < each; ++e) {
        const uint32_t i = lane / 4 + 8 * (e / 2), j = lane % 4 * 2 + e % 2;
        int sum = before[lane * each + e];
        for (uint32_t k = 0; k < c.k; ++k)
          sum += c.differ ? (a.at(i, k) ^ b.at(j, k)) != 0
                          : static_cast<int>(a.value(i, k) * b.value(j, k));
        ASSERT_EQ(got[lane * each + e], sum) << c.kernel << " " << i << " " << j;
      }
  }
}

TEST(Products, EightBitFloats) {
  BreadthDevice d("products");
  const Matrix a(kE4M3, 16, 32, 3), b(kE5M2, 8, 32, 9);
  std::vector<float> before(128);
  for (int i = 0; i < 128; ++i) before[i] = static_cast<float>(i) * 0.25f;
  const DevicePtr pa = d.upload(fragments(a, true, 4)), pb = d.upload(fragments(b, false, 2)),
                  pc = d.upload(before), out = d.allocate(512);
  d.launch(d.module, "warp_e4m3", {1}, {32}, 0, KernelArgs(pa, pb, pc, DevicePtr{0}, out));
  const auto got = d.download<float>(out, 128);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t e = 0; e < 4; ++e) {
      const uint32_t i = lane / 4 + 8 * (e / 2), j = lane % 4 * 2 + e % 2;
      EXPECT_EQ(got[lane * 4 + e], before[lane * 4 + e] + dot(a, i, b, j)) << i << " " << j;
    }
}

/// Products whose a is sparse, with two of every four numbers, equal those of the dense matrix.
TEST(Products, SparseFactors) {
  for (const bool bytes : {false, true}) {
    BreadthDevice d("products");
    const uint32_t k_end = bytes ? 64 : 32;
    const Matrix there(bytes ? kS8 : kF16, 16, k_end / 2, 3), b(bytes ? kU8 : kF16, 8, k_end, 9);
    std::vector<double> dense(16 * k_end, 0);
    std::vector<uint32_t> choice(16 * k_end / 4), metadata(32, 0);
    static constexpr uint32_t kPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (uint32_t i = 0; i < 16; ++i)
      for (uint32_t q = 0; q < k_end / 4; ++q) {
        const auto& pair = kPairs[(i * 5 + q * 7) % 6];
        for (uint32_t x = 0; x < 2; ++x)
          dense[i * k_end + q * 4 + pair[x]] = there.value(i, q * 2 + x);
        const uint32_t bits = pair[0] | pair[1] << 2;
        if (!bytes)  // selector 1: the second pair of four threads; a word has rows i and i + 8
          metadata[i % 8 * 4 + 2 + q / 4] |= bits << (i / 8 * 16 + q % 4 * 4);
        else
          metadata[i % 8 * 4 + q / 8 * 2 + i / 8] |= bits << q % 8 * 4;
      }
    std::vector<float> zero(128, 0.0f);
    const DevicePtr pa = d.upload(fragments(there, true, 4)), pb = d.upload(fragments(b, false, 4)),
                    pc = d.upload(zero), pe = d.upload(metadata), out = d.allocate(512);
    d.launch(d.module, bytes ? "warp_sparse_s8" : "warp_sparse_f16", {1}, {32}, 0,
             KernelArgs(pa, pb, pc, pe, out));
    const auto got = d.download<uint32_t>(out, 128);
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t e = 0; e < 4; ++e) {
        const uint32_t i = lane / 4 + 8 * (e / 2), j = lane % 4 * 2 + e % 2;
        double sum = 0;
        for (uint32_t k = 0; k < k_end; ++k) sum += dense[i * k_end + k] * b.value(j, k);
        const uint32_t word = got[lane * 4 + e];
        EXPECT_EQ(bytes ? double(static_cast<int32_t>(word)) : double(std::bit_cast<float>(word)),
                  sum)
            << bytes << " " << i << " " << j;
      }
  }
}

TEST(Products, QuadsOfThreads) {
  BreadthDevice d("products");
  // Four products; of each, threads 4 q to 4 q + 3 have the upper four lines, and those 16 further
  // on the lower ones: rows of a, columns of b, rows of c.
  std::vector<Matrix> a, b, c;
  for (uint32_t q = 0; q < 4; ++q) {
    a.emplace_back(kF16, 8, 4, 3 + q);
    b.emplace_back(kF16, 8, 4, 30 + q);
    c.emplace_back(kF16, 8, 8, 60 + q);
  }
  const auto words = [&](const std::vector<Matrix>& m, uint32_t each) {
    std::vector<uint8_t> out(size_t{32} * each * 2);
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t e = 0; e < each; ++e)
        put(&out, (lane * each + e) * 16, 16, m[lane % 16 / 4].at(lane % 4 + lane / 16 * 4, e));
    return out;
  };
  const DevicePtr pa = d.upload(words(a, 4)), pb = d.upload(words(b, 4)),
                  pc = d.upload(words(c, 8)), out = d.allocate(512);
  d.launch(d.module, "warp_quads", {1}, {32}, 0, KernelArgs(pa, pb, pc, pc, out));
  const auto got = d.download<uint16_t>(out, 256);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t j = 0; j < 8; ++j) {
      const uint32_t q = lane % 16 / 4, i = lane % 4 + lane / 16 * 4;
      EXPECT_EQ(exec::half_value(got[lane * 8 + j], false),
                c[q].value(i, j) + dot(a[q], i, b[q], j))
          << q << " " << i << " " << j;
    }
}

}  // namespace
}  // namespace nearwarp::runtime
