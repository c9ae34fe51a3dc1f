// Do video instructions, bit fields and carries compute what PTX says?
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "host/runtime/trace_replay.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

constexpr int kResults = 16;

uint32_t byte(uint32_t v, int i) { return v >> (8 * i) & 0xff; }

uint32_t nth_set(uint32_t mask, uint32_t base, int n) {
  if (base > 31) return ~0u;
  if (n == 0) return mask >> base & 1 ? base : ~0u;
  for (int at = static_cast<int>(base); at >= 0 && at<32; at += n> 0 ? 1 : -1) {
    if (!(mask >> at & 1)) continue;
    n += n > 0 ? -1 : 1;
    if (n == 0) return static_cast<uint32_t>(at);
  }
  return ~0u;
}

TEST(Integers, VideoBitFieldsAndCarries) {
  std::mt19937 random(5);
  const uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00ff00ff, 0xff800180, 31};
  std::vector<uint32_t> in;
  for (const uint32_t a : edges)
    for (const uint32_t b : edges)
      for (const uint32_t c : edges) in.insert(in.end(), {a, b, c});
  while (in.size() < 3 * 3000) in.push_back(static_cast<uint32_t>(random()));
  const int n = static_cast<int>(in.size() / 3);
  BreadthDevice d("integers");
  const DevicePtr p = d.upload(in), out = d.allocate(static_cast<uint64_t>(n) * kResults * 4);
  d.launch(d.module, "integers", {static_cast<uint32_t>((n + 127) / 128)}, {128}, 0,
           KernelArgs(p, out, n));
  const auto got = d.download<uint32_t>(out, static_cast<uint64_t>(n) * kResults);
  for (int i = 0; i < n; ++i) {
    const uint32_t a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b),
               sc = static_cast<int32_t>(c);
    uint32_t differences = 0, sum = 0, halves = 0, averages = 0;
    for (int k = 0; k < 4; ++k) {
      const int x = static_cast<int>(byte(a, k)), y = static_cast<int>(byte(b, k));
      differences |= static_cast<uint32_t>(std::abs(x - y)) << (8 * k);
      sum += static_cast<uint32_t>(std::abs(x - y));
      averages |= static_cast<uint32_t>((x + y + 1) / 2) << (8 * k);
    }
    for (int k = 0; k < 2; ++k) {
      const int v =
          static_cast<int>(a >> (16 * k) & 0xffff) - static_cast<int>(b >> (16 * k) & 0xffff);
      halves |= (static_cast<uint32_t>(std::clamp(v, -32768, 32767)) & 0xffff) << (16 * k);
    }
    const uint32_t bits = b & 31, clamp_bits = b % 40, position = a % 40;
    const uint64_t carry = (uint64_t{a} + b) >> 32, second = uint64_t{b} + c + carry;
    const uint64_t product = uint64_t{a} * b;
    const uint64_t low_carry = ((product & 0xffffffff) + c) >> 32;
    const uint32_t want[kResults] = {
        byte(a, 0) + static_cast<uint32_t>(static_cast<int16_t>(b >> 16)),
        static_cast<uint32_t>(
            std::abs(static_cast<int>(byte(a, 1)) - static_cast<int>(byte(b, 2)))) +
            c,
        static_cast<uint32_t>((int64_t{static_cast<int16_t>(a)} * byte(b, 0) + sc) >> 7),
        a << (b & 31),
        byte(a, 0) < byte(b, 1),
        static_cast<uint32_t>(std::min(std::max(sa, sb), sc)),
        bits == 0 ? 0
                  : static_cast<uint32_t>(static_cast<int32_t>(a << (32 - bits)) >> (32 - bits)),
        clamp_bits == 0 ? 0 : (clamp_bits >= 32 ? a : a << (32 - clamp_bits) >> (32 - clamp_bits)),
        nth_set(a, b % 33, static_cast<int>(c % 11 - 5)),
        differences,
        sum,
        halves,
        static_cast<uint32_t>(second) + static_cast<uint32_t>(second >> 32),
        static_cast<uint32_t>(product >> 32) + c + static_cast<uint32_t>(low_carry),
        position >= 32 || clamp_bits == 0
            ? 0
            : (clamp_bits >= 32 ? ~0u : (1u << clamp_bits) - 1) << position,
        averages};
    for (int k = 0; k < kResults; ++k)
      ASSERT_EQ(got[i * kResults + k], want[k])
          << "result " << k << " of " << std::hex << a << " " << b << " " << c;
  }
  validate(d.take_recording(""));
}

}  // namespace
}  // namespace nearwarp::runtime
