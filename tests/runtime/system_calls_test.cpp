// Do printf, assert, malloc and free in device code do what CUDA says?
#include <gtest/gtest.h>

#include <cstring>

#include "host/functional/exec/device_printf.h"
#include "host/functional/memory/device_heap.h"
#include "tests/runtime/breadth_kernels.h"

namespace nearwarp::runtime {
namespace {

VirtualDevice::Options printing_to(std::string* text) {
  VirtualDevice::Options options;
  options.print = [text](std::string_view part) { text->append(part); };
  return options;
}

TEST(SystemCalls, PrintfFormatsLikeC) {
  std::string text;
  BreadthDevice d("system", printing_to(&text));
  const char word[] = "word";
  const DevicePtr p = d.upload(std::vector<char>(word, word + 5));
  const int n = -42;
  const float f = 1.5f;
  d.launch(d.module, "print", {2}, {4}, 0, KernelArgs(n, f, p));
  std::string want;
  for (unsigned block = 0; block < 2; ++block) {
    for (const int thread : {0, 2}) {
      char line[200];
      std::snprintf(line, sizeof(line), "%d: block %u n=%+5d f=%.3f %s %lld %c %5.2e %% %x %lu\n",
                    thread, block, n, static_cast<double>(f), "abc", -420000000000LL, 'x',
                    static_cast<double>(f), static_cast<unsigned>(n), 8ul);
      want += line;
    }
    want += "[word]   -42|-42 |\n";
  }
  EXPECT_EQ(text, want);
}

TEST(SystemCalls, OddFormatsAreHarmless) {
  PrintfSource source;
  source.argument = [](uint64_t, void*, uint32_t) { return false; };
  source.string = [](uint64_t) { return std::string("s"); };
  EXPECT_EQ(format_printf("100%", source), "100%");
  EXPECT_EQ(format_printf("%y%%", source), "%y%");
  EXPECT_EQ(format_printf("%n", source), "%n");
  EXPECT_EQ(format_printf("%s", source), "(null)");
  EXPECT_EQ(format_printf("%d %lld %f", source), "0 0 0.000000");
  EXPECT_EQ(format_printf("%Ld %lhx", source), "%Ld %lhx");
  source.argument = [](uint64_t, void* to, uint32_t bytes) {
    std::memset(to, bytes == 4 ? 0xff : 0, bytes);  // -1, or 0 in 8 bytes
    return true;
  };
  EXPECT_EQ(format_printf("%.*f|%.*d", source), "0.000000|-1");
}

TEST(SystemCalls, AFailedAssertionEndsTheDevice) {
  std::string text;
  VirtualDevice::Options options = printing_to(&text);
  options.sticky_faults = true;
  BreadthDevice d("system", options);
  std::vector<int> values(64, 1);
  values[37] = 100;
  const DevicePtr p = d.upload(values);
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      d.launch(d.module, "check", {1}, {64}, 0, KernelArgs(p));
      FAIL() << "no assertion";
    } catch (const DeviceFault& fault) {
      EXPECT_EQ(fault.kind(), DeviceFault::Kind::kAssert);
      const std::string message = fault.what();
      EXPECT_NE(message.find("system.cu:"), std::string::npos) << message;
      EXPECT_NE(message.find("block: [0,0,0], thread: [37,0,0] Assertion "
                             "`values[threadIdx.x] < 100` failed."),
                std::string::npos)
          << message;
    }
  }
  EXPECT_EQ(text, "before\n");
}

TEST(SystemCalls, MallocAndFree) {
  BreadthDevice d("system");
  const DevicePtr out = d.allocate(64 * 4);
  const int n = 20;
  d.launch(d.module, "lists", {1}, {64}, 0, KernelArgs(out, n));
  const auto sums = d.download<int>(out, 64);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(sums[i], (i + 1) * n * (n - 1) / 2) << i;
  d.launch(d.module, "too_much", {1}, {1}, 0, KernelArgs(out));
  EXPECT_EQ(d.download<int>(out, 2), (std::vector<int>{1, 1}));
  EXPECT_THROW(d.launch(d.module, "double_free", {1}, {1}, 0, KernelArgs()), DeviceFault);
}

TEST(DeviceHeap, PartsAreDisjointAndComeBack) {
  DeviceHeap heap(4096, 256);
  const uint64_t a = heap.allocate(1), b = heap.allocate(100), c = heap.allocate(112);
  EXPECT_EQ(a, 4096u);
  EXPECT_EQ(b, 4112u);
  EXPECT_EQ(c, 4224u);
  EXPECT_EQ(heap.allocate(32), 0u);
  EXPECT_TRUE(heap.free(b));
  EXPECT_FALSE(heap.free(b));
  EXPECT_FALSE(heap.free(a + 1));
  EXPECT_TRUE(heap.free(a));
  EXPECT_EQ(heap.allocate(128), 4096u);  // the two have become one
  EXPECT_EQ(heap.allocate(~uint64_t{0}), 0u);
}

}  // namespace
}  // namespace nearwarp::runtime
