// Do ldmatrix and stmatrix of 16 bits, of bytes, and of 6 and 4 bits that get a byte each, put
// every element where the PTX ISA has it? Is one of 16 bits one access?
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/functional/device/virtual_device.h"

namespace nearwarp::runtime {
namespace {

constexpr uint32_t kRows = 32;

/// In which 16 bytes of shared memory row r lies: rows are in no order.
uint32_t place_of(uint32_t r) { return r * 13 % kRows; }

std::string registers(uint32_t count) {
  std::string list = "{";
  for (uint32_t i = 0; i < count; ++i) list += (i == 0 ? "%v" : ", %v") + std::to_string(i);
  return list + "}";
}

/// A warp's `instruction`: lane l has the address of row l, `in` is what lies in shared memory and
/// `words` four registers of each lane before it; shared memory and registers afterwards.
std::pair<std::vector<uint8_t>, std::vector<uint32_t>> run(const std::string& instruction,
                                                           const std::vector<uint8_t>& in,
                                                           const std::vector<uint32_t>& words) {
  const std::string text = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 pi, .param .u64 pw, .param .u64 po)
{
  .reg .b64 %in, %w, %o, %d; .reg .b32 %t, %a, %s, %v<4>, %x<4>;
  .shared .align 16 .b8 rows[512];
  ld.param.u64 %in, [pi]; ld.param.u64 %w, [pw]; ld.param.u64 %o, [po];
  mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 16;
  add.u64 %in, %in, %d; add.u64 %w, %w, %d; add.u64 %o, %o, %d;
  mov.u32 %s, rows; mad.lo.u32 %a, %t, 16, %s;
  ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%in]; st.shared.v4.u32 [%a], {%x0, %x1, %x2, %x3};
  ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%w];
  bar.sync 0;
  mul.lo.u32 %x0, %t, 13; and.b32 %x0, %x0, 31; mad.lo.u32 %a, %x0, 16, %s;
  )" + instruction + R"(
  bar.sync 0;
  mad.lo.u32 %a, %t, 16, %s;
  ld.shared.v4.u32 {%x0, %x1, %x2, %x3}, [%a];
  st.global.v4.u32 [%o], {%x0, %x1, %x2, %x3};
  st.global.v4.u32 [%o+512], {%v0, %v1, %v2, %v3};
  ret;
}
)";
  VirtualDevice d;
  const uint32_t module = d.load_module(
      std::make_shared<const compiler::Program>(compiler::compile_ptx(text, "rows.ptx")));
  const DevicePtr out = d.allocate(1024);
  d.launch(module, "k", {1}, {32}, 0, KernelArgs(d.upload(in), d.upload(words), out));
  return {d.download<uint8_t>(out, 512), d.download<uint32_t>(out + 512, 128)};
}

std::vector<uint8_t> bytes(uint32_t seed) {
  std::vector<uint8_t> v(512);
  for (uint8_t& b : v) b = static_cast<uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
  return v;
}
const std::vector<uint32_t> kWords = [] {
  std::vector<uint32_t> v(128);
  uint32_t seed = 99;
  for (uint32_t& w : v) w = seed = seed * 1664525u + 1013904223u;
  return v;
}();

/// Element `column` of a row of `bits` each, without gaps.
uint32_t element(const std::vector<uint8_t>& memory, uint32_t row, uint32_t column, uint32_t bits) {
  uint32_t v = 0;
  for (uint32_t b = 0; b < bits; ++b) {
    const uint32_t at = column * bits + b;
    v |= (memory[place_of(row) * 16 + at / 8] >> at % 8 & 1u) << b;
  }
  return v;
}

struct Form {
  uint32_t bits;
  std::string types;
};
const Form kForms[] = {{8, "b8"}, {6, "b8x16.b6x16_p32"}, {4, "b8x16.b4x16_p64"}};

/// Element (row, column) of matrix `m` of 16 bits in a lane's registers: which lane, which half.
uint32_t half_of(const std::vector<uint32_t>& words, uint32_t m, uint32_t row, uint32_t column) {
  return words[(row * 4 + column / 2) * 4 + m] >> 16 * (column % 2) & 0xffff;
}
/// A half of a matrix in memory.
uint32_t half_in(const std::vector<uint8_t>& memory, uint32_t m, uint32_t row, uint32_t column) {
  return element(memory, 8 * m + row, column, 16);
}
std::string squares(const std::string& name, uint32_t count, bool transposed) {
  return name + ".sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") +
         ".shared.b16 ";
}

TEST(SharedMatrices, SquaresOf16Bits) {
  const std::vector<uint8_t> memory = bytes(3);
  for (const bool transposed : {false, true})
    for (const uint32_t count : {1u, 2u, 4u}) {
      const auto [same, got] = run(
          squares("ldmatrix", count, transposed) + registers(count) + ", [%a];", memory, kWords);
      EXPECT_EQ(same, memory);
      for (uint32_t m = 0; m < 4; ++m)
        for (uint32_t row = 0; row < 8; ++row)
          for (uint32_t c = 0; c < 8; ++c)
            ASSERT_EQ(half_of(got, m, row, c), m >= count   ? half_of(kWords, m, row, c)
                                               : transposed ? half_in(memory, m, c, row)
                                                            : half_in(memory, m, row, c))
                << count << (transposed ? " transposed: " : ": ") << m << " " << row << " " << c;
    }
}

