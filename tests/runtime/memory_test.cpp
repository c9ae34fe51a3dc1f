// Are the device memory's addresses, allocation table, copies and errors right?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/exec/cpu_check.h"

namespace nearwarp::runtime {
namespace {

TEST(DeviceMemory, AddressesAreTheSameOnEveryRun) {
  std::vector<DevicePtr> first;
  for (int run = 0; run < 2; ++run) {
    VirtualDevice d;
    std::vector<DevicePtr> p;
    for (const uint64_t bytes : {1ull, 511ull, 513ull, 4ull << 20, 100ull})
      p.push_back(d.allocate(bytes, "x"));
    for (size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(p[i] % 512, 0u);
      EXPECT_GE(p[i], 0x7f2d'0000'0000u);
      EXPECT_LT(p[i], uint64_t{1} << 47);
    }
    EXPECT_EQ(p[3] % (2 << 20), 0u);
    if (run == 0) first = p;
    EXPECT_EQ(p, first);
    ASSERT_EQ(d.allocation_table().size(), 5u);
    EXPECT_EQ(d.allocation_table()[1].bytes, 511u);
    EXPECT_EQ(d.allocation_table()[1].label, "x");
  }
}

TEST(DeviceMemory, FreedMemoryIsReusedAndZeroed) {
  VirtualDevice d;
  const DevicePtr a = d.allocate(100'000), b = d.allocate(100'000), c = d.allocate(100'000);
  d.fill(b, 0xab, 100'000);
  d.free(b);
  EXPECT_EQ(d.allocate(100'000), b);
  for (const uint8_t v : d.download<uint8_t>(b, 100'000)) ASSERT_EQ(v, 0);
  d.free(a);
  d.free(b);
  d.free(c);
  EXPECT_EQ(d.allocate(250'000), a) << "neighbouring free ranges join";
  EXPECT_THROW(d.free(b), Error);
  EXPECT_THROW(d.free(a + 512), Error);
  EXPECT_EQ(d.allocation_table().size(), 5u);
}

TEST(DeviceMemory, FreedMemoryIsNotInUse) {
  VirtualDevice::Options options;
  options.memory_bytes = uint64_t{64} << 20;
  VirtualDevice d(options);
  const uint64_t part = uint64_t{16} << 20;
  const DevicePtr a = d.allocate(part);
  d.allocate(part);
  const DevicePtr c = d.allocate(part);
  d.free(a);
  d.free(c);
  try {
    d.allocate(3 * part);
    FAIL() << "more than there is in one piece";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("16777216 of 67108864 bytes are in use, and the others lie apart"),
              std::string::npos)
        << error.what();
  }
}

TEST(DeviceMemory, CopiesStayInsideOneAllocation) {
  VirtualDevice d;
  const DevicePtr a = d.upload(std::vector<int>{1, 2, 3, 4}, "a"), b = d.allocate(16, "b");
  d.copy_on_device(b, a, 16);
  EXPECT_EQ(d.download<int>(b, 4), (std::vector<int>{1, 2, 3, 4}));
  d.copy_on_device(b + 4, b, 12);  // overlapping
  EXPECT_EQ(d.download<int>(b, 4), (std::vector<int>{1, 1, 2, 3}));
  int buffer[8] = {};
  EXPECT_THROW(d.copy_to_device(a, buffer, 17), Error);
  EXPECT_THROW(d.copy_to_host(buffer, a - 1, 4), Error);
  EXPECT_THROW(d.copy_on_device(a + 8, b, 12), Error);
  EXPECT_THROW(d.fill(0, 0, 4), Error);
  try {
    d.fill(b + 12, 0, 8);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("ends 4 bytes beyond the allocation 'b' of 16 bytes"),
              std::string::npos)
        << e.what();
  }
}

TEST(DeviceMemory, ExhaustionIsAnError) {
  VirtualDevice::Options o;
  o.memory_bytes = 64 << 20;
  VirtualDevice d(o);
  d.allocate(32 << 20);
  EXPECT_THROW(d.allocate(40 << 20), Error);
  EXPECT_THROW(d.allocate(~uint64_t{0}), Error);
  EXPECT_NO_THROW(d.allocate(8 << 20));
}

TEST(DeviceMemory, VariablesGoWithTheirModule) {
  const auto program = std::make_shared<compiler::Program>(compiler::compile_ptx(
      ".version 7.5\n.target sm_75\n.address_size 64\n"
      ".visible .global .align 4 .b8 big[100000];\n.visible .global .align 4 .u32 seven = 7;\n",
      "variables.ptx"));
  VirtualDevice d;
  const uint32_t stays = d.load_module(program);
  const uint64_t used = d.used_memory_bytes();
  const uint32_t goes = d.load_module(program);
  EXPECT_GE(d.used_memory_bytes(), used + 100000);
  d.unload_module(goes);
  EXPECT_EQ(d.used_memory_bytes(), used);
  EXPECT_THROW(d.symbol(goes, "seven"), Error);
  d.fill(d.symbol(stays, "seven"), 0, 4);
  d.reset_modules();  // those that are there
  EXPECT_EQ(d.download<uint32_t>(d.symbol(stays, "seven"), 1)[0], 7u);
}

TEST(DeviceMemory, VariablesWithoutRoomForAllAreNotKept) {
  const auto program = std::make_shared<compiler::Program>(
      compiler::compile_ptx(".version 7.5\n.target sm_75\n.address_size 64\n"
                            ".visible .global .align 4 .b8 first[33554432];\n"
                            ".visible .global .align 4 .b8 second[50331648];\n",
                            "large.ptx"));
  VirtualDevice::Options o;
  o.memory_bytes = 64 << 20;
  VirtualDevice d(o);
  const uint64_t used = d.used_memory_bytes();
  EXPECT_THROW(d.load_module(program), Error);
  EXPECT_EQ(d.used_memory_bytes(), used);
  EXPECT_THROW(d.symbol(0, "first"), Error);
}

TEST(Cpu, RunsItsOwnTests) {
  EXPECT_TRUE(cpu_supports_build());
  EXPECT_NE(cpu_requirement().find("AVX2"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::runtime
