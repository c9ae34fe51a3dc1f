// Which points count as done, in files that others write to meanwhile?
#include "host/api/sweep_parts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host/timing/sweep/results_folder.h"
#include "tests/sweep/sweep_rig.h"

namespace nearwarp::testing {
namespace {

class Points : public ::testing::Test {
 protected:
  std::string line(size_t point) const {
    return sweep::result_line(plan_, plan_.points[point],
                              made_up({&recording_, plan_.machine(plan_.points[point]).get(),
                                       plan_.policy(plan_.points[point]).get()}));
  }
  std::string failure(size_t point) const {
    return sweep::failure_line(plan_, plan_.points[point], "out of memory");
  }
  /// The n-th point of a part, from 0.
  size_t point_of(uint32_t part, size_t n) const {
    for (size_t i = 0;; ++i)
      if (sweep::part_of(i, 2) == part && n-- == 0) return i;
  }
  void append(const std::string& path, const std::string& text) const {
    std::ofstream(path, std::ios::app) << text;
  }

  const runtime::Recording recording_;
  const sweep::Plan plan_ = sweep::expand(definition({"sm.warps=8,16"}));
  const TemporaryFolder folder_;
  const sweep::ResultsFolder results_{folder_.path(), "sweep"};
  const std::string first_ = results_.part({1, 2}), second_ = results_.part({2, 2});
};

TEST_F(Points, CountWhereverTheyAre) {
  SweepParts points({&plan_}, results_, false);
  points.divide(2);
  points.look();
  EXPECT_EQ(points.left(), 4u);
  append(results_.whole(), line(point_of(2, 0)) + "{\"schema\":");
  append(first_, line(point_of(1, 0)));
  points.look();
  EXPECT_EQ(points.left(1), 1u);
  EXPECT_EQ(points.left(2), 1u);
  // The end of one line comes later; another line was cut off and is written again.
  const std::string last = line(point_of(1, 1));
  append(first_, last.substr(0, 100));
  points.look();
  EXPECT_EQ(points.left(1), 1u);
  append(first_, last.substr(100));
  append(second_, failure(point_of(2, 1)).substr(0, 50));
  points.look();
  std::filesystem::resize_file(second_, 0);
  append(second_, failure(point_of(2, 1)));
  points.look();
  EXPECT_EQ(points.left(), 0u);
}

TEST_F(Points, ThoseOfSeveralSweepsAreTheFirstOnes) {
  const sweep::Plan other = sweep::expand(definition({"sm.warps=16,24"}));
  SweepParts points({&plan_, &other}, results_, false);
  const size_t made = plan_.points.made() + other.points.made();
  points.divide(2);
  EXPECT_EQ(points.points(), 6u);
  EXPECT_EQ(plan_.points.made() + other.points.made(), made + 4) << "the two that both have";
  // A line of the second sweep counts for the first one, which has the point.
  const sweep::Point shared = other.points[0];
  append(results_.whole(), sweep::failure_line(other, shared, "out of memory"));
  points.look();
  EXPECT_EQ(points.left(), 5u);
}

TEST_F(Points, OfAnotherSweepsLinesAreFoundByTheirValues) {
  const sweep::Plan other = sweep::expand(definition({"sm.warps=24,16"}));
  const auto line_of = [&](size_t point) {
    const sweep::Point p = other.points[point];
    return sweep::result_line(
        other, p, made_up({&recording_, other.machine(p).get(), other.policy(p).get()}));
  };
  SweepParts points({&plan_}, results_, false);
  points.divide(2);
  append(results_.whole(), line_of(0) + line_of(2) + line_of(3));
  points.look();
  EXPECT_EQ(points.left(), 2u);
  append(first_, line_of(2));  // again
  points.look();
  EXPECT_EQ(points.left(), 2u);
}

TEST_F(Points, ThatFailedCountAgainOnlyIfTheyFailedNow) {
  append(results_.whole(), failure(point_of(1, 0)));
  append(first_, failure(point_of(1, 1)));
  SweepParts points({&plan_}, results_, true);
  points.divide(2);
  points.look();
  EXPECT_EQ(points.left(1), 2u);
  const uint64_t begin = points.read(1);
  EXPECT_EQ(begin, failure(point_of(1, 1)).size());
  points.count_failures(1, begin);
  append(first_, failure(point_of(1, 0)));
  points.look();
  EXPECT_EQ(points.left(1), 1u);
  append(first_, line(point_of(1, 1)));
  points.look();
  EXPECT_EQ(points.left(1), 0u);
  // Another object that is told where to begin counts the same.
  SweepParts again({&plan_}, results_, true);
  again.divide(2);
  again.count_failures(1, begin);
  again.look();
  EXPECT_EQ(again.left(1), 0u);
}

}  // namespace
}  // namespace nearwarp::testing
