// Do a vault's bank groups, row buffers, page policies, separate queues and address orders work as
// those of a memory channel?
#include <gtest/gtest.h>

#include <set>

#include "tests/memory/vault_rig.h"

namespace nearwarp::testing::vault_channel_test {
namespace {

/// Two groups of two banks.
void groups(VaultRig& v) {
  v.params.group_shift = 1;
  v.params.tCCD_L = v.params.tCCD;
  v.params.tRRD_L = v.params.tRRD;
  v.params.tWTR_L = v.params.tWTR;
}

// --- writes of other stacks ---

TEST(VaultWrites, ASliceIsToldOfThoseOfOthers) {
  VaultRig r([](VaultRig& v) { v.foreign = {0, 0, 0, 0, 1}; });
  r.write(1, r.line(0, 0), 5, 3);
  r.write(2, r.line(0, 1), 6, 4);
  r.run();
  ASSERT_EQ(r.out->items.size(), 3u);
  const Packet& ack = r.out->items[1].packet;
  EXPECT_EQ(ack.kind, PacketKind::kWriteAck);
  EXPECT_EQ(ack.dst, 4u);
  const Packet& word = r.out->items[2].packet;
  EXPECT_EQ(word.kind, PacketKind::kLineWritten);
  EXPECT_EQ(word.dst, 77u);
  EXPECT_EQ(word.line, r.line(0, 1));
  EXPECT_EQ(word.bytes, 8u);
  EXPECT_EQ(r.left(2), r.left(1) + 1);  // a reply in a cycle
}

TEST(VaultWrites, ASliceIsToldHoweverLongRepliesWait) {
  VaultRig r([](VaultRig& v) { v.foreign = {0, 0, 0, 0, 1}; }, 2, 1);
  for (uint32_t k = 0; k < 40; ++k) r.write(1 + k, r.line(0, k % 4), k, 4);
  r.out->period = 100 * kPeriod;
  r.run();
  EXPECT_EQ(r.out->items.size(), 80u);
  EXPECT_EQ(r.counters().lines_told, 40u);
}

// --- bank groups ---

TEST(VaultGroups, ColumnCommandsOfOneGroupKeepTheLongerDistance) {
  for (const uint32_t distance : {4u, 5u, 7u}) {
    VaultRig r([distance](VaultRig& v) {
      groups(v);
      v.params.tCCD_L = distance;
    });
    for (uint32_t b = 0; b < 3; ++b) r.read(1 + b, r.line(0, b));
    r.read(200, r.line(0, 0));
    r.read(201, r.line(0, 1));  // one group: reads in 201 and 201 + tCCD_L
    r.read(300, r.line(0, 0));
    r.read(301, r.line(0, 2));  // another: 301 and 301 + tCCD
    r.run();
    EXPECT_EQ(r.left(3), 201u + 11 + 4);
    EXPECT_EQ(r.left(4), 201u + distance + 11 + 4);
    EXPECT_EQ(r.left(6), 301u + 4 + 11 + 4);
  }
}

TEST(VaultGroups, ActivationsOfOneGroupKeepTheLongerDistance) {
  for (const uint32_t distance : {5u, 6u, 9u}) {
    for (const uint32_t other : {1u, 2u}) {
      VaultRig r([distance](VaultRig& v) {
        groups(v);
        v.params.tRRD_L = distance;
      });
      r.read(1, r.line(0, 0));
      r.read(2, r.line(0, other));
      r.run();
      EXPECT_EQ(r.left(1), 2u + (other == 1 ? distance : 5) + 26) << other;
    }
  }
}

TEST(VaultGroups, ReadsAfterWritesOfOneGroupWaitLonger) {
  for (const uint32_t other : {1u, 2u}) {
    VaultRig r([](VaultRig& v) {
      groups(v);
      v.params.tWTR_L = 10;
    });
    r.read(1, r.line(0, other));
    r.write(200, r.line(0, 0));  // activation 201, write 212, data ends 212 + 8 + 3.2 -> 224
    r.read(213, r.line(0, other, 1));
    r.run();
    EXPECT_EQ(r.left(2), 224u + (other == 1 ? 10 : 6) + 11 + 4) << other;
  }
}

// --- row buffers ---

/// Two row buffers per bank: odd rows in one, even rows in the other.
void two_buffers(VaultRig& v) { v.params.row_buffer_bits = 1; }

TEST(VaultRowBuffers, RowsOfDifferentBuffersStayOpenTogether) {
  VaultRig r(two_buffers);
  r.read(1, r.line(4, 0));
  r.read(200, r.line(5, 0));
  r.read(300, r.line(4, 0, 1));
  r.read(400, r.line(5, 0, 1));
  r.run();
  EXPECT_EQ(r.left(1), 200u + kMiss);  // no precharge: the buffer was empty
  EXPECT_EQ(r.left(2), 300u + kHit);
  EXPECT_EQ(r.left(3), 400u + kHit);
  EXPECT_EQ(r.counters().activates, 2u);
  EXPECT_EQ(r.counters().precharges, 0u);
}

TEST(VaultRowBuffers, RowsOfOneBufferConflict) {
  VaultRig r(two_buffers);
  r.read(1, r.line(4, 0));
  r.read(200, r.line(6, 0));
  r.run();
  EXPECT_EQ(r.left(1), 200u + 11 + kMiss);
  EXPECT_EQ(r.counters().row_conflicts, 1u);
}

TEST(VaultRowBuffers, RowModuloBuffersChooses) {
  for (const uint8_t bits : {0, 1, 2}) {
    VaultRig r([bits](VaultRig& v) { v.params.row_buffer_bits = bits; });
    for (uint32_t row = 0; row < 16; ++row)
      for (uint32_t bank = 0; bank < 4; ++bank) {
        const auto at =
            vault_detail::locate(r.params, r.vault(), r.rig.arena.base(), r.line(row, bank, 1));
        EXPECT_EQ(at.bank, bank << bits | row % (1u << bits)) << row;
        EXPECT_EQ(at.row, row);
      }
  }
}

TEST(VaultRowBuffers, MoreOfThemMeanFewerActivations) {
  std::vector<uint64_t> activations;
  for (const uint8_t bits : {0, 1, 2}) {
    VaultRig r([bits](VaultRig& v) { v.params.row_buffer_bits = bits; });
    // Four rows of one bank take turns, too far apart to be reordered.
    for (uint32_t i = 0; i < 80; ++i) r.read(1 + 100 * i, r.line(i % 4, 0, i / 4 % 4));
    r.run();
    activations.push_back(r.counters().activates);
  }
  EXPECT_EQ(activations, (std::vector<uint64_t>{80, 80, 4}));
}

/// Two row buffers in a bank, of which a row takes any.
void two_of_any(VaultRig& v) {
  v.params.row_buffer_bits = 1;
  v.params.any_row_buffer = 1;
}

TEST(VaultRowBuffers, AnyRowsStayOpenTogether) {
  // Rows a power of two apart, as those of arrays are, have one buffer by their number modulo two.
  for (const bool any : {false, true}) {
    VaultRig r(any ? two_of_any : two_buffers);
    r.read(1, r.line(4, 0));
    r.read(200, r.line(8, 0));
    r.read(300, r.line(4, 0, 1));
    r.read(400, r.line(8, 0, 1));
    r.run();
    EXPECT_EQ(r.left(1), 200u + (any ? 0 : 11) + kMiss);
    EXPECT_EQ(r.left(2), 300u + (any ? kHit : 11 + kMiss));
    EXPECT_EQ(r.left(3), 400u + (any ? kHit : 11 + kMiss));
    EXPECT_EQ(r.counters().activates, any ? 2u : 4u);
    EXPECT_EQ(r.counters().row_conflicts, any ? 0u : 3u);
  }
}

TEST(VaultRowBuffers, TheRowThatWasWantedLeastRecentlyGoes) {
  VaultRig r(two_of_any);
  r.read(1, r.line(4, 0));
  r.read(200, r.line(8, 0));
  r.read(300, r.line(4, 0, 1));  // 8 is the older one now
  r.read(400, r.line(12, 0));    // in its place
  r.read(500, r.line(4, 0, 2));
  r.read(600, r.line(8, 0, 1));  // in the place of 12, which is older than 4
  r.read(700, r.line(4, 0, 3));
  r.run();
  EXPECT_EQ(r.left(3), 400u + 11 + kMiss);
  EXPECT_EQ(r.left(4), 500u + kHit);
  EXPECT_EQ(r.left(5), 600u + 11 + kMiss);
  EXPECT_EQ(r.left(6), 700u + kHit);
}

TEST(VaultRowBuffers, ARowThatSomebodyWaitsForHasOneBuffer) {
  // Three rows at once for two buffers, and the first one again: it waits with its own.
  VaultRig r(two_of_any);
  for (uint32_t i = 0; i < 3; ++i) r.read(1 + i, r.line(4 + 4 * i, 0));
  r.read(4, r.line(4, 0, 1));
  r.run();
  EXPECT_EQ(r.counters().activates, 3u);
}

TEST(VaultRowBuffers, AnyOfOneIsModuloOne) {
  const auto ends = [](uint8_t any) {
    VaultRig r([any](VaultRig& v) { v.params.any_row_buffer = any; });
    for (uint32_t i = 0; i < 60; ++i) r.read(1 + 7 * i, r.line(i * 5 % 7, i % 3, i % 4));
    r.run();
    std::vector<Tick> all;
    for (uint32_t i = 0; i < 60; ++i) all.push_back(r.left(i));
    return all;
  };
  EXPECT_EQ(ends(0), ends(1));
}

// --- policies ---

TEST(VaultFcfs, OlderRequestOfAnotherRowGoesBeforeAHit) {
  VaultRig r([](VaultRig& v) { v.params.in_order = 1; });
  r.read(1, r.line(5, 0, 0), 0);
  r.read(10, r.line(6, 0, 0), 1);
  r.read(11, r.line(5, 0, 1), 2);
  r.run();
  EXPECT_EQ(r.out->items[1].packet.tag, 1u);
  EXPECT_EQ(r.out->items[2].packet.tag, 2u);
}

TEST(VaultFcfs, OnlyTheOldestGetsCommands) {
  for (const uint8_t in_order : {0, 1}) {
    VaultRig r([in_order](VaultRig& v) { v.params.in_order = in_order; });
    r.read(1, r.line(0, 0));
    r.read(2, r.line(0, 1));
    r.run();
    // The second activation in 7 (tRRD), or after the first read, in 13.
    EXPECT_EQ(r.left(1), (in_order != 0 ? 14u : 7u) + 26);
  }
}

TEST(VaultFcfs, EverythingIsServed) {
  VaultRig r([](VaultRig& v) {
    v.params.in_order = 1;
    v.params.write_high = 6;
    v.params.write_low = 2;
    v.params.tREFI = 1000;
  });
  for (uint32_t i = 0; i < 300; ++i) {
    if (i % 3 == 0) {
      r.write(1 + 7 * i, r.line(i * 7 % 11, i % 4, i % 3));
    } else {
      r.read(1 + 7 * i, r.line(i * 5 % 13, i * 3 % 4, i % 4));
    }
  }
  r.run();
  EXPECT_EQ(r.out->items.size(), 300u);
}

TEST(VaultClosedPage, LastAccessClosesTheRow) {
  VaultRig r([](VaultRig& v) { v.params.closed_page = 1; });
  r.read(1, r.line(5, 0, 0));
  r.read(200, r.line(5, 0, 1));
  r.read(400, r.line(6, 0, 0));
  r.run();
  for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(r.left(i), 200u * i + kMiss);
  EXPECT_EQ(r.counters().activates, 3u);
  EXPECT_EQ(r.counters().precharges, 3u);
}

TEST(VaultClosedPage, NextActivationWaitsForThePrecharge) {
  // Activation 2, read 13: precharge by itself in 30 (tRAS), activation from 41.
  for (const uint32_t at : {30u, 39u, 40u, 41u, 50u}) {
    VaultRig r([](VaultRig& v) { v.params.closed_page = 1; });
    r.read(1, r.line(5, 0));
    r.read(at, r.line(6, 0));
    r.run();
    EXPECT_EQ(r.left(1), std::max(41u, at + 1) + 26) << at;
  }
}

TEST(VaultClosedPage, WaitingHitsKeepTheRowOpen) {
  VaultRig r([](VaultRig& v) { v.params.closed_page = 1; });
  for (uint32_t i = 0; i < 4; ++i) r.read(1 + i, r.line(5, 0, i));
  r.run();
  EXPECT_EQ(r.counters().activates, 1u);
  EXPECT_EQ(r.counters().row_hits, 3u);
}

TEST(VaultCommandBuses, TwoTakeARowAndAColumnCommandPerCycle) {
  for (const uint8_t two : {0, 1}) {
    VaultRig r([two](VaultRig& v) { v.params.two_command_buses = two; });
    r.read(1, r.line(0, 0));
    r.read(12, r.line(0, 1));  // its activation could issue in 13, with the read
    r.run();
    EXPECT_EQ(r.left(0), 13u + 15);
    EXPECT_EQ(r.left(1), (two != 0 ? 13u : 14u) + 26);
  }
}

// --- queues ---

TEST(VaultQueues, WritesBeyondTheirEntriesWaitOutside) {
  for (const uint32_t entries : {1u, 2u, 8u}) {
    VaultRig r([entries](VaultRig& v) {
      v.params.write_entries = entries;
      v.params.write_high = 8;
      v.params.write_low = 7;  // so that a read goes before the writes as soon as it is there
      v.params.posted_writes = 1;
    });
    for (uint32_t i = 0; i < 4; ++i) r.write(1, r.line(i, 0));
    r.read(1, r.line(0, 1), 9);
    r.run();
    ASSERT_EQ(r.out->items.size(), 1u);  // writes are silent
    // The read is behind the writes: it comes in when the last of them has room.
    const uint64_t took = r.left(0);
    if (entries == 8) {
      EXPECT_LT(took, 60u);
    } else {
      EXPECT_GT(took, entries == 1 ? 110u : 60u);
    }
  }
}

TEST(VaultQueues, ReadsBeyondTheirEntriesWaitOutside) {
  VaultRig r([](VaultRig& v) { v.params.read_entries = 1; });
  r.read(1, r.line(5, 0, 0), 0);
  r.read(1, r.line(6, 0, 0), 1);
  r.read(1, r.line(5, 0, 1), 2);  // a hit, but the controller does not see it
  r.run();
  EXPECT_EQ(r.out->items[1].packet.tag, 1u);
}

TEST(VaultQueues, PostedWritesAreWritten) {
  VaultRig r([](VaultRig& v) { v.params.posted_writes = 1; });
  for (uint32_t i = 0; i < 9; ++i) r.write(1 + i, r.line(i, i % 4));
  r.run();
  EXPECT_TRUE(r.out->items.empty());
  EXPECT_EQ(r.counters().write_commands, 9u);
}

TEST(VaultQueues, ReadsOfWaitingWritesAreAnswered) {
  for (const uint32_t bytes : {32u, 40u}) {
    VaultRig r([bytes](VaultRig& v) {
      v.params.forward_writes = 1;
      v.params.sector_bytes = static_cast<uint16_t>(bytes);  // 40: the whole line
      v.params.write_high = 4;
      v.params.write_low = 1;
    });
    for (uint32_t i = 0; i < 30; ++i) r.read(1 + 4 * i, r.line(5, 0, i % 4), 0);
    r.write(60, r.line(7, 1), 1);
    r.read(63, r.line(7, 1), 2);
    r.run();
    EXPECT_EQ(r.counters().forwarded_reads, bytes == 40 ? 1u : 0u);
    EXPECT_EQ(r.counters().read_commands, bytes == 40 ? 30u : 31u);
    EXPECT_EQ(r.counters().write_commands, 1u);
  }
}

TEST(VaultQueues, ForwardedReadTakesACycle) {
  VaultRig r([](VaultRig& v) {
    v.params.forward_writes = 1;
    v.params.sector_bytes = 40;
  });
  r.write(1, r.line(7, 1), 1);
  r.read(2, r.line(7, 1), 2);
  r.run();
  EXPECT_EQ(r.out->items[0].packet.tag, 2u);
  EXPECT_EQ(r.left(0), 3u);
}

TEST(VaultQueues, RepliesAheadOfTheirDataComeByTheLeadEarlier) {
  for (const uint32_t lead : {0u, 50u, 150u}) {
    VaultRig r([lead](VaultRig& v) { v.params.reply_lead_ticks = lead; });
    r.read(1, r.line(0, 0));
    r.read(200, r.line(0, 0, 1));
    r.run();
    EXPECT_EQ(r.left(0), 1u + kMiss - lead / kPeriod);
    EXPECT_EQ(r.left(1), 200u + kHit - lead / kPeriod);
    EXPECT_EQ(r.out->items[1].packet.payload, 200u * kPeriod);  // when it was taken in
  }
}

TEST(VaultExits, RepliesThatCannotLeaveDoNotHoldUpThoseOfAnotherExit) {
  constexpr uint16_t kOther = 5;
  VaultRig r({}, 16, 2);
  const Ref<Channel> out = r.rig.channel({64, 1, 1, 0, 1});
  const auto other = r.rig.consumer(out, 1);
  const Ref<uint8_t> exit_of = r.rig.arena.allocate<uint8_t>(kOther + 1);
  VaultState state = r.vault();  // the arena may move while it grows
  EXPECT_EQ(add_exit(r.rig.arena, state, out), 1u);
  r.rig.arena.get(exit_of)[kOther] = 1;
  state.exit_of = exit_of;
  r.vault() = state;
  r.out->from = 100'000;  // the first exit's two slots stay taken until then
  for (uint32_t i = 0; i < 6; ++i) {
    r.read(1, r.line(0, 0, i % 4), i);
    if (i % 2 == 1) r.in->items.back().packet.src = endpoint_of(kOther);
  }
  r.run();
  ASSERT_EQ(r.out->items.size(), 3u);
  ASSERT_EQ(other->items.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(other->items[i].packet.tag, 2 * i + 1);
    EXPECT_EQ(r.out->items[i].packet.tag, 2 * i);
    EXPECT_EQ(other->items[i].packet.dst, kOther);
    // Every second one of a row of hits, a transfer of four cycles each.
    EXPECT_EQ((other->items[i].at - 1) / kPeriod, 1 + kMiss + 4 + 8 * i);
  }
  EXPECT_GE(r.out->items[2].at, 100'000u);
}

TEST(VaultBus, DataWaitsLessThanACycleForTheBus) {
  // 44 ticks per transfer, 4.4 cycles: reads issue in 201, 205, 209 or 210, ... without gaps.
  VaultRig r([](VaultRig& v) {
    v.params.ticks_per_byte_num = 11;
    v.params.ticks_per_byte_den = 10;
  });
  r.read(1, r.line(0, 0, 0));
  for (uint32_t i = 0; i < 10; ++i) r.read(200 + i, r.line(0, 0, i % 4));
  r.run();
  const Tick first = 201 * kPeriod + 110;
  for (uint32_t i = 0; i < 10; ++i) {
    const Tick done = r.out->items[1 + i].at - r.hop;
    EXPECT_GE(done, first + 44 * (i + 1));
    EXPECT_LT(done, first + 44 * (i + 1) + kPeriod);  // it leaves with the next cycle
  }
}

// --- address orders ---

TEST(ChannelMap, IsOneToOneInEveryOrder) {
  // Bits: 3 of the row, 2 of the bank, 1 of the group, 2 of the column.
  const uint8_t orders[][4] = {{5, 3, 2, 0}, {0, 3, 5, 6}, {3, 0, 2, 6}, {5, 1, 0, 3}};
  for (const auto& [row, bank, group, column] : orders) {
    for (const uint8_t hash : {0, 1}) {
      ChannelMap map;
      map.row_shift = row, map.row_bits = 3;
      map.bank_shift = bank, map.bank_bits = 2;
      map.group_shift = group, map.group_bits = 1;
      map.hash = hash;
      std::set<std::array<uint32_t, 3>> seen;
      for (uint32_t line = 0; line < 256; ++line) {
        const BankLocation at = map.locate(line);
        ASSERT_LT(at.bank, 8u);
        ASSERT_LT(at.row, 8u);
        EXPECT_TRUE(seen.insert({at.bank, at.row, line >> column & 3}).second);
      }
      for (uint32_t b = 0; b < 8; ++b) {
        for (uint32_t w = 0; w < 8; ++w) {
          const BankLocation at = map.locate(map.line_of(b, w));
          EXPECT_EQ(at.bank, b);
          EXPECT_EQ(at.row, w);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nearwarp::testing::vault_channel_test
