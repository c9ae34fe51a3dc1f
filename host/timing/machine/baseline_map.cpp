// The baseline mapping of a machine: which stack, vault, bank and L2 slice a line belongs to.
#include "host/timing/machine/baseline_map.h"

#include <bit>

namespace nearwarp::sim {

namespace {

uint32_t log2_exact(uint32_t n) { return static_cast<uint32_t>(std::countr_zero(n)); }

}  // namespace

AddressMap machine_address_map(const config::MachineConfig& machine) {
  AddressMap map;
  map.stack_bits = log2_exact(machine.stack.count);
  map.vault_bits = log2_exact(machine.stack.vaults);
  map.column_bits = log2_exact(machine.dram.row_bytes / machine.l1.line_bytes);
  map.bank_bits = log2_exact(machine.dram.banks);
  map.slice_bits = log2_exact(machine.l2.slices / machine.stack.count);
  return map;
}

}  // namespace nearwarp::sim
