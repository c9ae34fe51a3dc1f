// In which cycles do the SM's issue ports serve which units, and what waits for them?
#include <gtest/gtest.h>

#include "tests/support/sm_bench.h"

namespace nearwarp::sm {
namespace {

using namespace nearwarp::testing;
using Cycles = std::vector<uint32_t>;

TEST(SmSubCores, ASchedulerHasPortsOfItsOwn) {
  for (const bool sub_cores : {false, true}) {
    SmBench b;
    b.params.sub_cores = sub_cores;
    b.params.num_schedulers = 2;
    b.params.ports[static_cast<uint32_t>(Unit::kSp)] = 2;
    // Warps 0 and 2 belong to the first scheduler; the second has nothing for its port.
    const uint32_t busy = b.program.block({alu(1, {}, 4, 6), exit_instr()});
    const uint32_t idle = b.program.block({exit_instr()});
    b.program.launch(1, 3);
    b.traces.begin_block();
    for (const uint32_t block : {busy, idle, busy}) b.traces.warp().run(block).end();
    b.start();
    b.run_logged(100);
    EXPECT_EQ(b.cycles(0).front(), 1u);
    EXPECT_EQ(b.cycles(2).front(), sub_cores ? 7u : 3u);
  }
}

TEST(SmSubCores, IntegersHavePortsOfTheirOwn) {
  SmBench b;
  b.params.ports[static_cast<uint32_t>(Unit::kInt)] = 1;
  b.params.ports[static_cast<uint32_t>(Unit::kSp)] = 1;
  const uint32_t block = b.program.block(
      {alu(1, {}, 4, 6, Unit::kInt), alu(2, {}, 4, 6), alu(3, {}, 4, 6, Unit::kInt), exit_instr()});
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(block).end();
  b.start();
  b.run_logged(100);
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2, 7, 8}));
}

/// Issue cycles of each warp's instructions: warps of one SP port, an instruction in six cycles,
/// that lets `queue` wait. All run two such instructions that do not depend on each other, and one
/// that depends on both.
std::vector<Cycles> issued_with_queue(uint8_t queue, bool sub_cores) {
  SmBench b;
  b.params.port_queue = queue;
  b.params.sub_cores = sub_cores;
  b.params.num_schedulers = 1;
  b.params.ports[static_cast<uint32_t>(Unit::kSp)] = 1;
  const uint32_t block =
      b.program.block({alu(1, {}, 10, 6), alu(2, {}, 10, 6), alu(3, {1, 2}, 10, 6), exit_instr()});
  b.program.launch(1, 2);
  b.traces.begin_block();
  for (int i = 0; i < 2; ++i) b.traces.warp().run(block).end();
  b.start();
  b.run_logged(200);
  return {b.cycles(0), b.cycles(1)};
}

TEST(SmPorts, ATakenPortTakesNothing) {
  // An issue every six cycles: of the other warp while the first waits for its results (17).
  const auto cycles = issued_with_queue(0, false);
  EXPECT_EQ(cycles[0], (Cycles{1, 7, 25, 26}));
  EXPECT_EQ(cycles[1], (Cycles{13, 19, 31, 32}));
}

TEST(SmPorts, InstructionsWaitInTheQueue) {
  for (const bool sub_cores : {false, true}) {
    // One begins in cycle 1, two wait: 7 and 13. The fourth may come when the first of them begins,
    // and begins in cycle 19. Results follow the begin.
    const auto cycles = issued_with_queue(2, sub_cores);
    EXPECT_EQ(cycles[0], (Cycles{1, 2, 17, 18}));
    EXPECT_EQ(cycles[1], (Cycles{3, 7, 29, 30}));
  }
}

/// Issue cycles of a warp's instructions, which do not depend on each other and take one of `ports`
/// for six cycles; two wait for these ports at most.
Cycles issued_to_ports(uint32_t ports, uint32_t instructions) {
  SmBench b;
  b.params.port_queue = 2;
  b.params.num_schedulers = 1;
  b.params.ports[static_cast<uint32_t>(Unit::kSp)] = ports;
  std::vector<ImageInstr> code;
  for (uint32_t i = 1; i <= instructions; ++i) code.push_back(alu(i, {}, 10, 6));
  code.push_back(exit_instr());
  const uint32_t block = b.program.block(code);
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(block).end();
  b.start();
  b.run_logged(200);
  return b.cycles(0);
}

TEST(SmPorts, OneQueueOfSeveralPorts) {
  // Begun in 1, 2, and, having waited, in 7, 8, 13, 14: the fifth may come when the third begins.
  EXPECT_EQ(issued_to_ports(2, 6), (Cycles{1, 2, 3, 4, 7, 8, 9}));
  // 1, 2, 3, then 7, 8, 9, 13.
  EXPECT_EQ(issued_to_ports(3, 7), (Cycles{1, 2, 3, 4, 5, 7, 8, 9}));
}

}  // namespace
}  // namespace nearwarp::sm
