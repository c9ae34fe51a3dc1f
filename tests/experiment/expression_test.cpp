// Does an expression give what its quantities and counters say?
#include "host/timing/experiment/expression.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/core/error.h"
#include "host/timing/experiment/workload_parameter.h"

namespace nearwarp::testing {
namespace {

using experiment::Expression;
using Json = nlohmann::ordered_json;

Json run() {
  return Json::parse(R"({"cycles": 2800, "core_mhz": 1400,
    "energy": {"terms": [{"name": "dram.tsv", "femtojoules": 3000000000000},
                         {"name": "sm.issue", "femtojoules": 500000000000}]},
    "traffic": {"gpu_to_memory_bytes": 3000000, "memory_to_gpu_bytes": 1000000},
    "counters": {"l2.reads": {"value": 30}, "l2.writes": {"value": 10}, "l2.none": {"value": 0}}})");
}

TEST(Expression, AddsQuantitiesAndCounters) {
  EXPECT_EQ(Expression::parse("cycles").of(run()), 2800);
  EXPECT_EQ(Expression::parse("l2.reads + l2.writes").of(run()), 40);
  EXPECT_EQ(Expression::parse("tx+rx").of(run()), 4);
  EXPECT_DOUBLE_EQ(*Expression::parse("time").of(run()), 0.002);
}

TEST(Expression, DividesSumsBySums) {
  EXPECT_EQ(Expression::parse("l2.reads / l2.reads + l2.writes").of(run()), 0.75);
  EXPECT_FALSE(Expression::parse("l2.reads / l2.none").of(run()).has_value());
}

TEST(Expression, CountersThatARunHasNotCountNothingAndAreNamed) {
  const Expression e = Expression::parse("l2.reads + l2.raeds / cycles");
  EXPECT_DOUBLE_EQ(*e.of(run()), 30.0 / 2800);
  EXPECT_EQ(e.unknown(run()), std::vector<std::string>{"l2.raeds"});
}

TEST(Expression, TheUnitIsThatOfItsQuantities) {
  EXPECT_EQ(Expression::parse("tx + rx").unit(), "MB");
  EXPECT_EQ(Expression::parse("tx + cycles").unit(), "");
  EXPECT_EQ(Expression::parse("tx / cycles").unit(), "");
  EXPECT_EQ(Expression::parse("l2.reads").unit(), "");
}

TEST(Expression, TermsOfTheEnergyAccount) {
  const Expression e = Expression::parse("energy.dram.tsv + energy.sm.issue + energy.sm.none");
  EXPECT_DOUBLE_EQ(*e.of(run()), 3.5);
  EXPECT_EQ(e.unit(), "mJ");
  EXPECT_EQ(e.unknown(run()), std::vector<std::string>{"energy.sm.none"});
  EXPECT_EQ(Expression::parse("energy + energy.dram.tsv").unit(), "mJ");
}

TEST(Expression, ParametersInAProgramsName) {
  Json r = run();
  r["workload"] = "decode-step:context=4096:batch=8";
  EXPECT_EQ(Expression::parse("workload.batch / time").of(r), 4000);
  EXPECT_TRUE(Expression::parse("workload.context").unknown(r).empty());
  EXPECT_EQ(Expression::parse("workload.layers").unknown(r).size(), 1u);
  EXPECT_EQ(experiment::parameter_in("decode-step:context=4096:batch=8", "name"), "decode-step");
  EXPECT_EQ(experiment::parameter_in("decode-step", "name"), "decode-step");
  EXPECT_EQ(experiment::parameter_in("decode-step:context=4096:batch=8", "batch"), "8");
  EXPECT_EQ(experiment::parameter_in("decode-step:context=4096", "con"), std::nullopt);
}

TEST(Expression, WhatIsNoneIsRefused) {
  for (const char* text : {"", "a +", "+ a", "a / b / c", "a * b", "a b", "/ a", "a / 0", "1e3"})
    EXPECT_THROW(Expression::parse(text), Error) << text;
}

}  // namespace
}  // namespace nearwarp::testing
