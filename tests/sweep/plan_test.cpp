// Is a sweep the cross product of what varies, in its documented order, with ids that tell points
// apart by what determines their results?
#include "host/timing/sweep/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "host/core/error.h"
#include "host/mechanisms/tom/settings.h"
#include "host/timing/sweep/point_costs.h"
#include "tests/sweep/sweep_rig.h"

namespace nearwarp::testing {
namespace {

using sweep::Axis;
using sweep::Plan;
using sweep::Point;

std::vector<std::string> given(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Axis::Value& value : axis.values) texts.push_back(value.given);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Axis, ValuesAreSeparatedByCommasOutsideOfQuotes) {
  const Axis numbers = sweep::parse_axis("sm.warps=16, 32,6_4");
  EXPECT_EQ(numbers.key, "sm.warps");
  EXPECT_TRUE(numbers.of_machine);
  EXPECT_FALSE(numbers.of_policy);
  EXPECT_EQ(given(numbers), (Texts{"16", "32", "6_4"}));
}

TEST(Axis, KnowsHowValuesAreWrittenInToml) {
  const Axis numbers = sweep::parse_axis("l1.bytes=16_384,032768");
  EXPECT_EQ(numbers.values[0].toml, "16384");
  EXPECT_EQ(numbers.values[1].toml, "32768");
  const Axis texts = sweep::parse_axis("machine.description=\"a, b\",c");
  EXPECT_EQ(given(texts), (Texts{"\"a, b\"", "c"}));
  EXPECT_EQ(texts.values[0].toml, "\"a, b\"");
  EXPECT_EQ(texts.values[1].toml, "\"c\"");
  const Axis policy = sweep::parse_axis("offload.dynamic_control=true,false");
  EXPECT_FALSE(policy.of_machine);
  EXPECT_TRUE(policy.of_policy);
}

TEST(Axis, EnergyKeysAreOfTheMachine) {
  const Axis axis = sweep::parse_axis("energy.links.idle_fj_per_bit=0,1_500");
  EXPECT_TRUE(axis.of_machine);
  EXPECT_FALSE(axis.of_policy);
  EXPECT_EQ(axis.values[1].toml, "1500");
  const Plan plan = sweep::expand(definition({"energy.links.idle_fj_per_bit=0,1_500"}));
  ASSERT_EQ(plan.points.size(), 4u);
  EXPECT_NE(plan.points[0].id, plan.points[2].id);
}

TEST(Axis, MistakesAreFoundAtOnce) {
  for (const char* text :
       {"sm.warps", "=1", "sm.warsp=1", "sm.warps=0", "sm.warps=", "sm.warps=1,", "sm.warps=1,x",
        "sm.scheduler_policy=gto,fifo", "sm.warps=8,16,08", "machine.description=\"a"}) {
    EXPECT_THROW(sweep::parse_axis(text), UsageError) << text;
  }
}

TEST(Plan, IsTheProductInItsOrder) {
  sweep::Definition d = definition(
      {"sm.warps=16,32", "l1.ways=4", "offload.load_miss_percent=1,2,3"}, {"alpha", "beta"});
  d.machines = {"tom", "bench80"};
  const Plan plan = sweep::expand(d);
  ASSERT_EQ(plan.points.size(), 2u * 2 * 2 * 3 * 2);
  size_t i = 0;
  for (size_t program = 0; program < 2; ++program)
    for (size_t machine = 0; machine < 2; ++machine)
      for (size_t warps = 0; warps < 2; ++warps)
        for (size_t miss = 0; miss < 3; ++miss)
          for (size_t policy = 0; policy < 2; ++policy, ++i) {
            const Point& p = plan.points[i];
            EXPECT_EQ(p.index, i);
            EXPECT_EQ(p.program, program);
            EXPECT_EQ(p.machine, machine);
            EXPECT_EQ(p.policy, policy);
            EXPECT_EQ(p.choice, (std::vector<size_t>{warps, 0, miss}));
            ASSERT_NE(plan.machine(p), nullptr);
            ASSERT_NE(plan.policy(p), nullptr);
            EXPECT_EQ(plan.machine(p)->name, machine == 0 ? "tom" : "bench80");
            EXPECT_EQ(plan.machine(p)->sm.warps, warps == 0 ? 16u : 32u);
            EXPECT_EQ(plan.machine(p)->l1.ways, 4u);
            EXPECT_EQ(plan.policy(p)->table<tom::OffloadSettings>().load_miss_percent, miss + 1);
          }
  EXPECT_EQ(plan.overrides(plan.points[0]),
            (Texts{"sm.warps=16", "l1.ways=4", "offload.load_miss_percent=1"}));
}

TEST(Plan, AbsurdOnesAreRefusedAtOnce) {
  std::string values = "l1.hit_latency_cycles=1";
  for (int i = 2; i <= 200; ++i) values += "," + std::to_string(i);
  sweep::Definition d = definition({values});
  d.axes.push_back(d.axes[0]);
  EXPECT_EQ(sweep::count_points(d), 200u * 200 * d.programs.size() * d.policies.size());
  for (int i = 0; i < 20; ++i) d.axes.push_back(d.axes[0]);  // 200^22: beyond 64 bits
  EXPECT_EQ(sweep::count_points(d), sweep::kMaxPoints + 1);
  EXPECT_THROW(sweep::expand(d), UsageError);
}

TEST(Plan, CheckingPointsIsToldAndStops) {
  sweep::Definition d = definition({"sm.warps=16,32,48"});
  d.divided = true;  // its ids depend on all points
  std::vector<uint64_t> told;
  const auto tell = [&](uint64_t checked, uint64_t all) {
    EXPECT_EQ(all, sweep::count_points(d));
    told.push_back(checked);
    return told.size() < 2;
  };
  EXPECT_THROW(sweep::expand(d, tell), Error);
  EXPECT_EQ(told.size(), 2u);
}

/// An axis with `many` values from `from` on: "KEY=1,2,3".
std::string numbers_of(const std::string& key, int from, int many) {
  std::string text = key + "=";
  for (int i = 0; i < many; ++i) text += (i == 0 ? "" : ",") + std::to_string(from + i);
  return text;
}

TEST(Plan, OfAMillionPointsOnlyWhatIsAskedForIsMade) {
  // Both keys are a machine's, so every point has a machine of its own, which takes a tenth of a
  // millisecond to load.
  sweep::Definition d = definition(
      {numbers_of("l1.hit_latency_cycles", 20, 500), numbers_of("run.max_cycles", 1000, 250)});
  d.policies = {"baseline"};
  const size_t many = d.programs.size() * 500 * 250;
  d.divided = true;  // its ids depend on what else the sweep has
  sweep::Plan plan = sweep::expand(d);
  EXPECT_EQ(plan.points.size(), many);
  EXPECT_EQ(plan.points.made(), 1u + 499 + 249);
  const Point last = plan.points[many - 1];
  EXPECT_EQ(plan.overrides(last),
            (std::vector<std::string>{"l1.hit_latency_cycles=519", "run.max_cycles=1249"}));
  EXPECT_EQ(plan.machine(last)->l1.hit_latency_cycles, 519u);
  const sweep::PointPlace place = plan.place(last.index);
  EXPECT_EQ(place.program, last.program);
  EXPECT_EQ(place.machine, last.machine);
  EXPECT_EQ(place.policy, last.policy);
}

TEST(Plan, PointsThatAreTheSameAreFoundAlongEachAxis) {
  EXPECT_THROW(sweep::expand(definition({"sm.warps=16,32", "l1.bytes=32768,16384,32_768"})),
               UsageError);
  sweep::Definition d = definition({"sm.warps=16,32"});
  d.policies.push_back(d.policies.front());
  EXPECT_THROW(sweep::expand(d), UsageError);
}

TEST(Plan, ValuesThatComeToTheSameAreNamed) {
  const auto says = [](const sweep::Definition& d) -> std::string {
    try {
      sweep::expand(d);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  // Both times are 12 cycles.
  const std::string times = says(definition({"sm.warps=16,32", "dram.tRCD=14ns,15ns"}));
  EXPECT_TRUE(contains(times, "dram.tRCD=14ns and dram.tRCD=15ns come to the same")) << times;
  sweep::Definition twice = definition({"sm.warps=16,32"});
  twice.policies.push_back(twice.policies.front());
  EXPECT_TRUE(contains(says(twice), "name every workload, machine and policy once")) << says(twice);
}

TEST(PointCosts, ThoseThatHaveMostInCommonTell) {
  sweep::PointCosts costs;
  const double guess = costs.of(0, 0, 0);
  EXPECT_GT(guess, 0);
  costs.add(0, 0, 0, 1000, 1);
  EXPECT_DOUBLE_EQ(costs.of(5, 6, 7), 1e-3) << "all that is known";
  costs.add(0, 0, 1, 1000, 3);
  EXPECT_DOUBLE_EQ(costs.of(0, 0, 1), 3e-3);
  EXPECT_DOUBLE_EQ(costs.of(0, 9, 1), 3e-3) << "program and policy before program and machine";
  EXPECT_DOUBLE_EQ(costs.of(0, 0, 9), 2e-3) << "the mean of both policies";
  EXPECT_DOUBLE_EQ(costs.of(9, 9, 0), 1e-3) << "another program under the policy";
}

TEST(Plan, ConfigurationsAreShared) {
  const Plan plan = sweep::expand(definition({"sm.warps=16,32"}, {"alpha", "beta"}));
  EXPECT_EQ(plan.machine(plan.points[0]), plan.machine(plan.points[1]));
  EXPECT_EQ(plan.machine(plan.points[0]), plan.machine(plan.points[4]));
  EXPECT_NE(plan.machine(plan.points[0]), plan.machine(plan.points[2]));
  EXPECT_EQ(plan.policy(plan.points[0]), plan.policy(plan.points[2]));
}

std::set<std::string> ids(const Plan& plan) {
  std::set<std::string> all;
  for (const Point& point : plan.points) all.insert(point.id);
  return all;
}

TEST(PointId, DoesNotDependOnTheRestOfTheSweep) {
  const std::set<std::string> small = ids(sweep::expand(definition({"sm.warps=32"})));
  const Plan large = sweep::expand(definition({"l1.ways=4", "sm.warps=16,32"}, {"beta", "alpha"}));
  EXPECT_EQ(ids(large).size(), large.points.size());
  for (const std::string& id : small) EXPECT_TRUE(ids(large).contains(id)) << id;
  EXPECT_NE(large.id, sweep::expand(definition({"sm.warps=32"})).id);
}

TEST(PointId, DependsOnTheProgramsOtherPointsWhereItIsDivided) {
  sweep::Definition d = definition({"sm.warps=32"}, {"alpha", "beta"});
  d.divided = true;
  const Plan plan = sweep::expand(d), again = sweep::expand(d);
  EXPECT_EQ(ids(plan), ids(again));
  sweep::Definition larger = d;
  larger.axes = {sweep::parse_axis("sm.warps=32,48")};
  for (const std::string& id : ids(sweep::expand(larger))) EXPECT_FALSE(ids(plan).contains(id));
  d.programs.pop_back();
  for (const std::string& id : ids(sweep::expand(d))) EXPECT_TRUE(ids(plan).contains(id));
}

TEST(PointId, IsThatOfTheValuesHoweverTheyAreWritten) {
  const auto id = [](const char* set) { return sweep::expand(definition({set})).points[0].id; };
  EXPECT_EQ(id("l1.bytes=32768"), id("l1.bytes=32_768"));
  EXPECT_EQ(id("sm.scheduler_policy=lrr"), id("sm.scheduler_policy=\"lrr\""));
  EXPECT_EQ(id("sm.warps=48"),
            id("sm.scheduler_policy=gto"));  // both values are those of tom's file
  EXPECT_NE(id("sm.warps=48"), id("sm.warps=47"));
}

TEST(PointId, DependsOnAllThatDeterminesTheResult) {
  const sweep::Definition base = definition();
  const auto first_id = [](const sweep::Definition& d) { return sweep::expand(d).points[0].id; };
  std::set<std::string> all = {first_id(base)};
  sweep::Definition changed = base;
  changed.version = "1.2.4";
  EXPECT_TRUE(all.insert(first_id(changed)).second);
  changed = base;
  changed.programs[0].key = "another";
  EXPECT_TRUE(all.insert(first_id(changed)).second);
  changed = base;
  changed.machines = {"bench80"};
  EXPECT_TRUE(all.insert(first_id(changed)).second);
  changed = base;
  changed.policies = {"ndp-uncontrolled-bmap"};
  EXPECT_TRUE(all.insert(first_id(changed)).second);
  for (const char* set : {"sm.warps=8", "run.max_cycles=10", "offload.busy_threshold_percent=7"})
    EXPECT_TRUE(all.insert(first_id(definition({set}))).second) << set;
}

TEST(Plan, ImpossibleCombinationsAreThePointsOwn) {
  const Plan plan = sweep::expand(definition({"l1.bytes=16384,32768", "l1.ways=4,3"}));
  ASSERT_EQ(plan.points.size(), 8u);
  for (const Point& point : plan.points) {
    const bool impossible = point.choice[1] == 1;
    EXPECT_EQ(point.error.empty(), !impossible);
    EXPECT_EQ(plan.machine(point) == nullptr, impossible);
    if (impossible) {
      EXPECT_NE(point.error.find("power of two"), std::string::npos) << point.error;
    }
  }
  EXPECT_EQ(ids(plan).size(), 8u);
  const Plan policies = sweep::expand(definition({"policy.mapping=bmap,tmap"}));
  EXPECT_TRUE(policies.points[0].error.empty());
  EXPECT_NE(policies.points[2].error.find("policy.mapping"), std::string::npos);  // baseline
  EXPECT_TRUE(policies.points[3].error.empty());
}

TEST(Plan, WhatIsWrongForAllIsFoundBeforehand) {
  sweep::Definition d = definition();
  d.machines = {"ton"};
  EXPECT_THROW(sweep::expand(d), UsageError);
  d = definition({}, {"alpha"}, {"baseline", "baselime"});
  EXPECT_THROW(sweep::expand(d), UsageError);
  d = definition({"l1.ways=3,5"});
  EXPECT_THROW(sweep::expand(d), Error);  // both values are impossible on tom
  d = definition({}, {"alpha", "alpha"});
  EXPECT_THROW(sweep::expand(d), UsageError);
  d = definition({}, {"alpha"}, {"baseline", "baseline"});
  EXPECT_THROW(sweep::expand(d), UsageError);
}

/// An axis of `count` values from `first` on.
std::string many(const std::string& key, int first, int count) {
  std::string text = key + "=" + std::to_string(first);
  for (int i = 1; i < count; ++i) text += "," + std::to_string(first + i);
  return text;
}

TEST(Plan, OfManyPointsFewAreMadeBeforehandAndEachIsTold) {
  const sweep::Definition d =
      definition({many("l1.hit_latency_cycles", 20, 100), many("run.max_cycles", 1000, 100),
                  "offload.load_miss_percent=10,20"},
                 {"alpha"}, {"baseline"});
  size_t told = 0;
  const auto count = [&](uint64_t, uint64_t) { return ++told != 0; };
  EXPECT_THROW(sweep::expand(d, count), UsageError);  // it is of no effect under any policy
  EXPECT_LT(told, 300u) << "of 20,000 points";
  // The machine is impossible whatever the policy is.
  const sweep::Definition none =
      definition({"l1.ways=3,5", many("offload.load_miss_percent", 0, 100)});
  told = 0;
  EXPECT_THROW(sweep::expand(none, count), Error);
  EXPECT_LT(told, 250u) << "of 400 points";
  for (const auto& stopped : {definition({"sm.warps=8,16"}), d})
    EXPECT_THROW(sweep::expand(stopped, [](uint64_t, uint64_t) { return false; }), Interrupted);
}

TEST(Shard, PartsAreDisjointCompleteAndBalanced) {
  for (uint32_t parts = 1; parts <= 9; ++parts) {
    std::vector<size_t> count(parts);
    for (size_t index = 0; index < 200; ++index) {
      size_t owners = 0;
      for (uint32_t part = 1; part <= parts; ++part) {
        if (!sweep::Shard{part, parts}.has(index)) continue;
        owners += 1;
        count[part - 1] += 1;
      }
      ASSERT_EQ(owners, 1u) << index << " of " << parts;
      const auto [least, most] = std::minmax_element(count.begin(), count.end());
      ASSERT_LE(*most - *least, 1u) << "after " << index << " of " << parts;
    }
  }
}

TEST(Shard, NoPartGetsOnlyOneValueOfAnAxis) {
  // With as many policies as parts, each part sees every policy equally often.
  for (uint32_t parts = 2; parts <= 5; ++parts) {
    std::vector<size_t> count(parts);
    for (size_t index = 0; index < size_t{parts} * parts; ++index)
      if (sweep::Shard{1, parts}.has(index)) count[index % parts] += 1;
    EXPECT_EQ(count, std::vector<size_t>(parts, 1)) << parts;
  }
}

TEST(Shard, IsWrittenAsAFraction) {
  EXPECT_EQ(sweep::parse_shard("2/3").part, 2u);
  EXPECT_EQ(sweep::parse_shard("2/3").parts, 3u);
  for (const char* text :
       {"", "1", "1/", "/2", "0/2", "3/2", "1/0", "a/2", "1/2x", "1.5/2", "-1/2"})
    EXPECT_THROW(sweep::parse_shard(text), UsageError) << text;
}

}  // namespace
}  // namespace nearwarp::testing
