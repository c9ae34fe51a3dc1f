// To which SM does the dispatcher send each thread block, and when?
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/support/front_end_rig.h"

namespace nearwarp::frontend {
namespace {

using namespace nearwarp::testing;

struct Bench : FrontEndRig<sm::MechanismList<>> {
  explicit Bench(uint32_t sms) : FrontEndRig(sms) { program.block({}); }
  void build() {
    FrontEndRig::build([](FrontEndState&) {});
  }
  const LaunchState& launch(uint32_t i) { return rig.arena.get(s().dispatch.launches)[i]; }
  /// SM `sm` says at `at` that a block has ended: `number` over all launches.
  void done(Tick at, uint32_t sm, uint32_t number) {
    Packet m;
    m.kind = PacketKind::kBlockDone;
    m.line = number;
    from_sm[sm]->items.push_back({at, m, 0});
  }
  struct Block {
    Tick at = 0;
    uint32_t launch = 0, block = 0;
    bool operator==(const Block&) const = default;
  };
  /// Blocks that SM `sm` got; the packets leave four cycles before they arrive.
  std::vector<Block> got(uint32_t sm) {
    std::vector<Block> blocks;
    for (const auto& i : to_sm[sm]->items)
      if (i.packet.kind == PacketKind::kLaunchBlock)
        blocks.push_back({i.at, i.packet.tag, i.packet.line});
    return blocks;
  }
};
using Got = std::vector<Bench::Block>;

std::ostream& operator<<(std::ostream& out, const Bench::Block& b) {
  return out << b.at << ": block " << b.block << " of " << b.launch;
}

TEST(Dispatcher, GoesRoundOneBlockPerSmAndCycle) {
  Bench b(3);
  b.program.launch(8, 2, 2);
  b.build();
  b.run();
  // From cycle 10 on; two per SM are all that fit, so the blocks 6 and 7 wait.
  EXPECT_EQ(b.got(0), (Got{{14, 0, 0}, {15, 0, 3}}));
  EXPECT_EQ(b.got(1), (Got{{14, 0, 1}, {15, 0, 4}}));
  EXPECT_EQ(b.got(2), (Got{{14, 0, 2}, {15, 0, 5}}));
  EXPECT_EQ(b.s().counters.blocks_dispatched, 6u);
}

TEST(Dispatcher, EndedBlocksMakeRoom) {
  Bench b(2);
  b.program.launch(4, 1, 1);
  b.program.launch(1, 1, 1);
  b.build();
  b.done(30, 1, 1);
  b.done(50, 0, 0);
  b.done(60, 0, 3);
  b.done(70, 1, 2);
  b.run();
  // The second launch begins ten cycles after the first one's last block, with the next SM.
  EXPECT_EQ(b.got(1), (Got{{14, 0, 1}, {38, 0, 2}, {74 + 10 + 4, 1, 0}}));
  EXPECT_EQ(b.got(0), (Got{{14, 0, 0}, {58, 0, 3}}));
  EXPECT_EQ(b.launch(0).end, 74u);
  EXPECT_EQ(b.launch(1).ready, 84u);
  EXPECT_EQ(b.s().dispatch.num_done, 4u);
  const uint32_t* done = b.rig.arena.get(b.s().dispatch.done_log);
  EXPECT_EQ((std::vector<uint32_t>(done, done + 4)), (std::vector<uint32_t>{1, 0, 3, 2}));
}

TEST(Dispatcher, IndependentLaunchesRunTogetherTheOldestFirst) {
  Bench b(1);
  b.p.dispatch.max_running = 2;
  b.program.launch_after({}, 3, 1, 4);
  b.program.launch_after({}, 2, 1, 8);
  b.program.launch_after({}, 1, 1, 8);
  b.build();
  b.done(60, 0, 3);  // block 0 of launch 1
  b.done(70, 0, 4);  // and its last
  b.run();
  // Three quarters, then two eighths: the SM is full. The third launch is one too many; it begins
  // when the second one has ended, in the room that it has left.
  EXPECT_EQ(b.got(0),
            (Got{{14, 0, 0}, {15, 0, 1}, {16, 0, 2}, {17, 1, 0}, {18, 1, 1}, {78, 2, 0}}));
  EXPECT_EQ(b.launch(1).end, 74u);
  EXPECT_EQ(b.launch(2).number, 3u);
  EXPECT_EQ(b.s().dispatch.num_running, 2u);
}

TEST(Dispatcher, YoungerLaunchesGetWhatIsLeftAndEveryResourceCounts) {
  Bench b(1);
  b.p.dispatch.max_running = 4;
  b.program.launch_after({}, 2, 1, 2);  // all registers
  b.program.launch_after({}, 1, 1, 8);  // has to wait for them
  b.program.launch_after({}, 1, 1, 8);
  b.program.launches[2].needs.registers = 0;
  b.program.launch_after({}, 2, 1, 8);
  b.program.launches[3].needs.registers = 0;
  b.program.launches[3].needs.shared_bytes = 30000;
  b.build();
  b.done(50, 0, 1);
  b.run();
  EXPECT_EQ(b.got(0), (Got{{14, 0, 0}, {15, 0, 1}, {16, 2, 0}, {17, 3, 0}, {58, 1, 0}}));
}

TEST(Dispatcher, AnSmMayBeKeptForOneLaunch) {
  Bench b(2);
  b.p.dispatch.max_running = 2;
  b.p.dispatch.one_at_a_time = true;
  b.program.launch_after({}, 1, 1, 8);
  b.program.launch_after({}, 3, 1, 8);
  b.build();
  b.done(50, 0, 0);
  b.run();
  EXPECT_EQ(b.got(0), (Got{{14, 0, 0}}));
  EXPECT_EQ(b.got(1), (Got{{14, 1, 0}, {15, 1, 1}, {16, 1, 2}}));
}

TEST(Dispatcher, LaunchesWaitForAllThatTheyAreAfter) {
  Bench b(4);
  b.p.dispatch.max_running = 8;
  b.program.launch_after({}, 1, 1);      // 0
  b.program.launch_after({}, 1, 1);      // 1
  b.program.launch_after({0}, 1, 1);     // 2
  b.program.launch_after({0, 1}, 1, 1);  // 3
  b.build();
  b.done(30, 0, 0);
  b.done(50, 1, 1);
  b.run();
  EXPECT_EQ(b.launch(0).end, 34u);
  EXPECT_EQ(b.launch(2).ready, 44u);
  EXPECT_EQ(b.launch(3).ready, 64u);
  EXPECT_EQ(b.got(0), (Got{{14, 0, 0}}));
  EXPECT_EQ(b.got(1), (Got{{14, 1, 0}}));
  EXPECT_EQ(b.got(2), (Got{{48, 2, 0}}));
  EXPECT_EQ(b.got(3), (Got{{68, 3, 0}}));
}

TEST(Dispatcher, GroupsHaveQueuesOfTheirOwn) {
  for (const bool steal : {false, true}) {
    Bench b(2);
    b.p.dispatch.groups = 2;
    b.p.dispatch.steal = steal;
    b.program.launch(6, 1, 8);
    b.program.launches[0].row = 2;
    b.build();
    b.run();
    // Blocks 0, 1, 4, 5 belong to the first SM, 2 and 3 to the second one.
    Got first{{14, 0, 0}, {15, 0, 1}, {16, 0, 4}}, second{{14, 0, 2}, {15, 0, 3}};
    (steal ? second : first).push_back({steal ? Tick{16} : Tick{17}, 0, 5});
    EXPECT_EQ(b.got(0), first);
    EXPECT_EQ(b.got(1), second);
  }
}

TEST(Dispatcher, LaunchesKeepToTheirStacks) {
  // Four SMs in two stacks; one launch for each stack, and one for both.
  for (const uint32_t groups : {1u, 2u}) {
    Bench b(4);
    b.stacks = 2;
    b.p.dispatch.max_running = 3;
    b.p.dispatch.groups = groups;
    b.p.dispatch.steal = groups == 2;
    b.program.launch_after({}, 3, 1, 8);
    b.program.launch_after({}, 2, 1, 8);
    b.program.launch_after({}, 2, 1, 8);
    b.program.launches[0].stacks = 2;
    b.program.launches[1].stacks = 1;
    b.build();
    b.run();
    // In the first cycle the SMs of stack 1 have blocks of launch 0, those of stack 0 of launch 1.
    const auto launches = [&](uint32_t sm) {
      std::map<uint32_t, std::vector<uint32_t>> of;
      for (const Bench::Block& block : b.got(sm)) of[block.launch].push_back(block.block);
      return of;
    };
    using Of = std::vector<uint32_t>;
    EXPECT_EQ(launches(0)[1], (Of{0})) << groups;
    EXPECT_EQ(launches(1)[1], (Of{1})) << groups;
    EXPECT_EQ(launches(2)[0], (Of{0, 2})) << groups;
    EXPECT_EQ(launches(3)[0], (Of{1})) << groups;
    EXPECT_EQ(b.got(0)[0].at, 14u);
    EXPECT_EQ(b.got(2)[0].at, 14u);
    for (const uint32_t sm : {0u, 1u}) EXPECT_EQ(launches(sm).count(0), 0u);
    for (const uint32_t sm : {2u, 3u}) EXPECT_EQ(launches(sm).count(1), 0u);
    EXPECT_EQ(b.s().counters.blocks_dispatched, 7u);
  }
}

TEST(Dispatcher, FillsOneSmAfterTheOther) {
  Bench b(3);
  b.p.dispatch.fill = true;
  b.program.launch(5, 1, 2);
  b.build();
  b.done(50, 0, 1);
  b.run();
  EXPECT_EQ(b.got(0), (Got{{14, 0, 0}, {15, 0, 1}}));
  EXPECT_EQ(b.got(1), (Got{{16, 0, 2}, {17, 0, 3}}));
  EXPECT_EQ(b.got(2), (Got{{18, 0, 4}}));
}

TEST(Dispatcher, ALaunchBeginsBehindTheLastOneOrWithTheFirstSm) {
  for (const bool from_first : {false, true}) {
    Bench b(3);
    b.p.dispatch.from_first = from_first;
    b.program.launch(1, 1);
    b.program.launch(2, 1);
    b.build();
    b.done(30, 0, 0);
    b.run();
    const Got first{{48, 1, 0}}, second{{48, 1, 1}};
    EXPECT_EQ(b.got(1), from_first ? second : first);
    EXPECT_EQ(b.got(from_first ? 0 : 2).back(), from_first ? first[0] : second[0]);
  }
}

TEST(Dispatcher, TheHostIsWantedForTracesAndNotOtherwise) {
  for (const bool on_demand : {true, false}) {
    Bench b(1);
    b.on_demand = on_demand;
    b.program.launch(9, 1, 8);
    b.build();
    DispatchState& d = b.s().dispatch;
    d.margin = 3;
    b.run(9);
    EXPECT_FALSE(d.host_wanted);
    b.run(12);
    EXPECT_EQ(d.host_wanted, on_demand);  // it has begun, and two blocks are out
    if (!on_demand) continue;
    b.rig.arena.get(d.ready)[0] = 9;
    d.host_wanted = false;
    b.run(20);
    EXPECT_FALSE(d.host_wanted);
  }
}

}  // namespace
}  // namespace nearwarp::frontend
