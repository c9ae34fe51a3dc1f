// The baseline mapping of a machine: which stack, vault, bank and L2 slice a line belongs to.
#include "host/timing/machine/baseline_map.h"

#include <bit>

namespace nearwarp::sim {

namespace {

uint32_t log2_exact(uint32_t n) { return static_cast<uint32_t>(std::countr_zero(n)); }

}  // namespace

AddressMap machine_address_map(const config::MachineConfig& machine) {
  AddressMap map;
  const uint32_t stacks = machine.stack.count, vaults = machine.stack.vaults;
  const uint32_t slices = machine.l2.slices / stacks;
  if (std::has_single_bit(stacks) && std::has_single_bit(vaults) && std::has_single_bit(slices)) {
    map.stack_bits = log2_exact(stacks);
    map.vault_bits = log2_exact(vaults);
    map.slice_bits = log2_exact(slices);
  } else {
    map.stacks = stacks;
    map.vaults = vaults;
    map.slices = slices;
  }
  map.column_bits = log2_exact(machine.dram.row_bytes / machine.l1.line_bytes);
  map.bank_bits = log2_exact(machine.dram.banks);
  return map;
}

}  // namespace nearwarp::sim
