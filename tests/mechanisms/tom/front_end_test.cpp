// Does TOM on the front end limit pending requests by stack, spread reports of busy channels, and
// end the learning phase at the right ticks?
#include <gtest/gtest.h>

#include "device/mechanisms/tom/mechanism.h"
#include "tests/support/front_end_rig.h"

namespace nearwarp::frontend {
namespace {

using namespace nearwarp::testing;

struct Bench : FrontEndRig<sm::MechanismList<tom::Mechanism>> {
  tom::ArbiterParams tom;

  explicit Bench(uint32_t sms, uint32_t stacks = 4) : FrontEndRig(sms, stacks) {
    p.word_kind = tom::kChannelBusy;
    tom.stack_warps = 3;
  }
  void build() {
    FrontEndRig::build([this](FrontEndState& s) {
      ArenaBuilder& a = rig.arena;
      tom::ArbiterState own;
      own.waiting_entries = p.num_sms * 48;
      own.waiting = a.allocate<tom::WaitingAsk>(num_monitors * own.waiting_entries);
      if (tom.learning_instances != 0) own.learning = tom::LearningPhase::kLearning;
      arbiter_ = a.allocate<tom::ArbiterState>(1);
      *a.get(arbiter_) = own;
      const Ref<tom::ArbiterParams> params = a.allocate<tom::ArbiterParams>(1);
      *a.get(params) = tom;
      s.attached = 1;
      s.mechanism_state[0] = arbiter_.offset;
      s.mechanism_params[0] = params.offset;
    });
  }
  tom::ArbiterState& arbiter() { return *rig.arena.get(arbiter_); }
  /// A message of an SM that is sent at `at`.
  void say(Tick at, uint32_t sm, PacketKind kind, uint32_t tag = 0, uint32_t stack = 0,
           uint32_t line = 0, uint32_t rows = 0) {
    Packet m;
    m.kind = kind;
    m.extra = rows;
    m.tag = tag;
    m.line = stack != 0 ? stack : line;
    from_sm[sm]->items.push_back({at, m, 0});
  }
  void report_busy(Tick at, uint32_t stack, uint32_t bits) {
    Packet m;
    m.kind = tom::kChannelBusy;
    m.sectors = bits;
    from_monitor[stack]->items.push_back({at, m, 0});
  }
  /// A report of an instance with `accesses`, all of which mapping 3 keeps together.
  void report(Tick at, uint32_t sm, uint32_t accesses) {
    tom::AnalyzerEntry e;
    e.accesses = accesses;
    e.at_destination[3] = accesses;
    from_sm[sm]->items.push_back({at, tom::pack_report(e), 0});
  }
  /// Arrival times and tags of the packets of a kind that SM `sm` has got.
  std::vector<std::pair<Tick, uint32_t>> got(uint32_t sm, PacketKind kind) {
    std::vector<std::pair<Tick, uint32_t>> some;
    for (const auto& i : to_sm[sm]->items)
      if (i.packet.kind == kind)
        some.emplace_back(i.at, kind == PacketKind::kLaunchBlock ? i.packet.line
                                : kind == tom::kChannelBusy      ? i.packet.sectors
                                                                 : i.packet.tag);
    return some;
  }

