// Do fetches by many lanes at once give what each of them gives by itself?
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "host/functional/instructions/decoded.h"
#include "host/functional/instructions/texture.h"

namespace nearwarp::runtime {
namespace {

using Address = TextureDesc::Address;
using Kind = ChannelFormat::Kind;

constexpr uint32_t kSizes[3] = {13, 7, 5};

std::vector<ChannelFormat> formats() {
  std::vector<ChannelFormat> all;
  for (const Kind kind : {Kind::kSigned, Kind::kUnsigned, Kind::kFloat}) {
    for (const uint8_t bits : {uint8_t{8}, uint8_t{16}, uint8_t{32}}) {
      if (kind == Kind::kFloat && bits == 8) continue;
      all.push_back({{bits, 0, 0, 0}, kind});
      all.push_back({{bits, bits, 0, 0}, kind});
      all.push_back({{bits, bits, bits, bits}, kind});
    }
  }
  return all;
}

class Fetches : public ::testing::Test {
 protected:
  std::mt19937 random_{11};
  std::vector<uint8_t> arena_ = std::vector<uint8_t>(1 << 16);

  void SetUp() override {
    for (uint8_t& byte : arena_) byte = static_cast<uint8_t>(random_());
  }

  uint32_t coordinate(bool integers, bool normalized, uint32_t size) {
    const int at = static_cast<int>(random_() % (4 * size)) - static_cast<int>(2 * size);
    if (integers) return static_cast<uint32_t>(at);
    constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(), 3e9f, -3e9f,
                              -std::numeric_limits<float>::infinity(), -0.0f};
    if (random_() % 16 == 0) return std::bit_cast<uint32_t>(kOdd[random_() % std::size(kOdd)]);
    const float x = static_cast<float>(at) + 0.25f * static_cast<float>(random_() % 4);
    return std::bit_cast<uint32_t>(normalized ? x / static_cast<float>(size) : x);
  }

  using Places = std::array<std::array<uint32_t, 32>, 3>;

  void check(const TextureDesc& d, unsigned dimensions, bool integers) {
    Places places = {};
    for (unsigned i = 0; i < dimensions; ++i)
      for (uint32_t& word : places[i])
        word = coordinate(integers, d.normalized_coordinates, kSizes[i]);
    check(d, dimensions, integers, static_cast<uint32_t>(random_()) | 1u, places);
  }
  void check(const TextureDesc& d, unsigned dimensions, bool integers, uint32_t mask,
             const Places& places) {
    std::array<std::array<uint32_t, 32>, 4> results = {};
    std::array<uint64_t, 32> addresses = {};
    TexelLanes lanes;
    lanes.mask = mask;
    lanes.dimensions = dimensions;
    lanes.integers = integers;
    for (size_t i = 0; i < 3; ++i) lanes.coordinates[i] = places[i].data();
    for (size_t i = 0; i < 4; ++i) lanes.out[i] = results[i].data();
    lanes.addresses = addresses.data();
    unfiltered_lanes(d, arena_.data(), lanes);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((lanes.mask >> lane & 1) == 0) {
        EXPECT_EQ(addresses[lane], 0u);
        continue;
      }
      std::array<float, 3> at = {};
      std::array<int64_t, 3> index = {};
      for (unsigned i = 0; i < dimensions; ++i) {
        at[i] = std::bit_cast<float>(places[i][lane]);
        index[i] = static_cast<int32_t>(places[i][lane]);
      }
      const Texel t = integers ? fetch(d, arena_.data(), index, 0, 0)
                               : sample(d, arena_.data(), at, dimensions, 0, 0);
      ASSERT_EQ(addresses[lane], t.address) << at[0] << ' ' << at[1] << ' ' << at[2];
      for (size_t i = 0; i < 4; ++i) ASSERT_EQ(results[i][lane], t.bits[i]);
    }
  }
};

