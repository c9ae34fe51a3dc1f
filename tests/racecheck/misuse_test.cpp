// Are barriers and masks that are misused told of, once, with the right lines and numbers of
// threads, and is what only looks like it left alone?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/functional/racecheck/report.h"
#include "tests/racecheck/checked_device.h"

namespace nearwarp::racecheck {
namespace {

using enum MisuseKind;

/// The findings on a kernel of misuse.cu that is run once with blocks of so many threads.
template <class... A>
Findings found(const std::string& kernel, uint32_t threads, const A&... args) {
  CheckedDevice d("misuse");
  return d.run(kernel, {1}, {threads}, d.zeros(1024), args...);
}

void expect_misuse(const Findings& f, MisuseKind kind, uint64_t count, const std::string& detail) {
  ASSERT_EQ(f.misuses.size(), 1u) << format_text(f, 9);
  const Misuse& m = f.misuses[0];
  EXPECT_STREQ(name_of(m.kind), name_of(kind)) << format_text(f, 9);
  EXPECT_EQ(m.count, count) << format_text(f, 9);
  EXPECT_EQ(m.detail.substr(0, detail.size()), detail);
  EXPECT_FALSE(f.clean());
}

TEST(Misuse, PartOfAWarpComesToABarrier) {
  const Findings f = found("two_barriers", 32);
  expect_misuse(f, kApart, 16, "lanes ");
  EXPECT_NE(f.misuses[0].at.source.find("misuse.cu:"), std::string::npos);
  EXPECT_NE(f.misuses[0].detail.find("to the barrier in tests/racecheck/kernels/misuse.cu:"),
            std::string::npos)
      << f.misuses[0].detail;
  EXPECT_NE(f.misuses[0].at.text.find("bar.sync"), std::string::npos);
  expect_misuse(found("part_comes", 64), kApart, 16,
                "lanes 0-7 of the warp came, lanes 8-31 went on without");
  // A loop of four copies: one line.
  expect_misuse(found("one_by_one", 32), kApart, 4,
                "lane 0 of the warp came, lanes 1-31 went on without");
}

TEST(Misuse, WarpsAtDifferentBarriers) {
  expect_misuse(found("warps_differ", 64), kDifferent, 32, "thread (0,0,0) waits for it in ");
  EXPECT_TRUE(found("warps_differ_unaligned", 64).clean());
  EXPECT_TRUE(found("warps_differ_counted", 64).clean());
  EXPECT_TRUE(found("arrive_and_sync", 64).clean());
}

TEST(Misuse, AWarpGoesOnWithoutABarrier) {
  expect_misuse(found("passes_by", 64), kPassedBy, 32,
                "the warp of thread (32,0,0) did not come, and went on to ");
  expect_misuse(found("leaves_early", 64), kPassedBy, 32, "the warp of thread (32,0,0)");
}

TEST(Misuse, ThreadsThatHaveEndedAreNotWaitedFor) {
  for (const int n : {16, 20, 32, 48, 64, 100, 128}) {
    EXPECT_TRUE(found("early_return", 128, n).clean()) << n;
    EXPECT_TRUE(found("early_return_loop", 128, n).clean()) << n;
    EXPECT_TRUE(found("early_return_nested", 128, n).misuses.empty()) << n;
    EXPECT_TRUE(found("early_return_shuffle", 128, n).clean()) << n;
  }
}

TEST(Misuse, LanesAndTheirMasks) {
  expect_misuse(found("not_in_mask", 32), kNotInMask, 16,
                "lanes 16-31 executed it with mask 0x0000ffff");
  expect_misuse(found("outside_mask", 32), kOutside, 8,
                "lane 8 reads lane 16 with mask 0x0000ffff");
  expect_misuse(found("nobody_there", 32), kNobodyThere, 12,
                "lane 4 reads lane 20 with mask 0xffffffff");
  expect_misuse(found("nobody_there", 20), kNobodyThere, 12, "lane 4 reads lane 20");
  for (const int what : {0, 1, 2, 3, 4})
    expect_misuse(found("half_comes", 32, what), kMissing, 16,
                  "lanes 0-15 came with mask 0xffffffff, lanes 16-31 did not");
  expect_misuse(found("masks_differ", 32), kMissing, 16,
                "lanes 0-15 came with mask 0xffffffff, lanes 16-31 did not");
}

TEST(Misuse, LanesThatAreOnlyLate) {
  EXPECT_TRUE(found("halves_apart", 32, 1).misuses.empty()) << "__syncwarp() may be several";
  const Findings f = found("halves_apart", 32, 0);
  ASSERT_EQ(f.misuses.size(), 2u) << format_text(f, 9);
  for (const Misuse& m : f.misuses) {
    EXPECT_EQ(m.kind, kMissing);
    EXPECT_EQ(m.count, 16u);
  }
  EXPECT_NE(f.misuses[0].at.caller, f.misuses[1].at.caller);
}

TEST(Misuse, PartsOfWarpsByThemselves) {
  for (const int n : {1, 5, 16, 31, 32})
    EXPECT_TRUE(found("ballot_shuffle", 32, n).misuses.empty()) << n;
  EXPECT_TRUE(found("tiles", 64).clean());
}

TEST(Misuse, CopiesOfALineAreOne) {
  const Findings f = found("unrolled", 32);
  ASSERT_EQ(f.misuses.size(), 2u) << format_text(f, 9);
  EXPECT_EQ(f.misuses[0].count, 64u);
  EXPECT_EQ(f.misuses[1].count, 16u);
  // The line of the header is the same, those that call it are not.
  EXPECT_EQ(f.misuses[0].at.source, f.misuses[1].at.source);
  EXPECT_NE(f.misuses[0].at.caller, f.misuses[1].at.caller);
  EXPECT_NE(f.misuses[0].at.caller.find("misuse.cu:"), std::string::npos);

  const Findings races = found("unrolled_race", 64);
  ASSERT_EQ(races.hazards.size(), 2u) << format_text(races, 9);
  for (const Hazard& h : races.hazards) EXPECT_EQ(h.count, 128u) << name_of(h.kind);
  ASSERT_EQ(races.unwritten.size(), 1u);
  EXPECT_EQ(races.unwritten[0].count, 4u * 31);
}

TEST(Misuse, CanBeLeftOut) {
  Checker::Options options;
  options.misuse = false;
  CheckedDevice d("misuse", options);
  EXPECT_TRUE(d.run("two_barriers", {1}, {32}, d.zeros(32)).clean());
  EXPECT_TRUE(d.run("not_in_mask", {1}, {32}, d.zeros(32)).clean());
  EXPECT_TRUE(d.run("passes_by", {1}, {64}, d.zeros(64)).clean());
}

TEST(Misuse, ReportsAsTextAndJson) {
  Findings f = found("outside_mask", 32);
  f.program = "app";
  const std::string text = format_text(f, 5);
  EXPECT_EQ(text.find("misuse 1: shuffle from a lane outside the mask, 8 threads\n"
                      "  kernel outside_mask\n"
                      "  lane 8 reads lane 16 with mask 0x0000ffff\n"
                      "  exchange by thread (8,0,0) of block (0,0,0)\n"),
            0u)
      << text;
  EXPECT_NE(text.find("called in tests/racecheck/kernels/misuse.cu:"), std::string::npos) << text;
  EXPECT_NE(text.find("app: no hazards, 1 misuse, no errors in 1 launch of "), std::string::npos)
      << text;
  EXPECT_NE(format_text(f, 0).find("... and 1 more (`most`)"), std::string::npos);
  EXPECT_EQ(to_json(from_json(to_json(f))), to_json(f));
  const auto json = to_json(f)["misuses"][0];
  EXPECT_EQ(json["kind"], "shuffle from a lane outside the mask");
  EXPECT_EQ(json["count"], 8);
  EXPECT_EQ(json["at"]["thread"], (std::vector<int>{8, 0, 0}));
}

TEST(Matrices, LanesReadWhatOthersHaveWritten) {
  const Findings f = found("rows_of_matrices", 32, false);
  EXPECT_TRUE(has(f, HazardKind::kReadAfterWrite, Distance::kLanes, true)) << format_text(f, 9);
  EXPECT_TRUE(found("rows_of_matrices", 32, true).clean());
}

}  // namespace
}  // namespace nearwarp::racecheck