 private:
  Ref<tom::ArbiterState> arbiter_;
};
using Got = std::vector<std::pair<Tick, uint32_t>>;

TEST(FrontEnd, PendingLimitIsExact) {
  for (const bool dynamic : {true, false}) {
    Bench b(2);
    b.tom.dynamic_control = dynamic;
    b.build();
    for (uint32_t i = 0; i < 3; ++i) b.say(i, 0, tom::kOffloadAsk, i, 2);
    b.say(10, 0, tom::kOffloadAsk, 3, 2);      // the stack holds three
    b.say(11, 0, tom::kOffloadAsk, 7, 1);      // another stack
    b.say(30, 1, tom::kOffloadRelease, 0, 2);  // now it holds two
    b.say(40, 0, tom::kOffloadAsk, 4, 2);
    b.run();
    const Got grants = b.got(0, tom::kOffloadGrant);
    const Got denials = b.got(0, tom::kOffloadDeny);
    if (dynamic) {
      EXPECT_EQ(grants, (Got{{8, 0}, {9, 1}, {10, 2}, {19, 7}, {48, 4}}));
      EXPECT_EQ(denials, (Got{{18, 3}}));
      EXPECT_EQ(b.arbiter().counters.denials, 1u);
    } else {
      // The fourth request waits for the release, the last one for another that does not come.
      EXPECT_EQ(grants, (Got{{8, 0}, {9, 1}, {10, 2}, {19, 7}, {38, 3}}));
      EXPECT_TRUE(denials.empty());
    }
    EXPECT_EQ(b.arbiter().counters.peak_pending, 3u);
    EXPECT_EQ(b.arbiter().pending[2], 3u);
    EXPECT_EQ(b.arbiter().pending[1], 1u);
  }
}

TEST(FrontEnd, UncontrolledQuestionsAreServedInOrder) {
  Bench b(3);
  b.tom.stack_warps = 1;
  b.build();
  b.say(0, 0, tom::kOffloadAsk, 0, 0);
  b.say(1, 2, tom::kOffloadAsk, 20, 0);
  b.say(2, 1, tom::kOffloadAsk, 10, 0);
  b.say(3, 2, tom::kOffloadAsk, 21, 0);
  for (uint32_t i = 0; i < 4; ++i) b.say(20 + 10 * i, 0, tom::kOffloadRelease, 0, 0);
  b.run();
  EXPECT_EQ(b.got(2, tom::kOffloadGrant), (Got{{28, 20}, {48, 21}}));
  EXPECT_EQ(b.got(1, tom::kOffloadGrant), (Got{{38, 10}}));
  EXPECT_EQ(b.arbiter().pending[0], 0u);
  EXPECT_EQ(b.arbiter().counters.releases, 4u);
}

TEST(FrontEnd, RoomInSharedMemoryIsExact) {
  Bench b(2);
  b.tom.dynamic_control = true;
  b.tom.stack_rows = 10;
  b.build();
  b.say(0, 0, tom::kOffloadAsk, 0, 2, 0, 6);
  b.say(1, 0, tom::kOffloadAsk, 1, 2, 0, 5);  // one row too many
  b.say(2, 0, tom::kOffloadAsk, 2, 2, 0, 4);
  b.say(3, 0, tom::kOffloadAsk, 3, 2, 0, 0);  // needs no shared memory
  b.say(4, 0, tom::kOffloadAsk, 4, 2, 0,
        5);  // no warp is left either, and that is the reason given
  b.say(5, 0, tom::kOffloadAsk, 5, 1, 0, 5);  // another stack
  b.say(30, 1, tom::kOffloadRelease, 0, 2, 0, 6);
  b.say(40, 0, tom::kOffloadAsk, 6, 2, 0, 6);
  b.run();
  EXPECT_EQ(b.got(0, tom::kOffloadGrant), (Got{{8, 0}, {10, 2}, {11, 3}, {13, 5}, {48, 6}}));
  EXPECT_EQ(b.got(0, tom::kOffloadDenyShared), (Got{{9, 1}}));
  EXPECT_EQ(b.got(0, tom::kOffloadDeny), (Got{{12, 4}}));
  EXPECT_EQ(b.arbiter().counters.denials, 2u);
  EXPECT_EQ(b.arbiter().counters.peak_rows, 10u);
  EXPECT_EQ(b.arbiter().rows[2], 10u);
}

TEST(FrontEnd, UncontrolledQuestionsWaitForSharedMemoryInOrder) {
  Bench b(1);
  b.tom.stack_rows = 10;
  b.build();
  b.say(0, 0, tom::kOffloadAsk, 0, 2, 0, 10);
  b.say(1, 0, tom::kOffloadAsk, 1, 2, 0, 6);
  b.say(2, 0, tom::kOffloadAsk, 2, 2, 0, 4);
  b.say(3, 0, tom::kOffloadAsk, 3, 2, 0, 0);  // waits behind the others for a warp
  b.say(20, 0, tom::kOffloadRelease, 0, 2, 0, 10);
  b.run();
  // One release has room for all of them; messages to an SM leave one a tick.
  const Got grants = b.got(0, tom::kOffloadGrant);
  ASSERT_EQ(grants.size(), 4u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(grants[i].second, i);
  EXPECT_EQ(grants[1].first, 28u);
  EXPECT_EQ(b.arbiter().rows[2], 10u);
  EXPECT_EQ(b.arbiter().pending[2], 3u);
}

TEST(FrontEnd, BusyReportsGoToEverySmOnce) {
  Bench b(2);
  b.build();
  b.report_busy(10, 1, 2);
  b.report_busy(30, 3, 1);
  b.report_busy(50, 1, 0);
  b.run();
  for (uint32_t i = 0; i < 2; ++i)
    EXPECT_EQ(b.got(i, tom::kChannelBusy), (Got{{18, 8}, {38, 8 | 64}, {58, 64}}));
}

TEST(FrontEnd, AnswersGoBeforeBusyReportsAndBlocks) {
  Bench b(1);
  b.program.block({});
  b.program.launch(1, 1, 1);
  b.build();
  b.say(6, 0, tom::kOffloadAsk, 5, 0);
  b.report_busy(6, 0, 1);
  b.run();
  ASSERT_EQ(b.to_sm[0]->items.size(), 3u);
  EXPECT_EQ(b.to_sm[0]->items[0].packet.kind, tom::kOffloadGrant);
  EXPECT_EQ(b.to_sm[0]->items[1].packet.kind, tom::kChannelBusy);
  EXPECT_EQ(b.to_sm[0]->items[2].packet.kind, PacketKind::kLaunchBlock);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(b.to_sm[0]->items[i].at, 14u + i);
}

TEST(FrontEnd, UnknownMessagesAreFaults) {
  Bench b(1);
  b.build();
  b.say(0, 0, PacketKind::kRead);
  b.run();
  EXPECT_EQ(b.s().fault.code, kFaultUnexpectedPacket);
  EXPECT_EQ(b.s().fault.tick, 4u);
}

TEST(FrontEnd, TheLearningPhaseEndsExactlyWithItsLastInstance) {
  Bench b(3);
  b.tom.learning_instances = 4;
  b.tom.remap_ticks = 50;
  b.program.block({});
  b.program.launch(8, 1, 1);
  b.build();
  for (uint32_t i = 0; i < 3; ++i) b.report(20 + i, i, 10);
  b.report(30, 1, 1);  // the fourth
  b.report(31, 2, 7);  // too late
  b.report(33, 2, 7);
  for (uint32_t i = 0; i < 3; ++i) b.say(60 + 5 * i, i, tom::kLearningStopped);
  b.say(40, 0, PacketKind::kBlockDone, 0, 0, 0);  // makes room, but nothing is dispatched now
  b.run();
  EXPECT_EQ(b.arbiter().seen.instances, 4u);
  EXPECT_EQ(b.arbiter().seen.accesses, 31u);
  EXPECT_EQ(b.arbiter().seen.at_destination[3], 31u);
  EXPECT_EQ(b.arbiter().seen.one_stack[3], 4u);
  EXPECT_EQ(b.arbiter().seen.at_destination[2], 0u);
  EXPECT_EQ(b.arbiter().late_reports, 2u);
  EXPECT_EQ(b.arbiter().learning, tom::LearningPhase::kOver);
  EXPECT_EQ(b.arbiter().stop_at, 34u);
  EXPECT_EQ(b.arbiter().held_at, 74u);
  EXPECT_EQ(b.arbiter().resume_at, 124u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(b.got(i, tom::kLearningStop), (Got{{38, 0}}));
    EXPECT_EQ(b.got(i, tom::kLearningResume), (Got{{128, 0}}));
  }
  EXPECT_EQ(b.got(0, PacketKind::kLaunchBlock), (Got{{14, 0}, {129, 3}}));
}

TEST(FrontEnd, AStandstillHoldsTheNextLaunch) {
  Bench b(1);
  b.tom.learning_instances = 1;
  b.tom.remap_ticks = 100;
  b.program.block({});
  b.program.launch(1, 1, 1);
  b.program.launch(1, 1, 1);
  b.build();
  b.report(20, 0, 1);
  b.say(30, 0, PacketKind::kBlockDone, 0, 0, 0);
  b.say(40, 0, tom::kLearningStopped);
  b.run();
  EXPECT_EQ(b.arbiter().resume_at, 144u);
  EXPECT_EQ(b.got(0, PacketKind::kLaunchBlock).size(), 2u);
  EXPECT_EQ(b.got(0, PacketKind::kLaunchBlock)[1].first, 149u);
}

}  // namespace
}  // namespace nearwarp::frontend
