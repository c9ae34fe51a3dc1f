// Are fat binaries read as nvcc makes them, and damaged ones refused?
#include "host/functional/cudart/fat_binary.h"

#include <cstring>
#include <random>

#include "host/core/error.h"
#include "host/functional/cudart/device_spec.h"
#include "tests/cudart/library.h"

namespace nearwarp::cudart {
namespace {

const std::vector<std::pair<std::string, uint32_t>> kThree = {
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
    EXPECT_EQ(chosen(70), "ptx of 75") << "the lowest above";
  }
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
    const std::vector<char> whole = make_container(kThree, packing);
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
  for (const char* wrong : {"sms", "sms=", "sms=x", "sms=0", "shms=4", "clock_mhz=-1"})
    EXPECT_THROW(parse_device(wrong), Error) << wrong;
}

}  // namespace
}  // namespace nearwarp::cudart
