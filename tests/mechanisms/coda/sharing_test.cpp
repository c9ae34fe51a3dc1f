// Are a program's pages counted by who touches them?
#include "host/mechanisms/coda/sharing.h"

#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/recording/combine.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

TEST(PageSharing, OfRowsThatBlocksHaveForThemselves) {
  const runtime::Recording& rows = workload("row-sum", 0, workloads::Size::kMedium);
  const coda::PageSharing s = coda::study_sharing(rows, config::load_machine("coda"));
  uint64_t bytes = 0, by_blocks = 0, by_stacks = 0;
  for (const runtime::Allocation& a : rows.allocations) bytes += a.bytes;
  for (const auto& [blocks, pages] : s.by_blocks) by_blocks += pages;
  for (const auto& [stacks, pages] : s.by_stacks) by_stacks += pages;
  EXPECT_EQ(s.pages, bytes / 4096);  // both arrays are whole pages
  EXPECT_EQ(by_blocks, s.pages);
  EXPECT_EQ(by_stacks, s.pages);
  EXPECT_STREQ(s.category(), "block-exclusive");
}

TEST(PageSharing, ProgramsTogetherHavePagesOfTheirOwn) {
  std::vector<runtime::Recording> programs;
  for (int i = 0; i < 2; ++i) {
    runtime::VirtualDevice device(runtime::VirtualDevice::Options{});
    workloads::find("row-sum")->run(device, workloads::Size::kSmall);
    programs.push_back(device.take_recording("row-sum"));
  }
  const config::MachineConfig machine = config::load_machine("coda");
  const coda::PageSharing one = coda::study_sharing(programs[0], machine);
  const coda::PageSharing two = coda::study_sharing(runtime::combine(std::move(programs)), machine);
  EXPECT_EQ(two.pages, 2 * one.pages);
  for (const auto& [blocks, pages] : one.by_blocks) EXPECT_EQ(two.by_blocks.at(blocks), 2 * pages);
}

TEST(PageSharing, KmeansIsOfItsStacks) {
  const coda::PageSharing s = coda::study_sharing(workload("kmeans", 0, workloads::Size::kMedium),
                                                  config::load_machine("coda"));
  EXPECT_LT(s.of_one_block(), 0.9);
  EXPECT_GT(s.of_one_stack(), 0.3);
}

TEST(PageSharing, TheClassesOfTheText) {
  coda::PageSharing s;
  const auto category = [&](uint64_t one_block, uint64_t one_stack) {
    s.pages = 100;
    s.by_blocks = {{1, one_block}, {7, 100 - one_block}};
    s.by_stacks = {{1, one_stack}, {4, 100 - one_stack}};
    return std::string(s.category());
  };
  EXPECT_EQ(category(91, 95), "block-exclusive");
  EXPECT_EQ(category(90, 91), "core-exclusive");
  EXPECT_EQ(category(61, 90), "block-majority");
  EXPECT_EQ(category(60, 61), "core-majority");
  EXPECT_EQ(category(60, 60), "sharing");
}

TEST(PageSharing, NeedsStacks) {
  EXPECT_THROW(coda::study_sharing(workload("kmeans"), config::load_machine("gtx480")), Error);
  EXPECT_THROW(coda::study_sharing(workload("kmeans"), config::load_machine("coda"),
                                   [](uint64_t, uint64_t) { return false; }),
               Interrupted);
}

}  // namespace
}  // namespace nearwarp::testing
