// Barriers with a count of their own, while warps of the block come to their ends.
#include <gtest/gtest.h>

#include "tests/support/sm_bench.h"

namespace nearwarp::sm {
namespace {

using namespace nearwarp::testing;

/// Two producers announce themselves and end long before the two consumers come: the barrier keeps
/// what was announced, and opens when the count is full.
TEST(ReviewBarriers, AnnouncementsOutliveTheirWarps) {
  SmBench b;
  const uint32_t produces = b.program.block({control(Action::kBarrierArrive, 1, 4), exit_instr()});
  const uint32_t consumes = b.program.block(
      {alu(2, {}, 30), alu(3, {2}), control(Action::kBarrier, 1, 4), alu(1, {}), exit_instr()});
  b.program.launch(1, 4);
  b.traces.begin_block();
  b.traces.warp().run(produces).end();
  b.traces.warp().run(produces).end();
  b.traces.warp().run(consumes).end();
  b.traces.warp().run(consumes).end();
  b.start();
  b.run_logged(200);
  EXPECT_EQ(b.cycles(0).size(), 2u);
  ASSERT_EQ(b.cycles(2).size(), 5u);  // nobody waits for ever
  ASSERT_EQ(b.cycles(3).size(), 5u);
  EXPECT_GT(b.cycles(2)[3], b.cycles(3)[2]);  // after the last one came
  EXPECT_EQ(b.counters().warps_finished, 4u);
}

}  // namespace
}  // namespace nearwarp::sm
