// Are published numbers read as they are written, and their errors told as arithmetic has them?
#include "bench/reference/published.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "host/core/error.h"

namespace nearwarp::reference {
namespace {

PublishedRow row(bool set, double published, double ours) {
  PublishedRow r;
  r.published = {"h100", "latency", "a<b", set, published, "cycles", "", "somebody"};
  r.ours = ours;
  return r;
}

std::string error_of(const std::string& line) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("nearwarp-published-" + std::to_string(getpid()) + ".tsv");
  std::ofstream(path) << "head\n" << line << "\n";
  std::string what;
  try {
    read_published(path.string());
  } catch (const Error& e) {
    what = e.what();
  }
  std::filesystem::remove(path);
  return what;
}

TEST(Published, EveryNumberHasARoleAUnitAndASource) {
  const auto all = read_published(NW_SOURCE_DIR "/tests/validation/hopper_published.tsv");
  for (const char* const machine : {"a100", "h100", "h200"}) {
    uint32_t set = 0, check = 0;
    for (const Published& p : all) {
      EXPECT_FALSE(p.source.empty()) << p.what;
      if (p.machine != machine) continue;
      ++(p.set ? set : check);
    }
    EXPECT_GT(set, 0u) << machine;
    EXPECT_GE(check, set) << machine;  // half of them at least only check
  }
}

TEST(Published, DamagedLinesAreNamed) {
  EXPECT_EQ(error_of("h100\tlatency\tL1\tset\t40.7\tcycles\tprobe latencies:L1 hit\tL"), "");
  EXPECT_NE(error_of("h100\tlatency\tL1").find("3 cells"), std::string::npos);
  EXPECT_NE(error_of("h100\tlatency\tL1\tboth\t40.7\tcycles\tp\tL").find("role 'both'"),
            std::string::npos);
  EXPECT_NE(error_of("h100\tlatency\tL1\tset\t-1\tcycles\tp\tL").find("'-1' is no positive number"),
            std::string::npos);
  EXPECT_NE(error_of("h100\tlatency\tL1\tset\t1\tmiles\tp\tL").find("unit 'miles'"),
            std::string::npos);
  EXPECT_THROW(read_published("/nowhere.tsv"), Error);
}

TEST(Published, WhatIsMeasuredMustBeThere) {
  Published p{"h100", "latency", "L1", true, 40, "cycles", "probe latencies:no such row", "L"};
  EXPECT_THROW(measure_published({p}, "h100", "", {}, 1), Error);
  p.measured = "program fma";
  EXPECT_THROW(measure_published({p}, "h100", "", {}, 1), Error);
  p.measured = "something else";
  EXPECT_THROW(measure_published({p}, "h100", "", {}, 1), Error);
  p.machine = "a100";
  EXPECT_TRUE(measure_published({p}, "h100", "", {}, 1).empty());
}

TEST(Published, AProbeIsWhatNearwarpProbeFinds) {
  const Published p{
      "h100", "latency", "shared", true, 29, "cycles", "probe latencies:shared memory", "L"};
  const auto rows = measure_published({p}, "h100", "", {"lsu.shared_latency_cycles=30"}, 1);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_DOUBLE_EQ(rows[0].ours, 39);  // 9 cycles of arithmetic, as docs/probe.md has them
}

TEST(Published, NumbersOfSeveralUnitsHaveNoCorrelation) {
  std::vector<PublishedRow> rows = {row(false, 100, 110), row(false, 1000, 800),
                                    row(false, 10, 13)};
  const std::string group = "latency, check                 3                20.0%      30.0%";
  const auto correlation = [&] {
    const std::string text = published_text(rows);
    const size_t at = text.find(group);
    return at == std::string::npos ? text : text.substr(at + group.size(), 14);
  };
  EXPECT_EQ(correlation(), "         1.000");
  rows[1].published.unit = "GB/s";
  EXPECT_EQ(correlation(), "             -");
}

TEST(Published, ErrorsAreMeansOfAbsoluteOnes) {
  // Errors of the rows that check: 10 %, 20 % and 30 %; and logarithms on one line.
  const std::vector<PublishedRow> rows = {row(true, 100, 100), row(false, 100, 110),
                                          row(false, 1000, 800), row(false, 10, 13)};
  const std::string text = published_text(rows);
  EXPECT_NE(text.find("latency, set                   1                 0.0%       0.0%"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("latency, check                 3                20.0%      30.0%"),
            std::string::npos)
      << text;
  EXPECT_NE(published_csv(rows).find("h100,latency,a<b,check,cycles,1000,800.000,-0.2000"),
            std::string::npos);
  const std::string page = published_page("a & b", rows);
  EXPECT_NE(page.find("<h1>a &amp; b</h1>"), std::string::npos);
  EXPECT_EQ(page.find("a<b"), std::string::npos);
  size_t points = 0;
  for (size_t at = page.find("<circle"); at != std::string::npos; at = page.find("<circle", at + 1))
    ++points;
  EXPECT_EQ(points, 4u);
}

}  // namespace
}  // namespace nearwarp::reference
