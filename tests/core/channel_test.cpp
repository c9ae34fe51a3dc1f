// Are a channel's arrivals, serialisation and credits right to the tick, also with rings of the
// least size?
#include "device/core/channel.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "device/core/arena.h"
#include "device/core/make_channel.h"

namespace nearwarp {
namespace {

struct Wire {
  ArenaBuilder arena;
  Ref<Channel> ref;
  Horizon horizon;

  Wire(uint32_t slots, uint32_t latency, uint32_t credit_latency, uint32_t num = 0,
       uint32_t den = 1)
      : ref(make_channel(arena, {slots, latency, credit_latency, num, den})) {}
  Channel& channel() { return *arena.get(ref); }
  std::byte* base() { return arena.base(); }
  void put(Tick now, uint16_t bytes, uint32_t tag = 0, Tick serialisation = 0) {
    Packet p;
    p.bytes = bytes;
    p.tag = tag;
    send(channel(), base(), now, p, horizon, serialisation);
  }
  uint32_t take(Tick now) {
    const uint32_t tag = front(channel(), base()).tag;
    pop(channel(), base(), now, horizon);
    return tag;
  }
};

TEST(Channel, ArrivesAfterTransferAndLatency) {
  Wire w(4, 100, 10, 3, 2);  // 1.5 ticks per byte
  w.put(1000, 40);
  EXPECT_EQ(head_arrival(w.channel(), w.base()), 1000u + 60 + 100);
  EXPECT_FALSE(has_packet(w.channel(), w.base(), 1159));
  EXPECT_TRUE(has_packet(w.channel(), w.base(), 1160));
  EXPECT_EQ(w.horizon.next, 1160u);
}

TEST(Channel, TransferTicksRoundUp) {
  Wire w(4, 1, 1, 2, 3);
  EXPECT_EQ(transfer_ticks(w.channel(), 1), 1u);
  EXPECT_EQ(transfer_ticks(w.channel(), 3), 2u);
  EXPECT_EQ(transfer_ticks(w.channel(), 4), 3u);
  EXPECT_EQ(transfer_ticks(w.channel(), 9), 6u);
  Wire unlimited(4, 1, 1);
  EXPECT_EQ(transfer_ticks(unlimited.channel(), 1000), 0u);
}

TEST(Channel, PacketsFollowOneAnotherOnTheWire) {
  Wire w(4, 100, 10, 1, 1);
  w.put(0, 40, 1);
  EXPECT_FALSE(can_send(w.channel(), w.base(), 39));
  EXPECT_TRUE(can_send(w.channel(), w.base(), 40));
  EXPECT_EQ(send_tick(w.channel(), w.base()), 40u);
  EXPECT_EQ(credit_tick(w.channel(), w.base()), 0u);  // slots are not the reason
  w.put(10, 20, 2);  // a second packet of one step queues behind the first
  EXPECT_EQ(w.channel().producer_side.free_at, 60u);
  EXPECT_EQ(w.channel().producer_side.busy, 60u);
  EXPECT_EQ(head_arrival(w.channel(), w.base()), 140u);
  EXPECT_EQ(w.take(140), 1u);
  EXPECT_EQ(head_arrival(w.channel(), w.base()), 160u);
  EXPECT_EQ(w.take(160), 2u);
  EXPECT_EQ(head_arrival(w.channel(), w.base()), kNever);
}

TEST(Channel, SerialisationDelaysButDoesNotOccupy) {
  Wire w(4, 100, 10, 1, 1);
  w.put(0, 40, 1, 70);
  EXPECT_EQ(head_arrival(w.channel(), w.base()), 170u);
  EXPECT_EQ(w.channel().producer_side.free_at, 40u);
  Wire shorter(4, 100, 10, 1, 1);
  shorter.put(0, 40, 1, 30);
  EXPECT_EQ(head_arrival(shorter.channel(), shorter.base()), 140u);
}

TEST(Channel, CreditComesBackExactlyAfterItsLatency) {
  Wire w(1, 100, 10);
  w.put(0, 8);
  EXPECT_EQ(send_tick(w.channel(), w.base()), kNever);
  EXPECT_FALSE(can_send(w.channel(), w.base(), 1'000'000));
  w.horizon.next = kNever;
  w.take(250);
  EXPECT_EQ(w.horizon.next, 260u);
  EXPECT_EQ(send_tick(w.channel(), w.base()), 260u);
  EXPECT_FALSE(can_send(w.channel(), w.base(), 259));
  EXPECT_TRUE(can_send(w.channel(), w.base(), 260));
}

TEST(Channel, SeveralCredits) {
  Wire w(3, 5, 7);
  EXPECT_TRUE(has_credits(w.channel(), w.base(), 0, 3));
  w.put(0, 8);
  EXPECT_TRUE(has_credits(w.channel(), w.base(), 0, 2));
  EXPECT_FALSE(has_credits(w.channel(), w.base(), 0, 3));
  w.take(5);
  EXPECT_FALSE(has_credits(w.channel(), w.base(), 11, 3));
  EXPECT_TRUE(has_credits(w.channel(), w.base(), 12, 3));
}

TEST(Channel, OneSlotPassesEverythingInOrder) {
  Wire w(1, 3, 4);
  Tick now = 0;
  for (uint32_t i = 0; i < 20; ++i) {
    now = send_tick(w.channel(), w.base());
    EXPECT_EQ(now, Tick{7} * i);  // 3 there, 4 back
    w.put(now, 8, i);
    EXPECT_EQ(w.take(now + 3), i);
  }
  EXPECT_EQ(w.channel().producer_side.packets, 20u);
  EXPECT_EQ(w.channel().consumer_side.packets, 20u);
  EXPECT_EQ(w.channel().producer_side.bytes, 160u);
  EXPECT_EQ(w.channel().consumer_side.bytes, 160u);
}

TEST(Channel, RandomTrafficAgreesWithAQueue) {
  std::mt19937 random(7);
  for (const uint32_t slots : {1u, 2u, 5u}) {
    Wire w(slots, 6, 9, 1, 4);
    std::deque<std::pair<Tick, uint32_t>> queue;  // arrival, tag
    std::deque<Tick> credits(slots, 0);
    Tick free_at = 0;
    uint32_t tag = 0;
    for (Tick now = 0; now < 3000; ++now) {
      const Tick expected = credits.empty() ? kNever : std::max(free_at, credits.front());
      ASSERT_EQ(can_send(w.channel(), w.base(), now), expected <= now) << now;
      if (expected <= now && random() % 3 != 0) {
        const auto bytes = static_cast<uint16_t>(random() % 40);
        w.put(now, bytes, tag);
        free_at = now + (bytes + 3) / 4;
        credits.pop_front();
        queue.emplace_back(free_at + 6, tag++);
      }
      ASSERT_EQ(has_packet(w.channel(), w.base(), now),
                !queue.empty() && queue.front().first <= now);
      if (has_packet(w.channel(), w.base(), now) && random() % 2 != 0) {
        ASSERT_EQ(w.take(now), queue.front().second);
        queue.pop_front();
        credits.push_back(now + 9);
      }
    }
    EXPECT_GT(tag, 50u);
  }
}

}  // namespace
}  // namespace nearwarp