TEST(SharedMatrices, SquaresOf16BitsAreStored) {
  for (const bool transposed : {false, true})
    for (const uint32_t count : {1u, 2u, 4u}) {
      const std::vector<uint8_t> before = bytes(4);
      const auto [got, same] =
          run(squares("stmatrix", count, transposed) + "[%a], " + registers(count) + ";", before,
              kWords);
      EXPECT_EQ(same, kWords);
      for (uint32_t m = 0; m < 4; ++m)
        for (uint32_t row = 0; row < 8; ++row)
          for (uint32_t c = 0; c < 8; ++c)
            ASSERT_EQ(half_in(got, m, row, c), m >= count   ? half_in(before, m, row, c)
                                               : transposed ? half_of(kWords, m, c, row)
                                                            : half_of(kWords, m, row, c))
                << count << (transposed ? " transposed: " : ": ") << m << " " << row << " " << c;
    }
}

TEST(SharedMatrices, OneOf16BitsIsOneAccess) {
  const auto instructions = [](const std::string& body) {
    const compiler::Program program = compiler::compile_ptx(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %a, "
        "%v<4>;\n"
        ".shared .align 16 .b8 rows[512];\nmov.u32 %a, rows;\n" +
            body + "\nret;\n}\n",
        "one.ptx");
    return program.kernels.at(0).instructions.size();
  };
  for (const bool transposed : {false, true}) {
    EXPECT_EQ(instructions(squares("ldmatrix", 4, transposed) + registers(4) + ", [%a];"),
              instructions("") + 1);
    EXPECT_EQ(instructions(squares("stmatrix", 2, transposed) + "[%a], " + registers(2) + ";"),
              instructions("") + 1);
  }
}

TEST(SharedMatrices, RowsOfEightLines) {
  const std::vector<uint8_t> memory = bytes(5);
  for (const Form& form : kForms)
    for (const uint32_t count : {1u, 2u, 4u}) {
      if (form.bits == 8) continue;  // there is none
      const auto [same, got] = run("ldmatrix.sync.aligned.m8n16.x" + std::to_string(count) +
                                       ".shared." + form.types + " " + registers(count) + ", [%a];",
                                   memory, kWords);
      EXPECT_EQ(same, memory);
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t r = 0; r < 4; ++r) {
          uint32_t want = r < count ? 0 : kWords[lane * 4 + r];
          if (r < count)
            for (uint32_t e = 0; e < 4; ++e)
              want |= element(memory, 8 * r + lane / 4, lane % 4 * 4 + e, form.bits) << 8 * e;
          ASSERT_EQ(got[lane * 4 + r], want) << form.types << " " << count << ", lane " << lane;
        }
    }
}

TEST(SharedMatrices, SquaresThatAreTransposed) {
  const std::vector<uint8_t> memory = bytes(6);
  for (const Form& form : kForms)
    for (const uint32_t count : {1u, 2u}) {
      const auto [same, got] =
          run("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) + ".trans.shared::cta." +
                  form.types + " " + registers(2 * count) + ", [%a];",
              memory, kWords);
      EXPECT_EQ(same, memory);
      // The result's row is an element's place in memory's rows, of which there are 16 in a matrix.
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t r = 0; r < 4; ++r) {
          uint32_t want = r < 2 * count ? 0 : kWords[lane * 4 + r];
          if (r < 2 * count)
            for (uint32_t e = 0; e < 4; ++e)
              want |= element(memory, 16 * (r / 2) + lane % 4 * 4 + e, lane / 4 + 8 * (r % 2),
                              form.bits)
                      << 8 * e;
          ASSERT_EQ(got[lane * 4 + r], want) << form.types << " " << count << ", lane " << lane;
        }
    }
}

TEST(SharedMatrices, StoredByColumns) {
  for (const uint32_t count : {1u, 2u, 4u}) {
    std::vector<uint8_t> want = bytes(7);
    const auto [got, same] = run("stmatrix.sync.aligned.m16n8.x" + std::to_string(count) +
                                     ".trans.shared.b8 [%a], " + registers(count) + ";",
                                 want, kWords);
    EXPECT_EQ(same, kWords);
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t r = 0; r < count; ++r)
        for (uint32_t e = 0; e < 4; ++e)  // row lane / 4 (+ 8), column 2 (lane mod 4) (+ 1)
          want[place_of(8 * r + lane % 4 * 2 + e % 2) * 16 + lane / 4 + 8 * (e / 2)] =
              static_cast<uint8_t>(kWords[lane * 4 + r] >> 8 * e);
    EXPECT_EQ(got, want) << count;
  }
}

TEST(SharedMatrices, WhatIsStoredIsLoadedTransposed) {
  // Columns of stmatrix.m16n8.trans are rows of memory, which ldmatrix.m16n16.trans turns back: its
  // register holds four columns of a row where stmatrix' one has two of two rows.
  const auto [memory, got] =
      run("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%a], {%v0, %v1};\n"
          "bar.sync 0;\nldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%v2, %v3}, [%a];",
          bytes(8), kWords);
  const auto stored = [&](uint32_t i, uint32_t j) {
    const uint32_t lane = i % 8 * 4 + j % 8 / 2;
    return kWords[lane * 4 + j / 8] >> 8 * (j % 2 + 2 * (i / 8)) & 255;
  };
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t r = 0; r < 2; ++r)
      for (uint32_t e = 0; e < 4; ++e)
        ASSERT_EQ(got[lane * 4 + 2 + r] >> 8 * e & 255, stored(lane / 4 + 8 * r, lane % 4 * 4 + e))
            << lane << " " << r << " " << e;
}

}  // namespace
}  // namespace nearwarp::runtime
