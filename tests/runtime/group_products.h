// Products of a warp group (wgmma) with made-up factors: the kernel of one, and a check of its
// sums.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"
#include "tests/runtime/product_matrices.h"

namespace nearwarp::runtime {

/// A product of 64 rows by `n` columns.
struct GroupProduct {
  std::string types;  ///< result, a, b
  Factor a, b;
  uint32_t k;  ///< rows of b; a has as many columns, a sparse one half of them
  uint32_t n = 8;
  uint32_t selector = 0;  ///< of a sparse a: threads that hold its metadata
  bool in_registers = false, a_across = false, b_across = false, saturate = false;
  int sign_a = 1, sign_b = 1;
  bool sparse = false;

  char result() const { return types[0] == 's' ? 's' : types[1] == '1' ? 'h' : 'f'; }
  uint32_t words() const { return result() == 'h' ? n / 4 : n / 2; }  ///< of results, by thread
  std::string mnemonic() const {
    return std::string("wgmma.mma_async") + (sparse ? ".sp" : "") + ".sync.aligned.m64n" +
           std::to_string(n) + "k" + std::to_string(k) + (saturate ? ".satfinite." : ".") + types;
  }
};

/// The operands of a product: both matrices in shared memory, where the descriptors say, and 32
/// bytes for each thread's registers: four of a, and one of metadata.
struct GroupOperands {
  std::vector<uint8_t> shared;
  uint64_t da = 0, db = 0;
  std::vector<uint8_t> registers = std::vector<uint8_t>(size_t{128} * 32);

  /// Puts a into registers, from column `skip` on.
  void put_registers(const Matrix& a, uint32_t skip = 0) {
    const uint32_t bits = a.format.bits, parts = 32 / bits;
    for (uint32_t t = 0; t < 128; ++t)
      for (uint32_t r = 0; r < 4; ++r)
        for (uint32_t p = 0; p < parts; ++p)
          put(&registers, t * 256 + r * 32 + p * bits, bits,
              a.at(t / 32 * 16 + t % 32 / 4 + 8 * (r % 2),
                   skip + t % 4 * parts + p + 4 * parts * (r / 2)));
  }
};

inline std::string kernel_of(const GroupProduct& c) {
  const auto number = [](uint32_t n) { return std::to_string(n); };
  const uint32_t words = c.words();
  const std::string kind = c.result() == 'f' ? "%f" : "%d";
  std::string list, loads, stores;
  for (uint32_t i = 0; i < words; ++i) {
    list += (i == 0 ? "" : ", ") + kind + number(i);
    loads += "ld.global.b32 " + kind + number(i) + ", [%o+" + number(4 * i) + "];\n";
    stores += "st.global.b32 [%o+" + number(4 * i) + "], " + kind + number(i) + ";\n";
  }
  std::string text = c.mnemonic() + " {" + list + "}, " +
                     (c.in_registers ? "{%r0, %r1, %r2, %r3}" : "%da") + ", %db, " +
                     (c.sparse ? "%e, " + number(c.selector) + ", " : "") + "%p";
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

/// Multiplies and compares each element with sum(row, column), to which its value beforehand is
/// added if `add` says so. `where` ends a failure's text.
inline void expect_sums(const GroupProduct& c, const GroupOperands& in, bool add,
                        const std::function<double(uint32_t, uint32_t)>& sum,
                        const std::string& where) {
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
  const auto bytes = static_cast<uint32_t>(in.shared.size());
  d.launch(module, "k", {1}, {128}, bytes,
           KernelArgs(d.upload(in.shared), bytes, in.da, in.db, static_cast<int>(add),
                      d.upload(in.registers), po));
  const auto got = d.download<uint32_t>(po, out.size());
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t e = 0; e < c.n / 2; ++e) {
      const uint32_t i = t / 32 * 16 + t % 32 / 4 + 8 * (e / 2 % 2),
                     j = t % 4 * 2 + e % 2 + e / 4 * 8;
      const double expected = (add ? before(t, e) : 0) + sum(i, j);
      const uint32_t word = got[t * c.words() + e / halves];
      ASSERT_EQ(halves == 2 ? word >> 16 * (e % 2) & 0xffff : word, encoded(expected))
          << c.mnemonic() << ", row " << i << ", column " << j << where;
    }
  validate(d.take_recording(""));
}

}  // namespace nearwarp::runtime
