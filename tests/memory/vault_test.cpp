// Does a vault keep command timings (refusing at t - 1, allowing at t), and schedule, turn around,
// refresh and use its bandwidth as it should?
#include <gtest/gtest.h>

#include "tests/memory/vault_rig.h"

namespace nearwarp::testing::vault_test {
namespace {

TEST(Vault, ClosedBank) {
  VaultRig r;
  r.read(1, r.line(0, 0), 77);
  r.run();
  EXPECT_EQ(r.left(0), 1u + kMiss);
  EXPECT_EQ(r.out->items[0].packet.tag, 77u);
  EXPECT_EQ(r.out->items[0].packet.dst, 3u);
  EXPECT_EQ(r.out->items[0].packet.bytes, 48u);
  EXPECT_EQ(r.out->items[0].packet.kind, PacketKind::kReadReply);
  EXPECT_EQ(r.counters().row_misses, 1u);
}

TEST(Vault, FixedLatencyIsAdded) {
  VaultRig r([](VaultRig& v) { v.params.fixed_latency_cycles = 100; });
  r.read(1, r.line(0, 0));
  r.run();
  EXPECT_EQ(r.left(0), 1u + kMiss + 100);
}

TEST(Vault, OpenRow) {
  VaultRig r;
  r.read(1, r.line(5, 0, 0));
  r.read(200, r.line(5, 0, 1));
  r.run();
  EXPECT_EQ(r.left(1), 200u + kHit);
  EXPECT_EQ(r.counters().row_hits, 1u);
  EXPECT_EQ(r.counters().activates, 1u);
}

TEST(Vault, OtherRow) {
  VaultRig r;
  r.read(1, r.line(5, 0));
  r.read(200, r.line(6, 0));
  r.run();
  EXPECT_EQ(r.left(1), 200u + 11 + kMiss);
  EXPECT_EQ(r.counters().row_conflicts, 1u);
  EXPECT_EQ(r.counters().precharges, 1u);
}

/// The cycle of the reply to a request that conflicts with the open row: the vault takes it in at
/// cycle `second`, and the row was activated in cycle 2.
uint64_t conflict_after(uint32_t second, std::function<void(VaultRig&)> adjust = {}) {
  VaultRig r(std::move(adjust));
  r.read(1, r.line(5, 0));
  r.read(second, r.line(6, 0));
  r.run();
  return r.left(1);
}
constexpr uint32_t kConflict = 1 + 11 + 11 + 11 + 4;

TEST(Vault, RasBoundsThePrecharge) {
  // Activation in cycle 2, so the earliest precharge is in cycle 30.
  EXPECT_EQ(conflict_after(28), 29u + kConflict);
  EXPECT_EQ(conflict_after(29), 29u + kConflict);
  EXPECT_EQ(conflict_after(30), 30u + kConflict);
}

TEST(Vault, ReadToPrechargeBoundsThePrecharge) {
  // Read in cycle 13; tRTP 40: precharge from cycle 53.
  const auto adjust = [](VaultRig& v) { v.params.tRTP = 40; };
  EXPECT_EQ(conflict_after(51, adjust), 52u + kConflict);
  EXPECT_EQ(conflict_after(52, adjust), 52u + kConflict);
  EXPECT_EQ(conflict_after(53, adjust), 53u + kConflict);
}

TEST(Vault, RowCycleBoundsTheActivation) {
  // tRC 100 from the activation in cycle 2: activation from cycle 102.
  const auto adjust = [](VaultRig& v) { v.params.tRC = 100; };
  EXPECT_EQ(conflict_after(90, adjust), 102u + 11 + 11 + 4);
  EXPECT_EQ(conflict_after(91, adjust), 103u + 11 + 11 + 4);  // precharge in 92
}

TEST(Vault, WriteRecoveryBoundsThePrecharge) {
  VaultRig r;
  r.write(1, r.line(5, 0));  // activation 2, write 13, data ends 13 + 8 + 3.2 -> 25
  r.read(20, r.line(6, 0));  // precharge from 25 + tWR
  r.run();
  EXPECT_EQ(r.left(1), 25u + 12 + 11 + 11 + 11 + 4);
}

TEST(Vault, WriteToReadTurnaround) {
  VaultRig r;
  r.write(1, r.line(5, 0));
  r.read(13, r.line(5, 0, 1));  // data ends 25, read from 25 + tWTR
  r.run();
  EXPECT_EQ(r.left(0), 14u);  // acknowledged in the cycle after the write command
  EXPECT_EQ(r.left(1), 25u + 6 + 11 + 4);
}

TEST(Vault, ReadToWriteTurnaround) {
  VaultRig r;
  r.read(1, r.line(5, 0));      // read 13
  r.write(2, r.line(5, 0, 1));  // write from 13 + tRTW = 22
  r.run();
  EXPECT_EQ(r.counters().turnarounds, 1u);
  EXPECT_EQ(r.rig.arena.get(r.state)->read_ok, 22u + 8 + 4 + 6);  // data ends 22 + 8 + 3.2
}

TEST(Vault, TheBusCarriesWholeBursts) {
  // Lines have 40 bytes, sectors 10, and writes go by sectors; a byte takes one tick on the bus.
  const auto busy = [](uint32_t burst, uint32_t line, bool write) {
    VaultRig r([&](VaultRig& v) {
      v.params.sector_bytes = 10;
      v.params.burst_mask = static_cast<uint16_t>(burst - 1);
      v.params.line_bus_bytes = static_cast<uint16_t>(line);
    });
    if (write)
      r.write(1, r.line(5, 0));  // one sector
    else
      r.read(1, r.line(5, 0));
    r.run();
    return r.counters().bus_busy_ticks;
  };
  EXPECT_EQ(busy(1, 0, false), 40u);
  EXPECT_EQ(busy(16, 0, false), 48u);
  EXPECT_EQ(busy(16, 64, false), 64u);  // a burst for each of four sectors
  EXPECT_EQ(busy(1, 0, true), 10u);
  EXPECT_EQ(busy(16, 0, true), 16u);
  EXPECT_EQ(busy(16, 64, true), 16u);
}

TEST(Vault, ActivationsKeepTheirDistance) {
  VaultRig r;
  r.read(1, r.line(0, 0));
  r.read(2, r.line(0, 1));
  r.run();
  // Activations in 2 and 7 (tRRD 5).
  EXPECT_EQ(r.left(0), 2u + 26);
  EXPECT_EQ(r.left(1), 7u + 26);
}

TEST(Vault, FifthActivationWaitsForTheWindow) {
  for (const uint32_t faw : {20u, 22u, 24u, 40u}) {
    VaultRig r([faw](VaultRig& v) {
      v.bank_bits = 3;
      v.params.tFAW = faw;
    });
    for (uint32_t b = 0; b < 5; ++b) r.read(1, r.line(0, b));
    r.run();
    EXPECT_EQ(r.left(3), 2u + 15 + 26);
    EXPECT_EQ(r.left(4), 2u + std::max(20u, faw) + 26) << faw;
  }
}

TEST(Vault, ColumnCommandsKeepTheirDistance) {
  VaultRig r([](VaultRig& v) {
    v.params.ticks_per_byte_num = 1;
    v.params.ticks_per_byte_den = 40;  // the bus is no limit
  });
  r.read(1, r.line(0, 0, 0));
  r.read(200, r.line(0, 0, 1));
  r.read(201, r.line(0, 0, 2));
  r.run();
  EXPECT_EQ(r.left(1), 201u + 11 + 1);
  EXPECT_EQ(r.left(2), 205u + 11 + 1);
}

TEST(Vault, OlderRequestOfAnotherRowLosesToAHit) {
  VaultRig r;
  r.read(1, r.line(5, 0, 0), 0);
  r.read(10, r.line(6, 0, 0), 1);
  r.read(11, r.line(5, 0, 1), 2);
  r.run();
  EXPECT_EQ(r.out->items[1].packet.tag, 2u);
  EXPECT_EQ(r.out->items[2].packet.tag, 1u);
}

TEST(Vault, StarvingRequestGoesFirst) {
  for (const uint32_t bound : {300u, 600u}) {
    VaultRig r([bound](VaultRig& v) { v.params.starvation_cycles = bound; });
    r.read(1, r.line(5, 0, 0), 0);
    r.read(2, r.line(6, 0, 0), 1);
    // Row hits without end: the other row has its turn only because of the bound.
    for (uint32_t i = 0; i < 300; ++i) r.read(3 + 4 * i, r.line(5, 0, i % 4), 2);
    r.run();
    uint64_t when = 0;
    for (std::size_t i = 0; i < r.out->items.size(); ++i) {
      if (r.out->items[i].packet.tag == 1) when = r.left(i);
    }
    EXPECT_GT(when, 2u + bound);
    EXPECT_LT(when, 2u + bound + 60);
    EXPECT_GE(r.counters().starved, 1u);
  }
}

TEST(Vault, WritesWaitForTheHighWatermark) {
  VaultRig r([](VaultRig& v) {
    v.params.write_high = 4;
    v.params.write_low = 1;
  });
  // Reads keep coming; the fourth write starts a drain, which ends at one write.
  for (uint32_t i = 0; i < 40; ++i) {
    r.read(1 + 4 * i, r.line(5, 0, i % 4), 0);
    if (i == 2 || i == 4 || i == 6) r.write(1 + 4 * i, r.line(5, 0, 0), 1);
  }
  r.write(162, r.line(5, 0, 0), 1);
  r.run();
  std::size_t first = r.out->items.size();
  for (std::size_t i = 0; i < r.out->items.size(); ++i) {
    if (r.out->items[i].packet.tag == 1) first = std::min(first, i);
  }
  EXPECT_GT(r.left(first), 160u);
  EXPECT_EQ(r.counters().writes, 4u);
}

TEST(Vault, AtomicReadsThenWritesAndRepliesOnce) {
  VaultRig r;
  r.in->items.push_back({9, make_packet(PacketKind::kAtomic, 3, 0, 40, 5, r.line(2, 1), 1), 0});
  r.run();
  ASSERT_EQ(r.out->items.size(), 1u);
  EXPECT_EQ(r.out->items[0].packet.kind, PacketKind::kAtomicReply);
  EXPECT_EQ(r.out->items[0].packet.bytes, 40u);
  EXPECT_EQ(r.counters().atomic_writes, 1u);
  EXPECT_EQ(r.counters().data_bytes_written, 32u);
  EXPECT_EQ(r.rig.arena.get(r.state)->valid, 0u);
}

TEST(Vault, RefreshClosesRowsAndBlocksBanks) {
  VaultRig r([](VaultRig& v) { v.params.tREFI = 1000; });
  r.read(1, r.line(5, 0));
  r.read(999, r.line(5, 0, 1));  // taken in at 999, read would be at 1000: refresh is due
  r.read(1200, r.line(5, 0, 2));
  r.run();
  // Precharge 1000, refresh 1011, banks from 1139; activation, read, data.
  EXPECT_EQ(r.left(1), 1011u + 128 + 11 + 11 + 4);
  EXPECT_EQ(r.left(2), 1200u + kHit);
  EXPECT_EQ(r.counters().refreshes, 1u);
}

TEST(Vault, RequestBeforeTheRefreshIsServedBefore) {
  VaultRig r([](VaultRig& v) { v.params.tREFI = 1000; });
  r.read(1, r.line(5, 0));
  r.read(998, r.line(5, 0, 1));
  r.run();
  EXPECT_EQ(r.left(1), 998u + kHit);
}

TEST(Vault, RefreshesOfIdleTimesAreMadeUp) {
  VaultRig r([](VaultRig& v) { v.params.tREFI = 1000; });
  r.read(1, r.line(5, 0));
  r.read(5500, r.line(5, 0, 1));  // closed long ago
  r.read(7050, r.line(5, 0, 2));  // closed by the refresh of 6000; banks from 7000 + tRFC
  r.run();
  EXPECT_EQ(r.left(1), 5500u + kMiss);
  EXPECT_EQ(r.left(2), 7128u + 11 + 11 + 4);
  EXPECT_EQ(r.counters().refreshes, 7u);
  EXPECT_LT(r.rig.steps, 100u);
  finish_vault(r.params, *r.rig.arena.get(r.state), r.rig.arena.base(), 20500 * kPeriod);
  EXPECT_EQ(r.counters().refreshes, 20u);
}

TEST(Vault, BackPressureHoldsReplies) {
  VaultRig r({}, 4, 1);
  r.out->from = 50000;
  for (uint32_t i = 0; i < 40; ++i) r.read(1 + i, r.line(i, i % 4), i);
  r.run();
  EXPECT_EQ(r.out->items.size(), 40u);
}

TEST(Vault, CycleCountersMayStartAgain) {
  std::vector<Tick> expected;
  for (const uint32_t rebase : {1u << 30, 50u, 333u}) {
    VaultRig r([rebase](VaultRig& v) {
      v.params.rebase_cycles = rebase;
      v.params.tREFI = 2000;
    });
    for (uint32_t i = 0; i < 300; ++i) {
      if (i % 3 == 0) {
        r.write(1 + i * i / 10, r.line(i * 7 % 11, i % 4, i % 3));
      } else {
        r.read(1 + i * i / 10, r.line(i * 5 % 13, i * 3 % 4, i % 4));
      }
    }
    r.run();
    std::vector<Tick> times;
    for (const auto& item : r.out->items) times.push_back(item.at);
    if (expected.empty()) expected = times;
    EXPECT_EQ(times, expected) << rebase;
  }
}

// --- model gates: bandwidth of the whole vault ---

/// A vault as in TOM: a TSV bandwidth of 10 GB/s (ticks of 140 GHz), 128-byte lines, 32 lines per
/// row, 16 banks.
void make_real(VaultRig& v) {
  v.params = ddr3_1600();
  v.params.period = 175;
  v.params.ticks_per_byte_num = 14;
  v.params.map.baseline.stack_bits = 0;
  v.params.map.baseline.vault_bits = 0;
  v.params.map.baseline.slice_bits = 0;
  v.params.map.baseline.column_bits = 5;
  v.params.map.baseline.hash = 1;
  v.bank_bits = 4;
  v.hop = 448;
}

TEST(VaultGate, StreamingReadsReachTheBusBandwidthLessRefresh) {
  VaultRig r(make_real, 32, 64);
  const uint32_t n = 20000;
  for (uint32_t i = 0; i < n; ++i) {
    r.in->items.push_back({0, make_packet(PacketKind::kRead, 3, 0, 8, i, i), 0});
  }
  r.run();
  const double ticks = static_cast<double>(r.out->items.back().at);
  const double busy = static_cast<double>(r.counters().bus_busy_ticks);
  // A refresh costs about tRP + tRFC + tRCD + tCL of every tREFI.
  EXPECT_GT(busy / ticks, 1.0 - (11.0 + 128 + 11 + 11 + 2) / 6240);
  EXPECT_LE(busy / ticks, 1.0);
}

TEST(VaultGate, RandomReadsOfManyBanksAreBoundByTheBus) {
  VaultRig r(make_real, 64, 128);
  std::mt19937 random(7);
  const uint32_t n = 20000;
  for (uint32_t i = 0; i < n; ++i) {
    r.in->items.push_back({0, make_packet(PacketKind::kRead, 3, 0, 8, i, random() >> 8), 0});
  }
  r.run();
  const double cycles = static_cast<double>(r.out->items.back().at) / 175;
  // The bus allows one read per 10.24 cycles, tFAW one per 6, sixteen banks one per 39 / 16.
  EXPECT_GE(cycles / n, 10.24);
  EXPECT_LT(cycles / n, 10.24 * 1.06);
  EXPECT_GT(r.counters().activates, n * 9 / 10);
}

TEST(VaultGate, OneBankIsBoundByItsRowCycle) {
  VaultRig r(make_real, 32, 64);
  const uint32_t n = 2000;
  for (uint32_t i = 0; i < n; ++i) {
    // All lines are of one bank, each in a row of its own: row * banks + (bank ^ fold(row)).
    const uint32_t row = i;
    const uint32_t bank = AddressMap::fold(row, 4);
    r.in->items.push_back(
        {0, make_packet(PacketKind::kRead, 3, 0, 8, i, (row << 4 | bank) << 5), 0});
  }
  r.run();
  const double cycles = static_cast<double>(r.out->items.back().at) / 175;
  EXPECT_GE(cycles / n, 39.0);
  EXPECT_LT(cycles / n, 39.0 * 1.04);
}

TEST(VaultGate, ActivationWindowBindsShortTransfers) {
  // With a fast bus, random reads are bound by tFAW: 4 activations per 24 cycles.
  VaultRig r(
      [](VaultRig& v) {
        make_real(v);
        v.params.ticks_per_byte_num = 1;
        v.params.tREFI = 0;
      },
      64, 256);
  std::mt19937 random(9);
  const uint32_t n = 20000;
  for (uint32_t i = 0; i < n; ++i) {
    r.in->items.push_back({0, make_packet(PacketKind::kRead, 3, 0, 8, i, random() >> 8), 0});
  }
  r.run();
  const double cycles = static_cast<double>(r.out->items.back().at) / 175;
  const double per_activation = cycles / static_cast<double>(r.counters().activates);
  EXPECT_GE(per_activation, 6.0);
  EXPECT_LT(per_activation, 6.0 * 1.1);
}

}  // namespace
}  // namespace nearwarp::testing::vault_test
