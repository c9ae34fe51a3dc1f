// Programs of many warps, which reach the bandwidth of a part of a machine.
#pragma once

#include <optional>

#include "host/config/machine.h"
#include "host/timing/probe/bounds.h"
#include "host/timing/probe/program.h"

namespace nearwarp::probe {

/// Two runs of one program.
struct StreamPair {
  Program shorter, longer;
};

/// `sms` main SMs (1: one alone) stream through memory, each line once. One alone does not write
/// more than an L2 holds that keeps what is written.
StreamPair stream_memory(const config::MachineConfig& machine, uint32_t sms, Flow flow);
/// Each goes around in a set of lines that an L2 holds and an L1 does not; nothing if there is
/// none.
std::optional<StreamPair> stream_l2(const config::MachineConfig& machine, uint32_t sms);
/// Each reads what its L1 holds.
StreamPair read_l1(const config::MachineConfig& machine, uint32_t sms);
/// All SMs read sectors here and there.
StreamPair read_sectors(const config::MachineConfig& machine);

/// Warps that share a stack, and the one whose lines they want.
struct Group {
  uint32_t own, wanted;
};
/// Warps of all groups together, at most.
constexpr uint32_t most_listed_warps() { return kMaxListed / (2 * kRound); }
/// Blocks of `block_warps` warps, as many for one group after the other, read or write lines of
/// their groups' wanted stacks.
StreamPair listed(const config::MachineConfig& machine, const std::vector<Group>& groups,
                  uint32_t blocks_each, uint32_t block_warps, bool write);

/// Work of near-bank units, on `sms` main SMs, each of which has a block whose warps' data lies
/// behind it, a line behind each warp's unit.
StreamPair near_banks(const config::MachineConfig& machine, Near::Kind kind, uint32_t sms);
/// One warp alone.
StreamPair near_banks_alone(const config::MachineConfig& machine, Near::Kind kind);
/// Can a thread block be as large as what lies with a core in a row?
bool has_near_banks(const config::MachineConfig& machine);

/// Warps of a block, and blocks that an SM gets: enough to miss as much as its L1 can.
uint32_t block_warps(const config::MachineConfig& machine);
uint32_t blocks_on_sm(const config::MachineConfig& machine);

}  // namespace nearwarp::probe
