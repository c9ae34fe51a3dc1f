// Do sets of warp slots, of one word and of several, behave like std::set?
#include "device/core/warp_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace nearwarp {
namespace {

template <class S>
std::vector<uint32_t> numbers(const S& s) {
  std::vector<uint32_t> n;
  s.each([&](uint32_t i) { n.push_back(i); });
  return n;
}
std::vector<uint32_t> numbers(const std::set<uint32_t>& s) { return {s.begin(), s.end()}; }

template <class T>
class WarpSets : public ::testing::Test {};
using Sizes = ::testing::Types<WarpSet<1>, WarpSet<2>, WarpSet<4>>;
TYPED_TEST_SUITE(WarpSets, Sizes);

TYPED_TEST(WarpSets, SizesAndEnds) {
  using S = TypeParam;
  static_assert(sizeof(S) == S::kCapacity / 8);
  EXPECT_FALSE(S{}.any());
  EXPECT_EQ(S::lowest(0), S{});
  for (uint32_t i = 0; i < S::kCapacity; ++i) {
    const S one = S::of(i);
    EXPECT_TRUE(one.any());
    EXPECT_EQ(one.first(), i);
    EXPECT_EQ(numbers(one), std::vector<uint32_t>{i});
    EXPECT_EQ(numbers(S::lowest(i + 1)).size(), i + 1);
    EXPECT_EQ(numbers(S::lowest(i + 1)).back(), i);
    EXPECT_EQ(S::lowest(i + 1) - S::lowest(i), one);
  }
}

TYPED_TEST(WarpSets, EveryNthNumber) {
  using S = TypeParam;
  for (uint32_t step = 1; step <= 64; ++step) {
    for (uint32_t first = 0; first < step; ++first) {
      S expected;
      for (uint32_t i = first; i < S::kCapacity; i += step) expected.set(i);
      EXPECT_EQ(S::every(step, first), expected) << step << " " << first;
    }
  }
}

TYPED_TEST(WarpSets, LikeStdSet) {
  using S = TypeParam;
  std::mt19937 random(7);
  S a, b;
  std::set<uint32_t> x, y;
  for (int step = 0; step < 4000; ++step) {
    const uint32_t i = random() % S::kCapacity;
    switch (random() % 8) {
      case 0:
      case 1:
        a.set(i);
        x.insert(i);
        break;
      case 2:
      case 3:
        b.set(i);
        y.insert(i);
        break;
      case 4:
        a.clear(i);
        x.erase(i);
        break;
      case 5:
        b.clear(i);
        y.erase(i);
        break;
      case 6:
        if (y.empty()) break;
        EXPECT_EQ(b.first(), *y.begin());
        EXPECT_EQ(b.take_first(), *y.begin());
        y.erase(y.begin());
        break;
      default: {
        std::set<uint32_t> both, either = x, only = x;
        for (const uint32_t n : y) {
          if (x.count(n) != 0) both.insert(n);
          either.insert(n);
          only.erase(n);
        }
        EXPECT_EQ(numbers(a & b), numbers(both));
        EXPECT_EQ(numbers(a | b), numbers(either));
        EXPECT_EQ(numbers(a - b), numbers(only));
        break;
      }
    }
    ASSERT_EQ(numbers(a), numbers(x));
    ASSERT_EQ(numbers(b), numbers(y));
    EXPECT_EQ(a.any(), !x.empty());
    EXPECT_EQ(a.test(i), x.count(i) != 0);
    EXPECT_EQ(a == b, x == y);
  }
}

TYPED_TEST(WarpSets, EachVisitsTheSetAsItWas) {
  using S = TypeParam;
  S s = S::lowest(S::kCapacity);
  uint32_t visited = 0;
  s.each([&](uint32_t i) {
    s.clear(S::kCapacity - 1 - i);
    visited += 1;
  });
  EXPECT_EQ(visited, S::kCapacity);
  EXPECT_FALSE(s.any());
}

}  // namespace
}  // namespace nearwarp
