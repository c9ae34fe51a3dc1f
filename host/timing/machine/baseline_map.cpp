// The baseline mapping of a machine: which stack, vault, bank and L2 slice a line belongs to.
#include "host/timing/machine/baseline_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/config/shape.h"
#include "host/core/error.h"
#include "host/timing/machine/polynomials.h"

namespace nearwarp::sim {

namespace {

uint32_t log2_exact(uint32_t n) { return static_cast<uint32_t>(std::countr_zero(n)); }

/// Partition and slice by the remainder of the chunk's number. The chunk's lowest bits are those of
/// the partition, then of the slice, and come back as partition * slices + slice; those above are
/// divided by the polynomial.
void set_polynomial(AddressMap& map) {
  const uint32_t slice_bits = log2_exact(map.vaults), bits = log2_exact(map.stacks) + slice_bits;
  map.polynomial_bits = bits;
  if (bits == 0) return;
  uint32_t remainder = 1;  // of x to the power of j
  for (uint32_t j = 0; j < 32; ++j) {
    const uint32_t index = j >= bits               ? remainder
                           : j < bits - slice_bits ? 1u << (j + slice_bits)
                                                   : 1u << (j - (bits - slice_bits));
    for (uint32_t i = 0; i < bits; ++i) map.polynomial[i] |= (index >> i & 1) << j;
    remainder <<= 1;
    if ((remainder >> bits & 1) != 0) remainder ^= primitive_polynomial(bits);
  }
}

/// Sets the rules of machines with partitions alone, by counts instead of bits.
void set_partitions(AddressMap& map, const config::MachineConfig& machine, uint32_t vaults,
                    uint32_t slices) {
  const config::MachineConfig::Partitions& p = machine.partitions;
  const uint32_t lines = p.interleave_bytes / machine.l1.line_bytes;
  if (lines <= 1 && p.hash == "folded" && !p.slices_own_banks) return;
  map.stacks = p.count;
  map.vaults = vaults;
  map.slices = slices;
  map.chunk_bits = lines > 1 ? log2_exact(lines) : 0;
  if (p.hash != "folded") map.hash = 0;
  if (p.hash == "ipoly") set_polynomial(map);
  if (p.slices_own_banks && vaults > p.channels) {
    map.slice_bank_bits = log2_exact(vaults / p.channels);
    map.channels = p.channels;
    map.bank_bits -= map.slice_bank_bits;
    map.column_bits += map.slice_bank_bits;
  }
}

/// The numbers of parts that the map tells apart.
struct Counts {
  uint32_t stacks, slices, channels;  ///< slices and channels of a stack
};

Counts counts_of(const config::MachineConfig& m) {
  if (config::shape_of(m).in_banks()) return {m.gpu.sms, 1, m.near_bank.units};
  if (config::shape_of(m).in_stacks())
    return {m.stack.count, m.l2.slices / m.stack.count, m.stack.vaults};
  return {m.partitions.count, m.l2.slices / m.partitions.count, m.partitions.channels};
}

}  // namespace

AddressMap machine_address_map(const config::MachineConfig& machine) {
  const auto [stacks, slices, channels] = counts_of(machine);
  // Where several slices of a partition share a memory channel, the map's "vaults" are slices, and
  // a row of the channel holds lines of all of them.
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
  if (config::shape_of(machine).in_banks()) {
    map.stack_shift = log2_exact(machine.near_bank.interleave_bytes / machine.l1.line_bytes);
    if (machine.near_bank.unit_interleave_bytes != 0)
      map.vault_shift = log2_exact(machine.near_bank.unit_interleave_bytes / machine.l1.line_bytes);
    // A hash would take bits of the line's place within the consecutive bytes.
    map.hash_stack = map.stack_shift == 0 ? 1 : 0;
  }
  const bool in_stacks = config::shape_of(machine).in_stacks();
  if (in_stacks && machine.stack.interleave_bytes != 0) {
    map.stack_shift = log2_exact(machine.stack.interleave_bytes / machine.l1.line_bytes);
    map.hash_stack = 0;  // as above
  }
  if (config::shape_of(machine).in_partitions()) set_partitions(map, machine, vaults, slices);
  return map;
}

uint32_t mapped_stacks(const config::MachineConfig& machine) {
  return config::memory_parts(machine);
}

void require_stacks(const config::MachineConfig& machine, std::string_view who) {
  if (config::shape_of(machine).stacks_behind_links()) return;
  const char* lacks =
      config::shape_of(machine).sms_in_stacks() ? "main GPU beside its memory stacks"
      : config::shape_of(machine).in_banks() ? "main GPU, and computes in its memory stacks alone"
                                             : "memory stacks";
  throw Error(
      fmt::format("machine '{}' has no {} (machine.shape = \"{}\") - {} needs a machine of the "
                  "shape \"stacked\"",
                  machine.name, lacks, machine.shape, who));
}

}  // namespace nearwarp::sim
