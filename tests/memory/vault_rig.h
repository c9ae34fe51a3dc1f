// One vault between a mock producer and a mock consumer.
#pragma once

#include <gtest/gtest.h>

#include "tests/memory/memory_system.h"
#include "tests/memory/period.h"

namespace nearwarp::testing {

/// One vault with 4 banks of 4 lines per row, no hashing: line = row * 16 + bank * 4 + column.
/// A transfer of one line takes 40 ticks = tCCD.
struct VaultRig {
  Rig rig;
  VaultParams params;
  Ref<VaultState> state;
  std::shared_ptr<MockProducer> in;
  std::shared_ptr<MockConsumer> out;
  Tick hop = 1;
  uint32_t bank_bits = 2;
  std::vector<uint8_t> foreign;  ///< by endpoint; 1: endpoint 77 is notified of its writes

  /// `step`: the step function, if the vault has mechanisms.
  explicit VaultRig(std::function<void(VaultRig&)> adjust = {}, uint32_t queue = 16,
                    uint32_t slots = 64, decltype(&step_vault<>) step = step_vault<>) {
    params = ddr3_1600();
    params.period = kPeriod;
    params.line_bytes = 40;
    params.ticks_per_byte_num = 1;
    params.tREFI = 0;
    params.starvation_cycles = 100000;
    params.map.baseline.stack_bits = 0;
    params.map.baseline.vault_bits = 0;
    params.map.baseline.slice_bits = 0;
    params.map.baseline.column_bits = 2;
    params.map.baseline.hash = 0;
    if (adjust) adjust(*this);
    params.map.baseline.bank_bits = bank_bits;
    const auto h = static_cast<uint32_t>(hop);
    const Ref<Channel> i = rig.channel({slots, h, h, 0, 1}), o = rig.channel({slots, h, h, 0, 1});
    VaultState s = make_vault(rig.arena, params, 1u << bank_bits, queue, i, o);
    if (!foreign.empty()) {
      const auto others = rig.arena.allocate<uint8_t>(static_cast<uint32_t>(foreign.size()));
      std::copy(foreign.begin(), foreign.end(), rig.arena.get(others));
      tell_of_writes(rig.arena, s, Endpoint{77}, others);
    }
    state = rig.arena.allocate<VaultState>(1);
    *rig.arena.get(state) = s;
    in = rig.producer(i, 1);
    rig.add([this, step](std::byte* base, Window w,
                         Horizon& hz) { return step(params, *state.in(base), base, w, hz); },
            {i});
    out = rig.consumer(o, 1);
  }
  uint32_t line(uint32_t row, uint32_t bank, uint32_t column = 0) const {
    return ((row << bank_bits | bank) << 2) | column;
  }
  /// A request that the vault takes in at cycle `cycle`.
  void read(uint32_t cycle, uint32_t at, uint32_t tag = 0) {
    in->items.push_back(
        {cycle * kPeriod - hop, make_packet(PacketKind::kRead, 3, 0, 8, tag, at), 0});
  }
  void write(uint32_t cycle, uint32_t at, uint32_t tag = 0, uint16_t src = 3) {
    in->items.push_back(
        {cycle * kPeriod - hop, make_packet(PacketKind::kWrite, src, 0, 40, tag, at, 1), 0});
  }
  void run() {
    rig.run({hop}, 100000000);
    EXPECT_TRUE(rig.drained());
    const uint64_t silent = params.posted_writes != 0 ? counters().writes : 0;
    EXPECT_EQ(counters().requests_in, counters().replies_out + silent - counters().lines_told);
    EXPECT_EQ(vault().valid, 0u);
  }
  const VaultCounters& counters() { return rig.arena.get(state)->counters; }
  VaultState& vault() { return *rig.arena.get(state); }
  /// Cycle in which reply `i` left the vault.
  uint64_t left(std::size_t i) const { return (out->items.at(i).at - hop) / kPeriod; }
};

// Accepted in cycle a, a request's first command issues in a + 1; data ends 4 cycles after tCL.
inline constexpr uint32_t kMiss = 1 + 11 + 11 + 4, kHit = 1 + 11 + 4;

}  // namespace nearwarp::testing
