// Does what a packet says come out of it as it was put in, and does it name its kind?
#include <gtest/gtest.h>

#include "device/core/dispatch_messages.h"
#include "device/mechanisms/mpu/packets.h"
#include "device/mechanisms/tom/packets.h"

namespace nearwarp {
namespace {

template <class M>
M sent(const M& m, PacketKind kind) {
  Packet p;
  p.src = endpoint_of(7);
  p.dst = endpoint_of(9);
  p.bytes = 40;
  m.put(p);
  EXPECT_EQ(p.kind, kind);
  // Where it goes and what it weighs are the sender's.
  EXPECT_EQ(node_of(p.src), 7u);
  EXPECT_EQ(node_of(p.dst), 9u);
  EXPECT_EQ(p.bytes, 40u);
  return M::of(p);
}

TEST(Messages, ThreadBlocksBegin) {
  LaunchBlock m;
  m.launch = 3;
  m.launch_number = ~0u;
  m.block = 0xfffffffe;
  m.cluster = kMaxClusters - 1;
  for (uint32_t rank = 0; rank < kMaxClusterBlocks; ++rank) m.places.set(rank, rank * 2 % 31);
  const LaunchBlock out = sent(m, PacketKind::kLaunchBlock);
  EXPECT_EQ(out.launch, 3u);
  EXPECT_EQ(out.launch_number, ~0u);
  EXPECT_EQ(out.block, 0xfffffffeu);
  EXPECT_EQ(out.cluster, kMaxClusters - 1);
  for (uint32_t rank = 0; rank < kMaxClusterBlocks; ++rank)
    EXPECT_EQ(out.places.at(rank), rank * 2 % 31) << rank;
}

TEST(Messages, ThreadBlocksEnd) {
  const BlockDone alone = sent(BlockDone{5, false, {}}, PacketKind::kBlockDone);
  EXPECT_EQ(alone.thread_block, 5u);
  EXPECT_FALSE(alone.in_cluster);
  // The first cluster is not none.
  const BlockDone first = sent(BlockDone{6, true, {0, 3}}, PacketKind::kBlockDone);
  EXPECT_TRUE(first.in_cluster);
  EXPECT_EQ(first.member.cluster, 0u);
  EXPECT_EQ(first.member.rank, 3u);
  const AtClusterBarrier waits = sent(AtClusterBarrier{{4095, 15}}, PacketKind::kAtClusterBarrier);
  EXPECT_EQ(waits.member.cluster, 4095u);
  EXPECT_EQ(waits.member.rank, 15u);
}

TEST(Messages, BlocksOfAClusterReachEachOther) {
  const uint64_t event = uint64_t{1} << 62 | 5;
  const SharedRequest r = sent(SharedRequest{31, event, {8, 2}, 128}, PacketKind::kSharedRequest);
  EXPECT_EQ(r.access, 31u);
  EXPECT_EQ(r.event, event);
  EXPECT_EQ(r.to.cluster, 8u);
  EXPECT_EQ(r.to.rank, 2u);
  EXPECT_EQ(r.answer_bytes, 128u);
  EXPECT_EQ(sent(SharedReply{31}, PacketKind::kSharedReply).access, 31u);
  const SharedLine line = sent(SharedLine{{8, 2}, event, 1}, PacketKind::kSharedLine);
  EXPECT_EQ(line.to.cluster, 8u);
  EXPECT_EQ(line.to.rank, 2u);
  EXPECT_EQ(line.event, event);
  EXPECT_EQ(line.lines, 1u);
}

TEST(Messages, OffloadsAreAskedFor) {
  const tom::OffloadAsk ask = sent(tom::OffloadAsk{47, stack_id(3), 12}, tom::kOffloadAsk);
  EXPECT_EQ(ask.warp, 47u);
  EXPECT_EQ(ask.stack, stack_id(3));
  EXPECT_EQ(ask.rows, 12u);
  const tom::OffloadRelease back = sent(tom::OffloadRelease{stack_id(3), 12}, tom::kOffloadRelease);
  EXPECT_EQ(back.stack, stack_id(3));
  EXPECT_EQ(back.rows, 12u);
  EXPECT_EQ(sent(tom::InstanceBegun{9}, tom::kInstanceBegun).instances, 9u);
  Packet p;
  StatusBits{0x80000003u}.put(tom::kChannelBusy, p);
  EXPECT_EQ(p.kind, tom::kChannelBusy);
  EXPECT_EQ(StatusBits::of(p).bits, 0x80000003u);
}

TEST(Messages, InstructionsNearTheBanksHaveAWarpAndANumber) {
  Packet p;
  p.kind = mpu::kCommit;
  p.tag = mpu::NearMessage{63, 5}.tag();
  p.extra = 72;
  const mpu::NearMessage m = mpu::NearMessage::of(p);
  EXPECT_EQ(m.warp, 63u);
  EXPECT_EQ(m.number, 5u);
  EXPECT_EQ(m.reply_bytes, 72u);
}

}  // namespace
}  // namespace nearwarp
