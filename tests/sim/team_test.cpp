// Are components dealt out completely and evenly, and do windows stop for the right reasons?
#include <gtest/gtest.h>

#include <set>

#include "host/sim/system_run.h"
#include "kernels/deal.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::kernels {
namespace {

std::vector<Component> components() {
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("tom");
  sim::SystemRun run({&testing::workload("vector-add", 50'000), &machine, &policy}, 0);
  const auto table = run.system().components();
  return {table.begin(), table.end()};
}

TEST(Deal, EveryComponentHasOneWarpAndTheFrontEndIsWithTheFirst) {
  const std::vector<Component> all = components();
  for (const uint32_t warps : {1u, 3u, 16u, 64u, 500u}) {
    const Deal deal = deal_components(all, warps);
    ASSERT_EQ(deal.begin.size(), warps + 1);
    EXPECT_EQ(deal.begin.front(), 0u);
    EXPECT_EQ(deal.begin.back(), all.size());
    EXPECT_TRUE(std::is_sorted(deal.begin.begin(), deal.begin.end()));
    EXPECT_EQ(std::set<uint32_t>(deal.order.begin(), deal.order.end()).size(), all.size());
    bool with_first = false;
    for (uint32_t i = 0; i < deal.begin[1]; ++i)
      with_first |= all[deal.order[i]].kind == ComponentKind::kFrontEnd;
    EXPECT_TRUE(with_first);
  }
}

TEST(Deal, SmsAreSpreadEvenly) {
  const std::vector<Component> all = components();
  const Deal deal = deal_components(all, 16);
  for (uint32_t w = 0; w < 16; ++w) {
    uint32_t sms = 0;
    for (uint32_t i = deal.begin[w]; i < deal.begin[w + 1]; ++i)
      sms += is_sm(all[deal.order[i]].kind) ? 1 : 0;
    EXPECT_GE(sms, 1u) << w;  // 64 main SMs and 4 stack SMs; some warps have a crossbar instead
    EXPECT_LE(sms, 5u) << w;
  }
}

TEST(RunControl, WhyWindowsStop) {
  const auto stop = [](Tick next, Tick limit, bool host, bool slice) {
    RunControl c;
    c.limit = limit;
    end_window(c, {0, 10}, next, host, slice);
    EXPECT_EQ(c.last, 10u);
    EXPECT_EQ(c.windows, 1u);
    return c.stop;
  };
  EXPECT_EQ(stop(12, kNever, false, false), Stop::kNone);
  EXPECT_EQ(stop(12, kNever, false, true), Stop::kSlice);
  EXPECT_EQ(stop(12, 12, false, true), Stop::kLimit);
  EXPECT_EQ(stop(12, 13, false, false), Stop::kNone);
  EXPECT_EQ(stop(kNever, 13, false, false), Stop::kEnded);
  EXPECT_EQ(stop(kNever, 13, true, false), Stop::kHost);  // the host comes first
  RunControl c;
  c.next = kNever;
  c.stop = Stop::kHost;
  begin_windows(c);
  EXPECT_EQ(c.stop, Stop::kEnded);  // and then it has ended all the same
}

TEST(RunControl, NoWindowGoesBeyondTheLimit) {
  RunControl c;
  c.next = 95;
  c.longest = 10;
  c.limit = 100;
  EXPECT_EQ(next_window(c).begin, 95u);
  EXPECT_EQ(next_window(c).end, 100u);
}

TEST(RunControl, KeysStandForTicks) {
  EXPECT_EQ(ticks_ahead(kNever, 5), kNoKey);
  EXPECT_EQ(ticks_ahead(kNever + 1, 5), kNoKey);
  EXPECT_EQ(ticks_ahead(3, 5), 0u);
  EXPECT_EQ(ticks_ahead(9, 5), 4u);
  EXPECT_EQ(ticks_ahead(Tick{1} << 40, 5), kNoKey - 1);  // too early is harmless
  EXPECT_EQ(tick_of_key(4, 5), 9u);
  EXPECT_EQ(tick_of_key(kNoKey, 5), kNever);
}

}  // namespace
}  // namespace nearwarp::kernels