TEST_F(Fetches, AllFormatsAndModes) {
  for (const ChannelFormat& format : formats()) {
    for (const Address mode :
         {Address::kWrap, Address::kClamp, Address::kMirror, Address::kBorder}) {
      for (const bool normalized : {false, true}) {
        for (unsigned dimensions = 1; dimensions <= 3; ++dimensions) {
          TextureDesc d;
          d.format = format;
          d.address = {mode, mode, mode};
          d.normalized_coordinates = normalized;
          d.normalized_float = format.kind != Kind::kFloat && format.bits[0] < 32 && normalized;
          d.border = {0.25f, -1.0f, 3.0f, 0.5f};
          d.levels[0] = {exec::kDeviceBase + 512,        kSizes[0], dimensions > 1 ? kSizes[1] : 1,
                         dimensions > 2 ? kSizes[2] : 1, 0,         0};
          if (dimensions == 2) d.levels[0].pitch_bytes = 256;
          ASSERT_TRUE(is_unfiltered(d));
          check(d, dimensions, false);
          check(d, dimensions, true);
        }
      }
    }
  }
}

// Full warps: one row, a column, two rows, some beyond the edge; images of less and more than 4
// GiB.
TEST_F(Fetches, FullWarps) {
  for (const ChannelFormat& format : formats()) {
    for (const bool integers : {false, true}) {
      for (const bool large : {false, true}) {
        for (const Address mode : {Address::kClamp, Address::kBorder}) {
          TextureDesc d;
          d.format = format;
          d.address = {mode, mode, mode};
          d.levels[0] = {exec::kDeviceBase + 512, 40, 40, 1, 0, 0};
          if (large) d.levels[0].pitch_bytes = uint64_t{1} << 33;
          const auto at = [&](uint32_t i) {
            return integers ? i : std::bit_cast<uint32_t>(static_cast<float>(i) + 0.5f);
          };
          const auto fetch_all = [&](auto&& x, auto&& y) {
            Places places = {};
            for (uint32_t k = 0; k < 32; ++k) {
              places[0][k] = at(x(k));
              places[1][k] = at(large ? 0 : y(k));
            }
            check(d, 2, integers, ~0u, places);
          };
          const auto zero = [](uint32_t) { return 0u; };
          fetch_all([](uint32_t k) { return k + 3; }, zero);
          fetch_all([](uint32_t k) { return k + 20; }, zero);
          fetch_all([](uint32_t k) { return 31 - k; }, zero);
          fetch_all(zero, [](uint32_t k) { return k; });
          fetch_all([](uint32_t k) { return k % 16; }, [](uint32_t k) { return 5 + k / 16; });
          fetch_all([](uint32_t k) { return k == 31 ? 30u : k; }, zero);
        }
      }
    }
  }
}

// Beyond 4 GiB from the first texel; nothing is read, so there need be no memory.
TEST_F(Fetches, AddressesOfLargeImages) {
  TextureDesc d;
  d.format = {{32, 0, 0, 0}, Kind::kFloat};
  d.levels[0] = {exec::kDeviceBase + 512, 40, 40, 1, uint64_t{1} << 30, 0};
  std::array<uint32_t, 32> x = {}, y = {};
  std::array<uint64_t, 32> addresses = {};
  for (uint32_t k = 0; k < 32; ++k) {
    x[k] = 31 - k;
    y[k] = k + 2;
  }
  TexelLanes lanes;
  lanes.mask = ~0u;
  lanes.dimensions = 2;
  lanes.integers = true;
  lanes.coordinates = {x.data(), y.data(), nullptr};
  lanes.addresses = addresses.data();
  unfiltered_lanes(d, arena_.data(), lanes);
  for (uint32_t k = 0; k < 32; ++k)
    EXPECT_EQ(addresses[k], exec::kDeviceBase + 512 + x[k] * 4 + (uint64_t{y[k]} << 30)) << k;
}

TEST_F(Fetches, WhatIsMixedIsNotUnfiltered) {
  TextureDesc d;
  d.filter = TextureDesc::Filter::kLinear;
  EXPECT_FALSE(is_unfiltered(d));
  d.format = {{32, 0, 0, 0}, Kind::kUnsigned};  // integers are never mixed
  EXPECT_TRUE(is_unfiltered(d));
  d.levels.resize(2);
  EXPECT_FALSE(is_unfiltered(d));
}

}  // namespace
}  // namespace nearwarp::runtime
