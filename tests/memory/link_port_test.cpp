// Does a link port keep the link's bandwidth, route packets, and tell when channels are busy?
#include "tests/memory/link_rig.h"

namespace nearwarp::testing::link_port_test {
namespace {

using PortRig = LinkRig;
constexpr uint32_t kHop = LinkRig::kHop;
constexpr uint32_t kInterval = LinkRig::kInterval;

TEST(LinkPort, RepliesGoToSlicesAndSms) {
  PortRig r;
  r.rx->items.push_back({0, make_packet(PacketKind::kReadReply, 3, 1, 136, 5), 0});
  r.rx->items.push_back({0, make_packet(PacketKind::kWriteAck, 3, 2, 8, 6), 0});
  r.rx->items.push_back({0, make_packet(PacketKind::kReadReply, 3, 0, 136, 7), 0});
  r.run();
  EXPECT_EQ(r.slice_in[1]->items.at(0).packet.tag, 5u);
  EXPECT_EQ(r.sms->items.at(0).packet.tag, 6u);
  EXPECT_EQ(r.slice_in[0]->items.at(0).packet.tag, 7u);
  EXPECT_EQ(r.slice_in[1]->items[0].at, 136u + 20 + 4 + 20);  // on the wire, hop, cycle, hop
}

TEST(LinkPort, SendersTakeTurnsAndTheLinkIsNeverIdle) {
  PortRig r;
  for (uint32_t i = 0; i < 50; ++i) {
    r.slice_out[0]->items.push_back({0, make_packet(PacketKind::kWrite, 0, 3, 40, 0), 0});
    r.slice_out[1]->items.push_back({0, make_packet(PacketKind::kWrite, 1, 3, 40, 1), 0});
    r.offload->items.push_back({0, make_packet(tom::kOffloadRequest, 2, 3, 40, 2), 0});
  }
  r.run();
  ASSERT_EQ(r.tx->items.size(), 150u);
  for (std::size_t i = 3; i < 150; ++i) {
    EXPECT_EQ(r.tx->items[i].packet.tag, r.tx->items[i - 3].packet.tag);
    EXPECT_EQ(r.tx->items[i].at - r.tx->items[i - 1].at, 40u);
  }
}

TEST(LinkPort, TransfersThatAreNoMultipleOfTheCycleLeaveNoGaps) {
  // 136 bytes take 136 ticks, the port acts at multiples of 10.
  PortRig r;
  for (uint32_t i = 0; i < 100; ++i) {
    r.slice_out[i % 2]->items.push_back({0, make_packet(PacketKind::kWrite, 0, 3, 136), 0});
  }
  r.run();
  const Tick took = r.tx->items.back().at - r.tx->items.front().at;
  EXPECT_EQ(took, 99u * 136);
}

TEST(LinkPort, MonitorReportsBusyAndIdle) {
  for (const Tick window : {Tick{20}, Tick{1}, Tick{7}}) {
    PortRig r;
    // TX: 900 of the first 1000 ticks.
    for (uint32_t i = 0; i < 9; ++i) {
      r.slice_out[0]->items.push_back({0, make_packet(PacketKind::kWrite, 0, 3, 100), 0});
    }
    // RX: 850 bytes between 5000 and 6000.
    for (uint32_t i = 0; i < 5; ++i) {
      r.rx->items.push_back({5000, make_packet(PacketKind::kReadReply, 3, 1, 170), 0});
    }
    r.run(window);
    ASSERT_EQ(r.control->items.size(), 4u);
    EXPECT_EQ(r.control->items[0].packet.sectors, 1u);
    EXPECT_EQ(r.control->items[0].packet.src, 9u);
    EXPECT_EQ(r.control->items[0].at, 1000u + kHop);
    EXPECT_EQ(r.control->items[1].packet.sectors, 0u);
    EXPECT_EQ(r.control->items[1].at, 2000u + kHop);
    EXPECT_EQ(r.control->items[2].packet.sectors, 2u);
    EXPECT_EQ(r.control->items[2].at, 6000u + kHop);
    EXPECT_EQ(r.control->items[3].packet.sectors, 0u);
    EXPECT_EQ(r.counters().tx_busy_intervals, 1u);
    EXPECT_EQ(r.counters().rx_busy_intervals, 1u);
    EXPECT_EQ(r.counters().intervals, 4u);
  }
}

TEST(LinkPort, MonitorBelowTheThresholdSaysNothing) {
  PortRig r;
  for (uint32_t i = 0; i < 7; ++i) {
    r.slice_out[0]->items.push_back({0, make_packet(PacketKind::kWrite, 0, 3, 100), 0});
  }
  r.run();
  EXPECT_TRUE(r.control->items.empty());
  EXPECT_EQ(r.counters().intervals, 1u);
}

TEST(LinkPort, MessagesWaitForCreditAndTellTheLatest) {
  PortRig r;
  r.control->from = 100000;
  for (uint32_t k = 0; k < 20; ++k) {  // busy in every other interval: more than 16 slots hold
    for (uint32_t i = 0; i < 9; ++i) {
      r.slice_out[0]->items.push_back({k * 2000, make_packet(PacketKind::kWrite, 0, 3, 100), 0});
    }
  }
  r.run();
  EXPECT_EQ(r.control->items.back().packet.sectors, 0u);
  EXPECT_EQ(r.rig.arena.get(r.state)->told_bits, 0u);
}

TEST(LinkPort, IdleIntervalsCostNothing) {
  PortRig r;
  r.slice_out[0]->items.push_back({0, make_packet(PacketKind::kWrite, 0, 3, 40), 0});
  r.slice_out[0]->items.push_back({900000, make_packet(PacketKind::kWrite, 0, 3, 40), 0});
  r.run();
  EXPECT_EQ(r.counters().intervals, 2u);
  EXPECT_LT(r.rig.steps, 60u);
}

}  // namespace
}  // namespace nearwarp::testing::link_port_test
