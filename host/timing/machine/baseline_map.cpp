// The baseline mapping of a machine: which stack, vault, bank and L2 slice a line belongs to.
#include "host/timing/machine/baseline_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

uint32_t log2_exact(uint32_t n) { return static_cast<uint32_t>(std::countr_zero(n)); }

}  // namespace

AddressMap machine_address_map(const config::MachineConfig& machine) {
  const bool discrete = machine.shape == "discrete";
  const uint32_t stacks = discrete ? machine.partitions.count : machine.stack.count;
  const uint32_t slices = machine.l2.slices / stacks;
  // Where several slices of a partition share a memory channel, the map's "vaults" are slices, and
  // a row of the channel holds lines of all of them.
  const uint32_t channels = discrete ? machine.partitions.channels : machine.stack.vaults;
  const uint32_t vaults = std::max(channels, slices);
  AddressMap map;
  if (std::has_single_bit(stacks) && std::has_single_bit(vaults) && std::has_single_bit(slices)) {
    map.stack_bits = log2_exact(stacks);
    map.vault_bits = log2_exact(vaults);
    map.slice_bits = log2_exact(slices);
  } else {
    map.stacks = stacks;
    map.vaults = vaults;
    map.slices = slices;
  }
  map.column_bits =
      log2_exact(machine.dram.row_bytes / machine.l1.line_bytes) - log2_exact(vaults / channels);
  map.bank_bits = log2_exact(machine.dram.banks);
  return map;
}

void require_stacks(const config::MachineConfig& machine, std::string_view who) {
  if (machine.shape != "stacked")
    throw Error(
        fmt::format("machine '{}' has no memory stacks (machine.shape = \"{}\") - {} needs "
                    "a machine of the shape \"stacked\"",
                    machine.name, machine.shape, who));
}

}  // namespace nearwarp::sim
