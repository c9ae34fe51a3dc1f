// Does the CPU's memory behind PCI-E have its round trip, its bandwidth in each direction, and its
// limit of requests in flight?
#include "device/link/host_memory.h"

#include <gtest/gtest.h>

#include "device/mechanisms/tom/packets.h"
#include "tests/memory/period.h"
#include "tests/support/rig.h"

namespace nearwarp::testing::host_memory_test {
namespace {

constexpr uint16_t kCpu = 9;
constexpr uint32_t kLatency = 500;  // each way

/// An SM's requests on one channel, replies on the other.
struct HostRig {
  Rig rig;
  HostMemoryParams params;
  Ref<HostMemoryState> state;
  std::shared_ptr<MockProducer> requests;
  std::shared_ptr<MockConsumer> replies;

  explicit HostRig(uint32_t slots = 16, uint32_t ticks_per_byte = 0) {
    params.period = kPeriod;
    params.header_bytes = 8;
    params.line_bytes = 128;
    params.sector_bytes = 32;
    params.endpoint = endpoint_of(kCpu);
    const ChannelSpec bus{slots, kLatency, kLatency, ticks_per_byte, 1};
    HostMemoryState s;
    s.in = rig.channel(bus);
    s.out = rig.channel(bus);
    state = rig.arena.allocate<HostMemoryState>(1);
    *rig.arena.get(state) = s;
    requests = rig.producer(s.in, kPeriod);
    rig.add([this](std::byte* base, Window w,
                   Horizon& h) { return step_host_memory(params, *state.in(base), base, w, h); },
            {s.in});
    replies = rig.consumer(s.out, kPeriod);
  }
  void ask(Tick at, const Packet& p) { requests->items.push_back({at, p}); }
  void run(const RunOptions& options = {kLatency}) {
    rig.run(options, 10'000'000);
    EXPECT_TRUE(rig.drained());
    EXPECT_EQ(replies->items.size(), requests->items.size());
  }
  const HostMemoryState& memory() { return *rig.arena.get(state); }
};

TEST(HostMemory, AnswersEveryKindOfRequest) {
  HostRig r;
  r.ask(0, make_packet(PacketKind::kRead, 3, kCpu, 8, 77, 5, 15));
  r.ask(0, make_packet(PacketKind::kWrite, 4, kCpu, 40, 78, 6, 1));
  r.ask(0, make_packet(PacketKind::kAtomic, 5, kCpu, 72, 79, 7, 5));
  r.run();
  const auto& got = r.replies->items;
  EXPECT_EQ(got[0].packet.kind, PacketKind::kReadReply);
  EXPECT_EQ(got[0].packet.bytes, 8 + 128);
  EXPECT_EQ(got[1].packet.kind, PacketKind::kWriteAck);
  EXPECT_EQ(got[1].packet.bytes, 8);
  EXPECT_EQ(got[2].packet.kind, PacketKind::kAtomicReply);
  EXPECT_EQ(got[2].packet.bytes, 8 + 2 * 32);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(got[i].packet.dst, 3 + i);
    EXPECT_EQ(got[i].packet.src, kCpu);
    EXPECT_EQ(got[i].packet.tag, 77 + i);
    EXPECT_EQ(got[i].packet.line, 5 + i);
  }
  EXPECT_EQ(r.memory().counters.reads, 1u);
  EXPECT_EQ(r.memory().counters.writes, 1u);
  EXPECT_EQ(r.memory().counters.atomics, 1u);
  EXPECT_EQ(r.memory().fault.code, kFaultNone);
}

TEST(HostMemory, ARoundTripIsTheTwoChannels) {
  HostRig unlimited;
  unlimited.ask(0, make_packet(PacketKind::kRead, 3, kCpu, 8));
  unlimited.run();
  EXPECT_EQ(unlimited.replies->items[0].at, 2 * kLatency);
  HostRig r(16, 10);  // 10 ticks per byte, each way
  r.ask(0, make_packet(PacketKind::kRead, 3, kCpu, 8));
  r.run();
  EXPECT_EQ(r.replies->items[0].at, 2 * kLatency + 10 * 8 + 10 * 136);
}

TEST(HostMemory, RepliesComeAtTheBandwidthOfTheBus) {
  HostRig r(64, 10);
  for (uint32_t i = 0; i < 32; ++i) r.ask(0, make_packet(PacketKind::kRead, 3, kCpu, 8, i));
  r.run();
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(r.replies->items[i].packet.tag, i);
    EXPECT_EQ(r.replies->items[i].at, 2 * kLatency + 80 + (i + 1) * Tick{1360});
  }
}

TEST(HostMemory, SlotsBoundTheRequestsInFlight) {
  HostRig r(2);
  for (uint32_t i = 0; i < 6; ++i) r.ask(0, make_packet(PacketKind::kRead, 3, kCpu, 8, i));
  r.run();
  // Two at a time on the way there; a slot comes back when its request has been taken.
  const Tick pair = 2 * kLatency;
  for (uint32_t i = 0; i < 6; ++i)
    EXPECT_EQ(r.replies->items[i].at, 2 * kLatency + i / 2 * pair + i % 2 * kPeriod) << i;
}

TEST(HostMemory, WaitsForCreditsOfTheReplies) {
  const auto times = [](const RunOptions& options) {
    HostRig r(4, 3);
    r.replies->from = 20'000;  // the replies' slots stay taken until then
    for (uint32_t i = 0; i < 20; ++i)
      r.ask(7 * i,
            make_packet(i % 3 == 0 ? PacketKind::kWrite : PacketKind::kRead, 3, kCpu, 40, i, i, 1));
    r.run(options);
    std::vector<Tick> at;
    for (const auto& i : r.replies->items) at.push_back(i.at);
    return at;
  };
  const std::vector<Tick> expected = times({kLatency});
  EXPECT_EQ(expected.front(), 20'000u);
  EXPECT_GT(expected[4], 20'000u + kLatency);  // needs the credit of the first
  for (const Tick window : {1, 7, 333, 499})
    for (const uint32_t seed : {0, 3}) EXPECT_EQ(times({window, seed}), expected) << window;
}

TEST(HostMemory, OtherPacketsAreFaults) {
  HostRig r;
  r.ask(0, make_packet(tom::kOffloadAck, 3, kCpu, 8));
  r.rig.run({kLatency}, 100'000);
  EXPECT_EQ(r.memory().fault.code, kFaultUnexpectedPacket);
  EXPECT_TRUE(r.replies->items.empty());
}

}  // namespace
}  // namespace nearwarp::testing::host_memory_test
