// Are fat binaries read as nvcc makes them, and damaged ones refused?
#include "host/functional/cudart/code/fat_binary.h"

#include <cstring>
#include <random>

#include "host/core/error.h"
#include "host/functional/cudart/device_spec.h"
#include "tests/cudart/library.h"

namespace nearwarp::cudart {
namespace {

const std::vector<EntryOf> kThree = {
    {"ptx of 75", 75}, {"ptx of 80, and longer", 80}, {"ptx of 120", 120}};

TEST(FatBinary, HighestArchitectureThatTheDeviceClaims) {
  for (const Packing packing : {Packing::kPlain, Packing::kLz4, Packing::kZstd}) {
    const std::vector<char> data = make_container(kThree, packing);
    const auto chosen = [&](uint32_t architecture) {
      const FatBinary fat = read_fat_container(data.data(), data.size(), architecture);
      EXPECT_EQ(fat.images.size(), 1u);
      return fat.images.at(0).text;
    };
    EXPECT_EQ(chosen(75), "ptx of 75");
    EXPECT_EQ(chosen(90), "ptx of 80, and longer");
    EXPECT_EQ(chosen(120), "ptx of 120");
    const FatBinary none = read_fat_container(data.data(), data.size(), 70);
    EXPECT_TRUE(none.images.empty()) << "all are newer";
    ASSERT_EQ(none.unsuitable.size(), 1u);
    EXPECT_EQ(none.unsuitable[0].text, "ptx of 75");
    EXPECT_EQ(none.unsuitable[0].offered, (std::vector<CodeTarget>{{75}, {80}, {120}}));
  }
}

TEST(FatBinary, CodeOfOneDeviceOrFamilyGoesFirstWhereItApplies) {
  const std::vector<char> data = make_container({{"90", 90},
                                                 {"90a", 90, 'a'},
                                                 {"100f", 100, 'f'},
                                                 {"100", 100},
                                                 {"100a", 100, 'a'},
                                                 {"75", 75}},
                                                Packing::kZstd);
  const auto chosen = [&](uint32_t capability) {
    const FatBinary fat = read_fat_container(data.data(), data.size(), capability);
    EXPECT_EQ(fat.images.at(0).offered.size(), 6u);
    EXPECT_EQ(fat.images.at(0).target.name(), "sm_" + fat.images.at(0).text);
    return fat.images.at(0).text;
  };
  EXPECT_EQ(chosen(80), "75");
  EXPECT_EQ(chosen(90), "90a");
  EXPECT_EQ(chosen(100), "100a");
  EXPECT_EQ(chosen(103), "100f") << "of the family, but not 10.0";
  EXPECT_EQ(chosen(110), "100") << "another family";
  const std::vector<char> alone = make_container({{"90a", 90, 'a'}}, Packing::kPlain);
  const FatBinary none = read_fat_container(alone.data(), alone.size(), 100);
  EXPECT_TRUE(none.images.empty()) << "it is for 9.0 alone";
  ASSERT_EQ(none.unsuitable.size(), 1u);
  EXPECT_EQ(none.unsuitable[0].target.name(), "sm_90a");
}

TEST(FatBinary, WhatAGpuWouldExecuteOfTheMachineCode) {
  const auto native = [](const std::vector<EntryOf>& code) {
    const std::vector<char> data = make_container({{"ptx", 75}}, Packing::kPlain, code);
    const FatBinary fat = read_fat_container(data.data(), data.size(), 90);
    return fat.native.has_value() ? fat.native->name() : std::string("none");
  };
  EXPECT_EQ(native({{"code", 75}, {"code", 80}}), "none") << "machine code of other majors";
  EXPECT_EQ(native({{"code", 75}, {"code", 90}}), "sm_90");
  EXPECT_EQ(native({{"code", 90, 'a'}, {"code", 90}}), "sm_90a");
}

TEST(CodeTarget, NamesAndBack) {
  for (const char* name : {"sm_75", "sm_90a", "sm_103f"})
    EXPECT_EQ(parse_target(name).value().name(), name);
  for (const char* wrong : {"", "sm_", "sm_90x", "compute_90", "sm_99999999999"})
    EXPECT_FALSE(parse_target(wrong).has_value()) << wrong;
}

TEST(FatBinary, WrappersOfBothVersions) {
  const std::vector<char> a = make_container({{"first", 75}}, Packing::kPlain);
  const std::vector<char> b = make_container({{"second", 75}}, Packing::kZstd);
  FatWrapper plain{.container = a.data()};
  EXPECT_EQ(read_fat_wrapper(&plain, 90).images.at(0).text, "first");
  const void* list[] = {a.data(), b.data(), nullptr};
  FatWrapper linked{.version = 2, .container = a.data(), .more = list};
  const FatBinary fat = read_fat_wrapper(&linked, 90);
  ASSERT_EQ(fat.images.size(), 2u);
  EXPECT_EQ(fat.images[1].text, "second");
}

TEST(FatBinary, MachineCodeIsThatOfThePtxElseAsThePtxIsChosen) {
  for (const Packing packing : {Packing::kPlain, Packing::kLz4, Packing::kZstd}) {
    const auto chosen = [&](const std::vector<EntryOf>& ptx, const std::vector<EntryOf>& code) {
      const std::vector<char> data = make_container(ptx, packing, code);
      const FatBinary fat = read_fat_container(data.data(), data.size(), 90);
      EXPECT_EQ(fat.images.size(), ptx.empty() ? 0u : 1u);
      if (!fat.machine_code.has_value()) return std::string("none");
      EXPECT_EQ(fat.machine_code->problem, "");
      EXPECT_EQ(fat.machine_code->elf.substr(0, 7), "code of") << "with padding behind it";
      return std::to_string(fat.machine_code->architecture);
    };
    const EntryOf c60{"code of 60", 60}, c75{"code of 75", 75}, c90{"code of 90", 90};
    const EntryOf c120{"code of 120", 120};
    EXPECT_EQ(chosen({{"ptx", 75}}, {}), "none");
    EXPECT_EQ(chosen({{"ptx", 75}}, {c90, c75, c120}), "75") << "what is executed";
    EXPECT_EQ(chosen({{"ptx", 80}}, {c60, c75, c120}), "75") << "the highest up to the device's";
    EXPECT_EQ(chosen({{"ptx", 75}}, {c120}), "120") << "the lowest above";
    EXPECT_EQ(chosen({}, {c75}), "75");
  }
}

TEST(FatBinary, MachineCodeOfSeveralUnitsIsWhatTheLinkerMade) {
  const EntryOf unlinked{"unlinked", 75};
  const std::vector<char> a = make_container({{"first", 75}}, Packing::kZstd, {unlinked});
  const std::vector<char> b = make_container({{"second", 75}}, Packing::kZstd, {unlinked});
  std::vector<char> all = make_container({}, Packing::kPlain, {{"of sm_90", 90}, {"linked!!", 75}});
  const void* list[] = {a.data(), b.data(), nullptr};
  const FatWrapper wrapper{.version = 2, .container = all.data(), .more = list};
  const FatBinary fat = read_fat_wrapper(&wrapper, 90);
  EXPECT_EQ(fat.images.size(), 2u);
  ASSERT_TRUE(fat.machine_code.has_value());
  EXPECT_EQ(fat.machine_code->elf, "linked!!");
  all[0] = 'x';
  const FatBinary without = read_fat_wrapper(&wrapper, 90);
  EXPECT_EQ(without.images.size(), 2u) << "it runs all the same";
  ASSERT_TRUE(without.machine_code.has_value());
  EXPECT_NE(without.machine_code->problem.find("damaged fat binary"), std::string::npos);
}

TEST(FatBinary, DamagedMachineCodeLeavesThePtx) {
  std::vector<char> data =
      make_container({{"ptx", 75}}, Packing::kZstd, {{std::string(1000, 'x'), 75}});
  for (size_t i = data.size() - 8; i < data.size(); ++i) data[i] = 'x';
  const FatBinary fat = read_fat_container(data.data(), data.size(), 90);
  EXPECT_EQ(fat.images.at(0).text, "ptx");
  ASSERT_TRUE(fat.machine_code.has_value());
  EXPECT_EQ(fat.machine_code->elf, "");
  EXPECT_NE(fat.machine_code->problem.find("machine code cannot be decompressed (zstd)"),
            std::string::npos)
      << fat.machine_code->problem;
}

TEST(FatBinary, AnEmptyContainerIsLegal) {
  const std::vector<char> data = make_container({}, Packing::kPlain);
  EXPECT_TRUE(read_fat_container(data.data(), data.size(), 90).images.empty());
}

TEST(FatBinary, DamageIsAnErrorNeverMore) {
  FatWrapper wrong{.magic = 1};
  EXPECT_THROW(read_fat_wrapper(&wrong, 90), Error);
  EXPECT_THROW(read_fat_wrapper(nullptr, 90), Error);
  std::mt19937 random(1);
  for (const Packing packing : {Packing::kPlain, Packing::kLz4, Packing::kZstd}) {
    const std::vector<char> whole = make_container(kThree, packing, {{"machine code", 75}});
    for (size_t n = 0; n < whole.size(); ++n) {
      const std::vector<char> part(whole.begin(), whole.begin() + static_cast<long>(n));
      EXPECT_THROW(read_fat_container(part.data(), part.size(), 90), Error) << n;
    }
    for (int i = 0; i < 3000; ++i) {
      std::vector<char> changed = whole;
      for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
      try {
        read_fat_container(changed.data(), changed.size(), 90);
      } catch (const Error&) {
      } catch (const std::bad_alloc&) {
      }
    }
  }
}

TEST(DeviceSpec, VisibleDevicesAreReadUpToTheFirstThatIsNone) {
  const auto is_visible = [](const char* names) { return !visible_devices(names, 1).empty(); };
  EXPECT_TRUE(is_visible(nullptr)) << "not set";
  for (const char* shown :
       {"0", " 0 ", "0x", "0,1", "0,-1", "GPU-6e656172", "GPU-6e656172-7761-7270-2d67"})
    EXPECT_TRUE(is_visible(shown)) << shown;
  for (const char* hidden : {"", "-1", "1", "1,0", "-1,0", "0,0", "GPU-", "GPU-7e", "MIG-0", "all"})
    EXPECT_FALSE(is_visible(hidden)) << hidden;

  using Devices = std::vector<uint32_t>;
  EXPECT_EQ(visible_devices(nullptr, 3), (Devices{0, 1, 2}));
  EXPECT_EQ(visible_devices("2, 0", 3), (Devices{2, 0}));
  EXPECT_EQ(visible_devices("1,7,0", 3), (Devices{1}));
  EXPECT_EQ(visible_devices("1,0,1", 3), Devices{}) << "one may be named once";
  EXPECT_EQ(visible_devices("1gpu2,2x", 3), (Devices{1, 2})) << "numbers end with their digits";
  EXPECT_EQ(visible_devices("GPU-6e656172-7761-7270-2d67-70752d303032", 3), (Devices{2}));
}

TEST(DeviceSpec, TextAndBack) {
  DeviceSpec spec;
  spec.name = "mine";
  spec.sms = 3;
  spec.memory_bytes = uint64_t{1} << 35;
  const DeviceSpec back = parse_device(format_device(spec));
  EXPECT_EQ(back.name, "mine");
  EXPECT_EQ(back.sms, 3u);
  EXPECT_EQ(back.memory_bytes, uint64_t{1} << 35);
  EXPECT_EQ(back.clock_mhz, DeviceSpec{}.clock_mhz);
  for (const char* wrong :
       {"sms", "sms=", "sms=x", "sms=0", "sms=4294967297", "shms=4", "clock_mhz=-1"})
    EXPECT_THROW(parse_device(wrong), Error) << wrong;
}

}  // namespace
}  // namespace nearwarp::cudart
