// Which points of a sweep does an earlier one have, and how many are made to find that out?
#include "host/timing/sweep/shared_points.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/sweep/sweep_rig.h"

namespace nearwarp::testing {
namespace {

using sweep::Plan;

/// Points in common by the ids of all.
std::unordered_set<size_t> by_id(const Plan& plan, const Plan& earlier) {
  std::set<std::string> ids;
  for (const sweep::Point& point : earlier.points) ids.insert(point.id);
  std::unordered_set<size_t> found;
  for (const sweep::Point& point : plan.points)
    if (ids.contains(point.id)) found.insert(point.index);
  return found;
}

size_t found_in(const sweep::Definition& later, const sweep::Definition& earlier) {
  const Plan first = sweep::expand(earlier), second = sweep::expand(later);
  const Plan* const both[] = {&first, &second};
  const auto found = sweep::points_of_earlier(both);
  EXPECT_TRUE(found[0].empty());
  EXPECT_EQ(found[1], by_id(second, first));
  return found[1].size();
}

TEST(SharedPoints, AreThoseWithTheSameValues) {
  EXPECT_EQ(found_in(definition({"sm.warps=16,24"}), definition({"sm.warps=8,16"})), 2u);
  EXPECT_EQ(found_in(definition({"sm.warps=16"}), definition({"sm.warps=8"})), 0u);
  // The machine by itself has 48 warps.
  EXPECT_EQ(found_in(definition({"sm.warps=16,48"}), definition()), 2u);
  EXPECT_EQ(found_in(definition(), definition({"sm.warps=16,48"})), 2u);
  EXPECT_EQ(found_in(definition({"sm.warps=16,48", "l1.ways=2,4"}), definition({"l1.ways=4"})), 2u);
  EXPECT_EQ(found_in(definition(), definition({"sm.warps=16,24"})), 0u);
  EXPECT_EQ(found_in(definition({"l1.bytes=32_768,16384"}), definition({"l1.bytes=16_384"})), 2u);
  // Where control is not set it is on, but a value of no effect is another point all the same.
  EXPECT_EQ(found_in(definition({"offload.dynamic_control=true,false"}), definition()), 1u);
}

TEST(SharedPoints, AreOfTheSameProgramMachineAndPolicy) {
  EXPECT_EQ(found_in(definition({}, {"beta", "alpha"}), definition({}, {"alpha", "gamma"})), 2u);
  EXPECT_EQ(found_in(definition({}, {"beta"}), definition({}, {"alpha"})), 0u);
  EXPECT_EQ(found_in(definition({}, {"alpha"}, {"tom", "baseline"}), definition()), 1u);
  sweep::Definition other = definition();
  other.machines = {"bench80"};
  EXPECT_EQ(found_in(other, definition()), 0u);
}

TEST(SharedPoints, FewAreMadeToFindThem) {
  std::string cycles = "run.max_cycles=1000", latency = "l1.hit_latency_cycles=20";
  for (int i = 1; i < 300; ++i) {
    cycles += "," + std::to_string(1000 + i);
    latency += "," + std::to_string(20 + i);
  }
  const Plan small = sweep::expand(definition());
  const Plan first = sweep::expand(definition({cycles, "sm.warps=8,16"}));
  const Plan second = sweep::expand(definition({latency, "sm.warps=16,24"}));
  const Plan* const all[] = {&small, &first, &second};
  const size_t before = first.points.made() + second.points.made();
  for (const auto& found : sweep::points_of_earlier(all)) EXPECT_TRUE(found.empty());
  EXPECT_EQ(first.points.made() + second.points.made(), before);
}

}  // namespace
}  // namespace nearwarp::testing
