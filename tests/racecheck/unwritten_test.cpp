// Are reads of memory that nobody wrote told of, and no others?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/functional/racecheck/report.h"
#include "host/functional/racecheck/written.h"
#include "tests/racecheck/checked_device.h"

namespace nearwarp::racecheck {
namespace {

using runtime::DevicePtr;

constexpr uint64_t kBytes = 1024;

/// Runs a kernel of misuse.cu with a block of 32 threads, whose first argument is what it writes.
struct Device : CheckedDevice {
  explicit Device(const Checker::Options& options = {}) : CheckedDevice("misuse", options) {}
  template <class... A>
  void run32(const std::string& kernel, const A&... args) {
    run(kernel, {1}, {32}, args...);
  }
  /// Threads that read what nobody wrote since the last call.
  uint64_t unwritten() {
    uint64_t now = 0;
    for (const UnwrittenRead& r : checker.findings().unwritten) now += r.count;
    return now - std::exchange(before, now);
  }
  DevicePtr out = zeros(kBytes / 4);
  uint64_t before = 0;
};

TEST(Unwritten, SharedMemoryOfEachBlock) {
  Device d;
  const Findings& f = d.run("unwritten_shared", {3}, {64}, d.out);
  ASSERT_EQ(f.unwritten.size(), 1u) << format_text(f, 9);
  const UnwrittenRead& r = f.unwritten[0];
  EXPECT_TRUE(r.shared);
  EXPECT_EQ(r.count, 3u * 31) << "not the element after what was written: it may be fetched ahead";
  EXPECT_EQ(r.place, "byte 132 of shared memory");
  EXPECT_EQ(r.at.thread[0], 33u);
  EXPECT_EQ(r.at.kind, "read");
  EXPECT_NE(r.at.source.find("misuse.cu:"), std::string::npos);
  EXPECT_FALSE(f.clean());
}

TEST(Unwritten, DeviceMemory) {
  Device d;
  const DevicePtr p = d.device.allocate(kBytes, "fresh");
  d.run32("copy_ints", d.out, p);
  const Findings& f = d.checker.findings();
  ASSERT_EQ(f.unwritten.size(), 1u) << format_text(f, 9);
  EXPECT_EQ(d.unwritten(), 32u);
  EXPECT_EQ(f.unwritten[0].place.substr(0, 46), "byte 0 of the allocation 'fresh' of 1024 bytes");
  EXPECT_EQ(f.unwritten[0].address, p);
  // A word that was read before has been copied, and is written there.
  d.run32("copy_ints", d.out + 256, d.out);
  EXPECT_EQ(d.unwritten(), 0u);
}

TEST(Unwritten, WhatTheHostWrites) {
  Device d;
  const DevicePtr p = d.device.allocate(kBytes), q = d.device.allocate(kBytes);
  d.device.fill(p, 1, 64);
  d.run32("copy_ints", d.out, p);
  EXPECT_EQ(d.unwritten(), 16u);
  const int one = 1;
  d.device.copy_to_device(p + 64, &one, 4);
  d.run32("copy_ints", d.out, p);
  EXPECT_EQ(d.unwritten(), 15u);
  // A copy is as much written as what it is a copy of.
  d.device.copy_on_device(q, p + 4, 128);
  d.run32("copy_ints", d.out, q);
  EXPECT_EQ(d.unwritten(), 16u);
  d.run32("variables", d.out);
  EXPECT_EQ(d.unwritten(), 0u);
}

TEST(Unwritten, MemoryThatIsFreedAndAllocatedAnew) {
  Device d;
  const DevicePtr p = d.device.allocate(kBytes);
  d.device.fill(p, 0, kBytes);
  d.device.free(p);
  ASSERT_EQ(d.device.allocate(kBytes), p);
  d.run32("copy_ints", d.out, p);
  EXPECT_EQ(d.unwritten(), 32u);
}

TEST(Unwritten, OneByteOfWhatIsReadSuffices) {
  Device d;
  const DevicePtr p = d.device.allocate(kBytes);
  d.run32("write_bytes", p);
  d.run32("copy_ints", d.out, p);
  EXPECT_EQ(d.unwritten(), 0u);
  d.run32("copy_vectors", d.out, p);  // 8 threads read what has been written in part
  EXPECT_EQ(d.unwritten(), 24u);
}

TEST(Unwritten, Atomics) {
  Device d;
  const DevicePtr p = d.device.allocate(kBytes), q = d.device.allocate(kBytes),
                  r = d.device.allocate(kBytes);
  d.run32("count_up", p);
  EXPECT_EQ(d.unwritten(), 16u);
  EXPECT_EQ(d.checker.findings().unwritten[0].at.kind, "atomic");
  d.run32("count_up", p);
  EXPECT_EQ(d.unwritten(), 0u);
  d.run32("exchange", d.out, q, true);
  EXPECT_EQ(d.unwritten(), 32u);
  d.run32("exchange", d.out, r, false);
  EXPECT_EQ(d.unwritten(), 0u);
  d.run32("copy_ints", d.out, r);
  EXPECT_EQ(d.unwritten(), 0u);
}

TEST(Unwritten, MemoryOfDeviceCode) {
  Device d;
  d.run32("heap", d.out, true);
  EXPECT_EQ(d.unwritten(), 0u);
  d.run32("heap", d.out, false);  // the same memory again
  EXPECT_EQ(d.unwritten(), 32u);
  d.run32("prints", d.out);
  EXPECT_EQ(d.unwritten(), 0u);
}

TEST(Unwritten, CopiesAndBarriersInSharedMemory) {
  Device d;
  d.run32("async_copy", d.out, d.zeros(32));
  EXPECT_EQ(d.unwritten(), 0u);
  d.run32("async_copy", d.out, d.device.allocate(kBytes));
  EXPECT_EQ(d.unwritten(), 32u);
  EXPECT_FALSE(d.checker.findings().unwritten[0].shared);
  d.run32("mbarrier", d.out, true);
  EXPECT_EQ(d.unwritten(), 0u);
  d.run32("mbarrier", d.out, false);  // the first of them makes something of it
  EXPECT_EQ(d.unwritten(), 1u);
  EXPECT_TRUE(d.checker.findings().unwritten[1].shared);
}

TEST(Unwritten, KernelsThatAreNotLookedAtMayHaveWrittenAnything) {
  Checker::Options options;
  options.kernels = "copy_ints";
  Device d(options);
  const DevicePtr p = d.device.allocate(kBytes);
  d.run32("count_up", p);
  d.run32("copy_ints", d.out, p + 512);
  EXPECT_EQ(d.unwritten(), 0u);
  d.run32("copy_ints", d.out, d.device.allocate(kBytes));
  EXPECT_EQ(d.unwritten(), 32u);
}

TEST(Unwritten, CanBeLeftOut) {
  Checker::Options options;
  options.unwritten = false;
  Device d(options);
  d.run32("copy_ints", d.out, d.device.allocate(kBytes));
  EXPECT_TRUE(d.run("unwritten_shared", {1}, {64}, d.out).clean());
}

TEST(Unwritten, ReportsAsTextAndJson) {
  Device d;
  Findings f = d.run("unwritten_shared", {1}, {64}, d.out);
  f.program = "app";
  const std::string text = format_text(f, 5);
  EXPECT_EQ(text.find("unwritten 1: read of shared memory that nobody wrote, 31 times\n"
                      "  kernel unwritten_shared\n"
                      "  at byte 132 of shared memory\n"
                      "  read by thread (33,0,0) of block (0,0,0)\n"),
            0u)
      << text;
  EXPECT_NE(text.find("app: no hazards, 1 unwritten read, no errors in 1 launch of "),
            std::string::npos)
      << text;
  EXPECT_EQ(to_json(from_json(to_json(f))), to_json(f));
  const auto json = to_json(f)["unwritten_reads"][0];
  EXPECT_EQ(json["space"], "shared");
  EXPECT_EQ(json["count"], 31);
  EXPECT_EQ(json["address"], 132);
}

/// Against a bool for each byte.
TEST(WrittenBytes, MarksAndCopies) {
  constexpr uint64_t kSize = uint64_t{1} << 21;  // large enough to give pages back
  WrittenBytes bits(kSize);
  std::vector<bool> plain(kSize, false);
  uint32_t seed = 7;
  const auto random = [&](uint64_t below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
  };
  const auto length = [&](uint64_t offset) {
    const uint64_t most = random(8) == 0 ? kSize : 200;
    return std::min<uint64_t>(random(most) + 1, kSize - offset);
  };
  for (int round = 0; round < 300; ++round) {
    const uint64_t a = random(kSize), b = round % 2 == 0 ? random(kSize) : a ^ 8 * random(100);
    const uint64_t n = std::min(length(a), kSize - std::min(b, kSize - 1));
    if (b >= kSize) continue;
    switch (random(4)) {
      case 0:
        bits.unmark(a, n);
        std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(a), n, false);
        break;
      case 1: {
        bits.copy(b, a, n);
        const std::vector<bool> from(plain.begin() + static_cast<std::ptrdiff_t>(a),
                                     plain.begin() + static_cast<std::ptrdiff_t>(a + n));
        std::copy(from.begin(), from.end(), plain.begin() + static_cast<std::ptrdiff_t>(b));
        break;
      }
      case 2:
        bits.mark(a, n);
        std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(a), n, true);
        break;
      default:
        bits.mark_access(a, static_cast<uint32_t>(std::min<uint64_t>(n, 32)));
        std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(a), std::min<uint64_t>(n, 32),
                    true);
    }
    for (const uint64_t at : {a, b, a + n - 1, b + n - 1, a + n, b + n, random(kSize)}) {
      if (at >= kSize) continue;
      ASSERT_EQ(bits.any(at, 1), plain[at]) << round << " " << at;
    }
  }
  for (uint64_t at = 0; at < kSize; ++at) ASSERT_EQ(bits.any(at, 1), plain[at]) << at;
  for (uint64_t at = 0; at + 16 < kSize; at += 61) {
    const auto first = plain.begin() + static_cast<std::ptrdiff_t>(at);
    ASSERT_EQ(bits.any(at, 16), std::find(first, first + 16, true) != first + 16) << at;
  }
}

}  // namespace
}  // namespace nearwarp::racecheck
