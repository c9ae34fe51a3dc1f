// Are components dealt out completely and evenly, and do windows stop for the right reasons?
#include "kernels/team.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "host/timing/run/replay.h"
#include "kernels/deal.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::kernels {
namespace {

std::vector<Component> components() {
  const config::MachineConfig machine = config::load_machine("tom");
  const config::PolicyConfig policy = config::load_policy("tom");
  sim::Replay run({&testing::workload("vector-add", 50'000), &machine, &policy}, 0);
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

TEST(Deal, SmsAreTogetherButNotAllAtOnce) {
  const std::vector<Component> all = components();
  const Deal deal = deal_components(all, 16);
  uint32_t with_sms = 0;
  for (uint32_t w = 0; w < 16; ++w) {
    uint32_t sms = 0, crossbars = 0;
    for (uint32_t i = deal.begin[w]; i < deal.begin[w + 1]; ++i) {
      sms += is_sm(all[deal.order[i]].kind) ? 1 : 0;
      crossbars += all[deal.order[i]].kind == ComponentKind::kCrossbar ? 1 : 0;
    }
    if (crossbars != 0) {
      EXPECT_EQ(crossbars, 1u) << w;  // as much work as a dozen SMs
      EXPECT_EQ(sms, 0u) << w;
    }
    with_sms += sms != 0 ? 1 : 0;
    EXPECT_LE(sms, 10u) << w;  // of 64 main SMs and 4 stack SMs
  }
  EXPECT_GE(with_sms, 7u);  // some warps have a stack's switch or a link instead
}

TEST(Deal, AWarpsComponentsAreInTheOrderOfPhases) {
  const std::vector<Component> all = components();
  for (const uint32_t warps : {1u, 3u, 16u}) {
    const Deal deal = deal_components(all, warps);
    for (uint32_t w = 0; w < warps; ++w) {
      for (uint32_t i = deal.begin[w]; i + 1 < deal.begin[w + 1]; ++i)
        EXPECT_LE(phase_of(all[deal.order[i]].kind), phase_of(all[deal.order[i + 1]].kind));
    }
  }
  for (uint32_t phase = 0; phase < TeamRun::kPhases; ++phase)
    EXPECT_EQ(phase_of(kind_of_phase(phase)), phase);
}

TEST(Deal, StatesShareABlocksMemoryWithoutOverlap) {
  const std::vector<Component> all = components();
  for (const uint32_t bytes : {0u, 1000u, 20'000u, 1u << 20}) {
    Deal deal = deal_components(all, 8);
    share_states(deal, all, 4, bytes);
    ASSERT_EQ(deal.shared_at.size(), deal.order.size());
    size_t shared = 0;
    for (uint32_t block = 0; block < 2; ++block) {
      std::map<uint32_t, uint32_t> end_by_begin;
      for (uint32_t i = deal.begin[block * 4]; i < deal.begin[block * 4 + 4]; ++i) {
        if (deal.shared_at[i] == kNotShared) continue;
        EXPECT_EQ(deal.shared_at[i] % 8, 0u);
        end_by_begin[deal.shared_at[i]] =
            deal.shared_at[i] + ProductFamily::state_bytes(all[deal.order[i]].kind);
      }
      uint32_t end = 0;
      for (const auto& [from, to] : end_by_begin) {
        EXPECT_GE(from, end);
        end = to;
      }
      EXPECT_LE(end, bytes);
      shared += end_by_begin.size();
    }
    if (bytes == 0) {
      EXPECT_EQ(shared, 0u);
    }
    if (bytes == 1u << 20) {
      EXPECT_EQ(shared, all.size());
    }
  }
}

TEST(Deal, StatesCanBeCopiedByWords) {
  for (uint32_t kind = 0; kind < ProductFamily::kCount; ++kind)
    EXPECT_EQ(ProductFamily::state_bytes(static_cast<ComponentKind>(kind)) % 8, 0u) << kind;
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
