// Are the hooks of a link port called at the right ticks? The test plays the neighbours: packets
// pass, wait and are taken, a mechanism sends packets of its own, and takes turns with others.
#include "tests/mechanisms/memory_hooks/link_gate.h"
#include "tests/memory/link_rig.h"

namespace nearwarp::testing::link_hooks_test {
namespace {

using Gate = link_gate::OnLink;
/// A mechanism that lets all packets pass, and sees each once.
struct Watcher {
  static constexpr uint32_t kPacketBlock = 207;
  struct OnLink : LinkHooks {
    struct State {
      uint64_t seen = 0;
    };
    struct Params {};
    template <class O>
    NW_HD static LinkPassage on_packet(O& o, const Packet&, LinkWay, Tick) {
      o.s.seen += 1;
      return LinkPassage::kPasses;
    }
  };
};
using List = MechanismList<Watcher, link_gate::Mechanism>;

constexpr uint32_t kHop = LinkRig::kHop;

struct GatedLink : LinkRig {
  Ref<Gate::State> gate;
  Ref<Watcher::OnLink::State> watcher;

  explicit GatedLink(Gate::Params gated = {}) : LinkRig(step_link_port<List>) {
    gate = place(Gate::State{});
    watcher = place(Watcher::OnLink::State{});
    Attachments attached;
    attached.bits = 3;
    attached.state[0] = watcher.offset;
    attached.params[0] = place(Watcher::OnLink::Params{}).offset;
    attached.state[1] = gate.offset;
    attached.params[1] = place(gated).offset;
    rig.arena.get(state)->attached = attached;
  }
  template <class T>
  Ref<T> place(const T& value) {
    const Ref<T> ref = rig.arena.allocate<T>(1);
    *rig.arena.get(ref) = value;
    return ref;
  }
  void read(Tick at, uint32_t tag, uint32_t slice = 0) {
    slice_out[slice]->items.push_back(
        {at, make_packet(PacketKind::kRead, static_cast<uint16_t>(slice), 3, 8, tag), 0});
  }
  void write(Tick at, uint32_t tag) {
    slice_out[1]->items.push_back({at, make_packet(PacketKind::kWrite, 1, 3, 40, tag), 0});
  }
  uint64_t seen() { return rig.arena.get(watcher)->seen; }
};

TEST(LinkHooks, WhatPassesIsNoLaterAndSeenOnce) {
  GatedLink r;
  r.write(0, 1);
  r.write(0, 2);
  r.rx->items.push_back({0, make_packet(PacketKind::kReadReply, 3, 1, 136, 5), 0});
  r.run();
  ASSERT_EQ(r.tx->items.size(), 2u);
  EXPECT_EQ(r.tx->items[0].at, kHop + 40 + kHop);
  EXPECT_EQ(r.tx->items[1].at, kHop + 80 + kHop);
  EXPECT_EQ(r.slice_in[1]->items.at(0).at, 136u + kHop + 4 + kHop);  // as without a mechanism
  EXPECT_EQ(r.rig.arena.get(r.gate)->passed[0], 2u);
  EXPECT_EQ(r.rig.arena.get(r.gate)->passed[1], 1u);
  EXPECT_EQ(r.seen(), 3u);
}

TEST(LinkHooks, WhatWaitsGoesOnWhenItMay) {
  for (const Tick window : {Tick{20}, Tick{1}, Tick{7}}) {
    GatedLink r({.cycles = 3});
    r.read(0, 1);
    r.read(0, 2);
    r.run(window);
    ASSERT_EQ(r.tx->items.size(), 2u);
    EXPECT_EQ(r.tx->items[0].at, kHop + 3 * kPeriod + 8 + kHop);
    // Shown when the first one has left its port, a cycle later.
    EXPECT_EQ(r.tx->items[1].at, kHop + 4 * kPeriod + 3 * kPeriod + 8 + kHop);
    EXPECT_EQ(r.seen(), 2u);
  }
}

TEST(LinkHooks, EachOfAQueueIsSeenOnce) {
  for (const Tick window : {Tick{20}, Tick{1}, Tick{7}}) {
    GatedLink r;
    for (uint32_t i = 0; i < 12; ++i) {
      r.write(0, i);
      r.read(0, 100 + i);
    }
    r.run(window);
    EXPECT_EQ(r.tx->items.size(), 24u);
    EXPECT_EQ(r.seen(), 24u);
    EXPECT_EQ(r.rig.arena.get(r.gate)->passed[0], 24u);
  }
}

TEST(LinkHooks, OthersPassBesideOneThatWaits) {
  GatedLink r({.cycles = 30});
  r.read(0, 1);
  r.write(0, 2);
  r.run();
  ASSERT_EQ(r.tx->items.size(), 2u);
  EXPECT_EQ(r.tx->items[0].packet.tag, 2u);
  EXPECT_EQ(r.tx->items[0].at, kHop + 40 + kHop);
  EXPECT_EQ(r.tx->items[1].at, kHop + 30 * kPeriod + 8 + kHop);
}

TEST(LinkHooks, WhatIsTakenIsAnsweredAtTheLink) {
  for (const Tick window : {Tick{20}, Tick{1}, Tick{7}}) {
    GatedLink r({.cycles = 2, .answers = true});
    r.read(0, 7);
    r.run(window);
    EXPECT_TRUE(r.tx->items.empty());
    ASSERT_EQ(r.slice_in[0]->items.size(), 1u);
    EXPECT_EQ(r.slice_in[0]->items[0].packet.tag, 7u);
    // Taken two cycles after it came, it leaves in the next one.
    EXPECT_EQ(r.slice_in[0]->items[0].at, kHop + 3 * kPeriod + kHop);
  }
}

TEST(LinkHooks, PacketsOfItsOwnTakeTurns) {
  for (const Tick window : {Tick{20}, Tick{1}, Tick{7}}) {
    GatedLink r({.writes = 4});
    for (uint32_t i = 0; i < 5; ++i) r.write(0, i);
    r.run(window);
    ASSERT_EQ(r.tx->items.size(), 9u);
    for (uint32_t i = 0; i < 9; ++i) {
      EXPECT_EQ(r.tx->items[i].packet.tag, i % 2 == 0 ? i / 2 : 100 + i / 2);
      EXPECT_EQ(r.tx->items[i].at, kHop + 40 * (i + 1) + kHop);  // and the link is never idle
    }
  }
}

TEST(LinkHooks, APacketWithoutAWayIsAFault) {
  GatedLink r({.answers = true});
  r.slice_out[0]->items.push_back({0, make_packet(PacketKind::kRead, 3, 3, 8, 1), 0});
  r.rig.run({kHop}, 1000);
  EXPECT_NE(r.rig.arena.get(r.state)->ports.fault.code, 0u);  // no replies go to memory
}

}  // namespace
}  // namespace nearwarp::testing::link_hooks_test
