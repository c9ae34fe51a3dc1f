// Do kernels compiled by nvcc give the results of plain C++ on the virtual device?
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {
namespace {

std::shared_ptr<const compiler::Program> program() {
  static const auto p = std::make_shared<const compiler::Program>(
      compiler::compile_ptx_file(NW_SOURCE_DIR "/tests/runtime/kernels/basic.ptx"));
  return p;
}

struct Device : VirtualDevice {
  explicit Device(Options options = {}) : VirtualDevice(std::move(options)) {
    module = load_module(program());
  }
  uint32_t module;
};

TEST(EndToEnd, VectorAdd) {
  Device d;
  constexpr int n = 1000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = 0.5f * i, b[i] = 3.0f - i;
  const DevicePtr pa = d.upload(a, "a"), pb = d.upload(b, "b"), pc = d.allocate(n * 4, "c");
  d.launch(d.module, "vector_add", {4}, {256}, 0, KernelArgs(pa, pb, pc, n));
  const auto c = d.download<float>(pc, n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
  const Recording r = d.take_recording("test");
  const TraceCounts counts = validate(r);
  EXPECT_EQ(counts.blocks, 4u);
  EXPECT_EQ(r.launches.at(0).warp_instructions, counts.warp_instructions);
  EXPECT_EQ(r.kernels.at(0)->name, "vector_add");
  // Warp 31 has 8 of its 32 lanes in range: 992 to 999.
  uint64_t accesses = 0, warp_index = 0;
  TraceVisitor visitor;
  visitor.warp = [&](uint64_t block, uint32_t warp) { warp_index = block * 8 + warp; };
  visitor.access = [&](const MemoryAccess& m) {
    ++accesses;
    EXPECT_EQ(m.mask, warp_index == 31 ? 0xffu : 0xffffffffu);
    const bool is_store = r.kernels[0]->instructions[m.instruction].op == ptx::Opcode::kSt;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if (!(m.mask >> lane & 1)) continue;
      const uint64_t offset = (warp_index * 32 + lane) * 4;
      if (is_store)
        EXPECT_EQ(m.address[lane], pc + offset);
      else
        EXPECT_TRUE(m.address[lane] == pa + offset || m.address[lane] == pb + offset);
    }
  };
  replay(r, 0, visitor);
  EXPECT_EQ(accesses, 3u * 32);
}

TEST(EndToEnd, MathFunctions) {
  Device d;
  constexpr int n = 777;
  std::vector<float> x(n);
  std::vector<double> xd(n);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> range(-20, 20);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(range(random)), xd[i] = range(random);
  const DevicePtr px = d.upload(x), po = d.allocate(n * 32), pxd = d.upload(xd),
                  pod = d.allocate(n * 32);
  d.launch(d.module, "math", {7}, {128}, 0, KernelArgs(px, po, pxd, pod, n));
  const auto f = d.download<float>(po, n * 8);
  const auto g = d.download<double>(pod, n * 4);
  for (int i = 0; i < n; ++i) {
    const double v = x[i], m = std::fabs(v), e = xd[i];
    const double want[8] = {
        std::exp(v),      std::log(m),      std::sqrt(m), std::sin(v), std::pow(m, double(1.7f)),
        v / double(3.7f), 1 / std::sqrt(m), std::erf(v)};
    for (int k = 0; k < 8; ++k)
      ASSERT_NEAR(f[8 * i + k], want[k], 1e-6 + std::fabs(want[k]) * 2e-6) << k << " of " << v;
    const double want_double[4] = {std::exp(e), std::log(std::fabs(e)), std::sin(e),
                                   std::pow(std::fabs(e), 0.3)};
    for (int k = 0; k < 4; ++k)
      ASSERT_NEAR(g[4 * i + k], want_double[k], std::fabs(want_double[k]) * 1e-14 + 1e-300)
          << k << " of " << e;
  }
  validate(d.take_recording(""));
}

TEST(EndToEnd, BlockSum) {
  Device d;
  constexpr int n = 5000, blocks = 20;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * 7919 % 1001 - 500;
  const DevicePtr pi = d.upload(in), po = d.allocate((blocks + 1) * 4);
  d.launch(d.module, "block_sum", {blocks}, {256}, 0, KernelArgs(pi, po, n));
  const auto out = d.download<int>(po, blocks + 1);
  int total = 0;
  for (int b = 0; b < blocks; ++b) {
    int sum = 0;
    for (int i = b * 256; i < std::min(n, (b + 1) * 256); ++i) sum += in[i];
    EXPECT_EQ(out[b], sum) << b;
    total += sum;
  }
  EXPECT_EQ(out[blocks], total);
  validate(d.take_recording(""));
}

TEST(EndToEnd, DivergentLoops) {
  Device d;
  constexpr int n = 1111;
  std::vector<unsigned> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * 37 % 1000 + 1;
  const DevicePtr pi = d.upload(in), po = d.allocate(n * 4);
  d.launch(d.module, "collatz", {9}, {128}, 0, KernelArgs(pi, po, n));
  const auto out = d.download<unsigned>(po, n);
  for (int i = 0; i < n; ++i) {
    uint64_t v = in[i];
    unsigned k = 0;
    for (; v != 1 && k <= 400; ++k) v = v & 1 ? 3 * v + 1 : v / 2;
    ASSERT_EQ(out[i], k) << in[i];
  }
  validate(d.take_recording(""));
}

TEST(EndToEnd, Switch) {
  Device d;
  constexpr int n = 999;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i * 7 - 3000 + i * i;
  const DevicePtr pi = d.upload(in), po = d.allocate(n * 4);
  d.launch(d.module, "switches", {8}, {128}, 0, KernelArgs(pi, po, n));
  out = d.download<int>(po, n);
  for (int i = 0; i < n; ++i) {
    int v = in[i];
    switch (v & 15) {
      case 0:
        v += 11;
        break;
      case 1:
        v *= 7;
        break;
      case 2:
        v ^= 0x55;
        break;
      case 3:
        v = -1;
        break;
      case 4:
        v = v / 3;
        break;
      case 5:
        v = v % 5;
        break;
      case 6:
        v = __builtin_popcount(v);
        break;
      case 7:
        v = v == 0 ? 32 : __builtin_clz(v);
        break;
      case 8:
        v <<= 3;
        break;
      case 9:
        v >>= 2;
        break;
      default:
        v = -v;
    }
    ASSERT_EQ(out[i], v) << in[i];
  }
  validate(d.take_recording(""));
}

TEST(EndToEnd, ModuleVariables) {
  Device d;
  const DevicePtr po = d.allocate(32 * 4);
  d.launch(d.module, "variables", {1}, {32}, 0, KernelArgs(po));
  const auto out = d.download<float>(po, 32);
  const float scale[3] = {0.5f, 2.0f, 8.0f};
  const int table[4] = {10, 20, 30, 40};
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[t], scale[t % 3] * table[t & 3] + 30) << t;
  EXPECT_EQ(d.download<int>(d.symbol(d.module, "g_counter"), 1)[0], 6);
  EXPECT_THROW(d.symbol(d.module, "nothing"), Error);
  validate(d.take_recording(""));
}

TEST(EndToEnd, GenericPointers) {
  for (int which = 0; which < 4; ++which) {
    Device d;
    std::vector<int> in(16);
    for (int i = 0; i < 16; ++i) in[i] = 3 * i - 7;
    const DevicePtr pi = d.upload(in), po = d.allocate(128 * 4);
    d.fill(po, 0, 128 * 4);
    d.launch(d.module, "generic", {1}, {64}, 0, KernelArgs(pi, po, which));
    const auto out = d.download<int>(po, 128);
    for (int t = 0; t < 64; ++t) {
      int local[16];
      for (int k = 0; k < 16; ++k) local[k] = in[k] * t;
      int value;
      if (which == 0)
        value = (t ^ 1) * (t ^ 1) + 1;
      else if (which == 1)
        value = ++local[t & 15];
      else if (which == 3 && (t & 1))
        value = ++local[3];
      else
        value = 1;
      ASSERT_EQ(out[t], value + local[(t + 5) & 15]) << which << ": " << t;
    }
    validate(d.take_recording(""));
  }
}

TEST(EndToEnd, BlocksThatWaitForLaterBlocks) {
  Device d;
  constexpr int blocks = 100;
  const DevicePtr flags = d.allocate(blocks * 4), out = d.allocate(blocks * 4);
  d.fill(flags, 0, blocks * 4);
  d.launch(d.module, "reversed_chain", {blocks}, {64}, 0, KernelArgs(flags, out));
  const auto v = d.download<int>(out, blocks);
  for (int b = 0; b < blocks; ++b) EXPECT_EQ(v[b], blocks - b);
  const Recording r = d.take_recording("");
  EXPECT_EQ(r.launches[0].blocks_recorded, 100u);
  validate(r);
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(EndToEnd, EndlessSpinIsReported) {
  Device d;
  const DevicePtr flag = d.allocate(4);
  const std::string message =
      error_of([&] { d.launch(d.module, "spin_forever", {2}, {32}, 0, KernelArgs(flag)); });
  EXPECT_NE(message.find("deadlock in kernel spin_forever"), std::string::npos) << message;
}

TEST(EndToEnd, MemoryErrors) {
  Device d;
  const DevicePtr p = d.allocate(400, "the array");
  std::string m =
      error_of([&] { d.launch(d.module, "out_of_bounds", {1}, {64}, 0, KernelArgs(p, 60)); });
  EXPECT_NE(m.find("invalid __global__ write of size 4 bytes in kernel out_of_bounds"),
            std::string::npos)
      << m;
  EXPECT_NE(m.find("basic.ptx:"), std::string::npos) << m;
  EXPECT_NE(m.find("basic.cu:"), std::string::npos) << m;
  EXPECT_NE(m.find("thread (40,0,0) of block (0,0,0)"), std::string::npos) << m;
  EXPECT_NE(m.find("1 bytes after the nearest allocation 'the array' of 400 bytes"),
            std::string::npos)
      << m;
  m = error_of([&] { d.launch(d.module, "out_of_bounds", {1}, {32}, 0, KernelArgs(p, -1)); });
  EXPECT_NE(m.find("4 bytes before the nearest allocation 'the array'"), std::string::npos) << m;
  m = error_of([&] { d.launch(d.module, "misaligned", {1}, {32}, 0, KernelArgs(p)); });
  EXPECT_NE(m.find("misaligned __global__ write of size 4"), std::string::npos) << m;
  m = error_of([&] { d.launch(d.module, "shared_bounds", {1}, {32}, 64, KernelArgs(p, 16)); });
  EXPECT_NE(m.find("invalid __shared__ write of size 4"), std::string::npos) << m;
  EXPECT_NE(m.find("the window has 64 bytes"), std::string::npos) << m;
  d.launch(d.module, "shared_bounds", {1}, {32}, 64, KernelArgs(p, 15));
}

}  // namespace
}  // namespace nearwarp::runtime
