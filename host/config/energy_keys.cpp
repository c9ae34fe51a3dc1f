// The keys of an energy file.
#include <vector>

#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using E = EnergyConfig;

// Key::path and Key::member of a key below [energy].
#define NW_KEY(member_path) "energy." #member_path, [](E& e) -> Member { return &e.member_path; }

// Keys of energies, in fJ per `of`, and of powers.
#define NW_ENERGY(member_path, of, doc) \
  { NW_KEY(member_path), "fJ/" of, 0, kMostEnergy, false, "", doc }
#define NW_OPTIONAL_ENERGY(member_path, of, doc) \
  { NW_KEY(member_path), "fJ/" of, 0, kMostEnergy, false, "", doc, true }
#define NW_POWER(member_path, doc) \
  { NW_KEY(member_path), "uW", 0, kMostPower, false, "", doc }

constexpr uint64_t kMostEnergy = 1'000'000'000'000;  // a millijoule
constexpr uint64_t kMostPower = 1'000'000'000;       // a kilowatt

}  // namespace

std::span<const Key<EnergyConfig>> energy_keys() {
  static const std::vector<Key<E>> all = {
      {NW_KEY(description), "", 0, 0, false, "", "One line on where the values come from."},
      {NW_KEY(technology_nm), "nm", 1, 1000, false, "",
       "Technology node that the values of SMs and caches are for."},
      {NW_KEY(board_uw), "uW", 0, kMostPower, false, "",
       "Most power of the whole board, which an account by power times time takes; 0: there is "
       "none, "
       "and such an account takes what was done, without leakage.",
       true},
      NW_ENERGY(sm.issue_fj, "warp-instruction", "Fetch, decoding and scheduling."),
      NW_ENERGY(sm.operands_fj, "warp-instruction", "Operand collector, register file apart."),
      NW_ENERGY(sm.integer_fj, "lane", "Integer and logic operations, comparisons, moves."),
      NW_ENERGY(sm.integer_multiply_fj, "lane", "Integer multiplication and multiply-add."),
      NW_ENERGY(sm.integer_divide_fj, "lane", "Integer division and remainder."),
      NW_ENERGY(sm.fp32_fj, "lane", "Single precision, division apart."),
      NW_ENERGY(sm.fp32_divide_fj, "lane", "Single-precision division."),
      NW_ENERGY(sm.fp64_fj, "lane", "Double precision, division apart."),
      NW_ENERGY(sm.fp64_divide_fj, "lane", "Double-precision division, square root and the like."),
      NW_ENERGY(sm.special_fj, "lane", "Special functions and square root."),
      NW_ENERGY(sm.shuffle_fj, "lane", "Shuffles and votes."),
      NW_ENERGY(sm.constant_fj, "lane", "Loads of constants and parameters."),
      NW_ENERGY(sm.address_fj, "lane", "Address of a load, store or atomic."),
      NW_ENERGY(sm.control_fj, "lane", "Branches, barriers, fences, exits."),
      NW_ENERGY(sm.register_read_fj, "register", "Reading 32 bits of one lane."),
      NW_ENERGY(sm.register_write_fj, "register", "Writing 32 bits of one lane."),
      NW_ENERGY(sm.lsu_fj, "warp-instruction", "Load-store unit: queue and coalescing."),
      NW_ENERGY(sm.shared_fj, "warp-instruction", "Access to shared memory."),
      NW_ENERGY(sm.tlb_lookup_fj, "line", "Look-up in the TLB; page walks are memory traffic."),
      NW_ENERGY(sm.l1_lookup_fj, "line", "Look-up in the L1's tags."),
      NW_ENERGY(sm.l1_read_fj, "line", "Data of an L1 hit."),
      NW_ENERGY(sm.l1_write_fj, "line", "Data of an L1 fill, or of a store that hits."),
      NW_OPTIONAL_ENERGY(sm.queue_fj, "entry",
                         "An entry of an offload or service queue, "
                         "written or read; left out: nothing."),
      NW_ENERGY(l2.lookup_fj, "line", "Look-up in the L2's tags."),
      NW_ENERGY(l2.read_fj, "line", "Data of an L2 hit, or read by an atomic."),
      NW_ENERGY(l2.write_fj, "line", "Data of an L2 fill, of a write that hits, of an atomic."),
      NW_ENERGY(network.router_fj_per_bit, "bit",
                "A flit through a crossbar of the GPU or through one router, by its width."),
      NW_ENERGY(network.router_wire_fj_per_bit, "bit",
                "A flit over the wires between two routers."),
      NW_ENERGY(network.sm_wire_fj_per_bit, "bit",
                "A flit over the wires between an SM and a network that is no mesh."),
      NW_ENERGY(network.memory_wire_fj_per_bit, "bit",
                "Wires between such a network and L2 slice or link port (flits), and between "
                "slice and port (packets), each."),
      NW_ENERGY(network.stack_hop_fj_per_bit, "bit",
                "A packet through a logic-layer switch, with the wires to it."),
      NW_ENERGY(links.transfer_fj_per_bit, "bit", "Transfer over an off-chip link."),
      NW_ENERGY(links.idle_fj_per_bit, "bit",
                "Idle off-chip link: for each bit that it could have carried and did not."),
      NW_ENERGY(links.pcie_fj_per_bit, "bit", "Transfer over PCI-E."),
      NW_ENERGY(dram.activation_fj, "activation",
                "Activation of a row of energy.dram.activation_row_bytes."),
      {NW_KEY(dram.activation_row_bytes), "bytes", 1, 1048576, false, "",
       "Row that energy.dram.activation_fj is for; other rows cost in proportion."},
      NW_ENERGY(dram.precharge_fj, "precharge", "Precharge of a bank."),
      NW_ENERGY(dram.read_fj_per_bit, "bit", "Read from a row buffer."),
      NW_ENERGY(dram.write_fj_per_bit, "bit", "Write to a row buffer."),
      NW_ENERGY(dram.tsv_fj_per_bit, "bit", "TSVs between a vault and the logic layer."),
      NW_ENERGY(dram.refresh_fj, "refresh",
                "Refresh of all banks of a vault; one of a part of them takes its share."),
      NW_POWER(leakage.sm_uw, "Each SM, main or stack, busy or not."),
      NW_POWER(leakage.l2_slice_uw, "Each L2 slice."),
      NW_POWER(leakage.vault_uw, "Each vault: what DRAM takes in standby."),
      NW_POWER(leakage.constant_uw, "Everything else that does not depend on the load."),
  };
  return all;
}

}  // namespace nearwarp::config
