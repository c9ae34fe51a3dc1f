// Do rows of results in CSV have the right values, and are fields written as the format wants?
#include "host/timing/report/csv.h"

#include <gtest/gtest.h>

namespace nearwarp::report {
namespace {

TEST(Csv, FieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"so\"\n"), "\"say \"\"so\"\"\n\"");
}

TEST(Csv, RowsAreMadeFieldByField) {
  CsvRows csv;
  csv.add("a,b", std::string("n"), 7u, 0.25, std::optional<double>());
  csv.add_empty(2);
  csv.end_row();
  csv.add("", std::optional<double>(1.5));
  csv.end_row();
  EXPECT_EQ(csv.text(), "\"a,b\",n,7,0.25,,,\n,1.5\n");
}

TEST(Csv, MembersAreColumnsAndCountersTheirValues) {
  EXPECT_EQ(csv_text(R"({"runs": [
      {"policy": "tom", "cycles": 7, "traffic": {"bytes": 1.5}, "kernels": [1, 2],
       "counters": {"sm.issued": {"value": 3, "unit": "warp-instructions"}}}]})",
                     "runs"),
            "policy,cycles,traffic.bytes,counters.sm.issued\ntom,7,1.5,3\n");
}

TEST(Csv, WhatARowLacksIsEmpty) {
  EXPECT_EQ(csv_text(R"({"points": [{"rate": 0.1, "stable": true}, {"rate": 1, "why": "a, b"},
                                    {"latency": null}]})",
                     "points"),
            "rate,stable,why\n0.1,true,\n1,,\"a, b\"\n,,\n");
}

TEST(Csv, NothingIsARowOfNoNames) { EXPECT_EQ(csv_text(R"({"runs": []})", "runs"), "\n"); }

}  // namespace
}  // namespace nearwarp::report
