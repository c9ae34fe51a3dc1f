// Does ArenaBuilder align and zero bytes, and do references survive growth and copying?
#include "device/core/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace nearwarp {
namespace {

struct Padded {
  uint8_t a = 3;
  uint64_t b = 5;
};

TEST(ArenaBuilder, ObjectsAreAlignedAndInitialised) {
  ArenaBuilder arena;
  const Ref<uint8_t> bytes = arena.allocate<uint8_t>(3);
  const Ref<Padded> padded = arena.allocate<Padded>(10);
  const Ref<uint64_t> words = arena.allocate<uint64_t>(1);
  EXPECT_EQ(bytes.offset % 64, 0u);
  EXPECT_EQ(padded.offset % 64, 0u);
  EXPECT_EQ(words.offset % 64, 0u);
  EXPECT_EQ(padded.count, 10u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.base()) % 64, 0u);
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(arena.get(padded)[i].a, 3);
    EXPECT_EQ(arena.get(padded)[i].b, 5u);
  }
  EXPECT_EQ(*arena.get(words), 0u);
  EXPECT_EQ(arena.size_bytes(), 64u + 192 + 64);
}

TEST(ArenaBuilder, NothingTakesNothing) {
  ArenaBuilder arena;
  const Ref<uint32_t> none = arena.allocate<uint32_t>(0);
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(arena.size_bytes(), 0u);
}

TEST(ArenaBuilder, ReferencesSurviveGrowthAndCopies) {
  ArenaBuilder arena;
  const Ref<uint32_t> numbers = arena.allocate<uint32_t>(100);
  for (uint32_t i = 0; i < 100; ++i) arena.get(numbers)[i] = i * i;
  arena.allocate<uint64_t>(100'000);
  for (uint32_t i = 0; i < 100; ++i) ASSERT_EQ(arena.get(numbers)[i], i * i);
  std::vector<std::byte> copy(arena.base(), arena.base() + arena.size_bytes());
  for (uint32_t i = 0; i < 100; ++i) ASSERT_EQ(numbers.in(copy.data())[i], i * i);
}

TEST(ArenaBuilder, GrowsFarAndMoves) {
  ArenaBuilder arena;
  const Ref<uint32_t> numbers = arena.allocate<uint32_t>(1000);
  const auto are_there = [&](ArenaBuilder& a) {
    for (uint32_t i = 0; i < 1000; ++i)
      if (a.get(numbers)[i] != i * i) return false;
    return true;
  };
  for (uint32_t i = 0; i < 1000; ++i) arena.get(numbers)[i] = i * i;
  for (const uint32_t mebibytes : {3, 24, 70}) {
    const Ref<uint64_t> more = arena.allocate<uint64_t>(mebibytes << 17);
    EXPECT_TRUE(are_there(arena));
    uint64_t* words = arena.get(more);
    uint64_t any = 0;
    for (uint32_t i = 0; i < more.count; ++i) any |= words[i];
    EXPECT_EQ(any, 0u);
    words[0] = words[more.count - 1] = ~uint64_t{0};
  }
  const std::size_t bytes = arena.size_bytes();
  ArenaBuilder moved = std::move(arena);
  EXPECT_TRUE(are_there(moved));
  ArenaBuilder assigned;
  assigned.allocate<uint32_t>(7);
  assigned = std::move(moved);
  EXPECT_TRUE(are_there(assigned));
  EXPECT_EQ(assigned.size_bytes(), bytes);
}

TEST(ArenaBuilder, EqualLayoutsHaveEqualBytes) {
  ArenaBuilder a, b;
  for (ArenaBuilder* arena : {&a, &b}) {
    arena->allocate<uint16_t>(5);
    arena->allocate<uint32_t>(77);
  }
  ASSERT_EQ(a.size_bytes(), b.size_bytes());
  EXPECT_EQ(std::memcmp(a.base(), b.base(), a.size_bytes()), 0);
}

TEST(ArenaBuilder, RefusesMoreThanOffsetsReach) {
  ArenaBuilder arena;
  EXPECT_THROW(arena.allocate<uint64_t>(0x20000000u), std::length_error);
  EXPECT_EQ(arena.size_bytes(), 0u);
}

}  // namespace
}  // namespace nearwarp
