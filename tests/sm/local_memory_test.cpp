// Which warp slot's is a place in local memory, and which lines does an SM ask for when slots have
// them?
#include <gtest/gtest.h>

#include "tests/support/sm_bench.h"

namespace nearwarp::sm {
namespace {

using namespace nearwarp::testing;

constexpr uint32_t kLocalLine = 1000, kWords = 5, kSms = 3, kBlocks = 8, kWarps = 2;

/// Blocks of two warps that read word 3 of their local memory, on SM `index` of three, which holds
/// `at_once` of them at a time. Lines in the order of the requests.
std::vector<LineAddr> lines_read(uint32_t sms, uint16_t index, uint32_t at_once) {
  SmBench b;
  b.params.local_sms = sms;
  ImageInstr read = load(1);
  read.flags |= kLocal;
  const uint32_t block = b.program.block({read, alu(2, {1}), exit_instr()});
  b.program.launch(4, kWarps);
  LaunchInfo& launch = b.program.launches[0];
  launch.local_line = kLocalLine;
  launch.local_lines = kWords;
  launch.local_warps = kBlocks * kWarps * kSms;
  for (uint32_t i = 0; i < 4; ++i) {
    b.traces.begin_block();
    for (uint32_t w = 0; w < kWarps; ++w) {
      // In the traces every warp of the program has its own words, one after the other.
      const uint64_t line = kLocalLine + (i * kWarps + w) * kWords + 3;
      b.traces.warp().run(block).at(line * 128, 4).end();
    }
  }
  b.build();
  b.state().index = index;
  for (uint32_t i = 0; i < 4; ++i) b.launch(i, i < at_once ? 0 : 1000);
  b.run_logged(2000);
  std::vector<LineAddr> lines;
  for (const MockMemory::Item& i : b.network->of(PacketKind::kRead)) lines.push_back(i.packet.line);
  return lines;
}

TEST(LocalMemory, OfThreadsIsWhereTheTraceSays) {
  EXPECT_EQ(lines_read(0, 1, 2),
            (std::vector<LineAddr>{1003, 1008, 1013, 1018, 1023, 1028, 1033, 1038}));
}

TEST(LocalMemory, OfSlotsIsUsedByOneBlockAfterTheOther) {
  // Word 3 of all 48 warps begins at 1000 + 3 * 48. SM 1 of 3, two warps in a block: the first
  // block is at 2, the second at 2 * (1 + 3). Those that come later hit in the L1.
  EXPECT_EQ(lines_read(kSms, 1, 2), (std::vector<LineAddr>{1146, 1147, 1152, 1153}));
  // All at once: the third at 2 * (1 + 6), the fourth at 2 * (1 + 9).
  EXPECT_EQ(lines_read(kSms, 1, 4),
            (std::vector<LineAddr>{1146, 1147, 1152, 1153, 1158, 1159, 1164, 1165}));
}

}  // namespace
}  // namespace nearwarp::sm
