// Does an executor on the CPU find those components that are due, and when the others are?
#include "kernels/due_ticks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace nearwarp::kernels {
namespace {

/// Components without channels: due when they wake, or always.
struct Sleepers {
  std::mt19937 random{5};
  std::vector<Component> components;
  DueTicks due;
  std::vector<std::vector<uint32_t>> groups;

  explicit Sleepers(std::vector<uint32_t> sizes) {
    for (const uint32_t size : sizes) {
      std::vector<uint32_t> numbers;
      for (uint32_t i = 0; i < size; ++i) {
        numbers.push_back(static_cast<uint32_t>(components.size()));
        components.emplace_back();
        put_to_sleep(components.back(), 0);
      }
      groups.push_back(due.add(numbers));
    }
  }
  /// As a step does that ends at `end`.
  void put_to_sleep(Component& c, Tick end) {
    c.poll = random() % 16 == 0;
    c.wake = random() % 4 == 0 ? kNever : end + random() % 40;
  }
  /// Find those of a group that are due before `end`; both answers have to be a plain loop's.
  template <bool kExact>
  std::vector<uint32_t> find(const DueView& view, const std::vector<uint32_t>& places, Tick end) {
    std::vector<uint32_t> expected;
    Tick first_other = kNever, next = kNever;
    for (const uint32_t at : places) {
      const Component& c = components[view.component[at]];
      if (c.poll || c.wake < end) {
        expected.push_back(at);
      } else {
        first_other = std::min(first_other, c.wake);
      }
    }
    const auto found = find_due<kExact>(components.data(), view, places, nullptr, end, next);
    EXPECT_EQ(std::vector<uint32_t>(found.begin(), found.end()), expected);
    EXPECT_EQ(next, first_other);
    for (const uint32_t at : expected) {
      const Component& c = components[view.component[at]];
      const Tick exact = c.poll ? 0 : c.wake;
      EXPECT_LE(view.due[at], exact);
      if (kExact) {
        EXPECT_EQ(view.due[at], exact);
      }
    }
    return expected;
  }
};

template <bool kExact>
void run_windows(bool in_order) {
  Sleepers s({9, 16, 3, 1});
  Tick end = 0;
  size_t steps = 0;
  for (int window = 0; window < 500; ++window) {
    end += 1 + s.random() % 9;
    const DueView view = s.due.begin_window(in_order);
    for (std::vector<uint32_t>& places : s.groups) {
      if (!in_order) std::ranges::shuffle(places, s.random);
      const std::vector<uint32_t> found = s.template find<kExact>(view, places, end);
      steps += found.size();
      for (const uint32_t at : found) {
        s.put_to_sleep(s.components[view.component[at]], end);
        view.sent_to[at] = kSentTo;
      }
      // Another component wakes a few, and marks them.
      const uint32_t other = places[s.random() % places.size()];
      Component& c = s.components[view.component[other]];
      c.wake = std::min(c.wake, end + s.random() % 20);
      view.sent_to[other] = kSentTo;
    }
  }
  EXPECT_GT(steps, 500u);
}

TEST(DueTicks, OfBlocksAreThoseOfAPlainLoop) {
  run_windows<false>(true);
  run_windows<true>(true);
}
TEST(DueTicks, InAnyOrderAreThoseOfAPlainLoop) {
  run_windows<false>(false);
  run_windows<true>(false);
}

TEST(DueTicks, OfNobodyAreNone) {
  Sleepers s({4});
  Tick next = 7;
  EXPECT_TRUE(find_due<true>(s.components.data(), s.due.begin_window(true), {}, nullptr, 100, next)
                  .empty());
  EXPECT_EQ(next, 7u);
}

}  // namespace
}  // namespace nearwarp::kernels
