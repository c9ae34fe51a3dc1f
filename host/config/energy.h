// The energy that events and time cost, as a file of configs/energy/ describes it. Every field is a
// key of the file; units are in names: fj femtojoules, uw microwatts.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::config {

struct EnergyConfig {
  std::string name;            ///< file name without ".toml"
  std::string path;            ///< where it was read from
  std::string description;     ///< [energy] description
  uint32_t technology_nm = 0;  ///< [energy]: the node that the SMs' and caches' values are for
  uint64_t board_uw = 0;       ///< [energy]: most power of the whole board; 0: there is none

  struct Sm {                  // [energy.sm]: main SMs and stack SMs
    uint64_t issue_fj = 0;     ///< warp-instruction: fetch, decoding, scheduling
    uint64_t operands_fj = 0;  ///< warp-instruction: operand collector
    // One active lane of an instruction.
    uint64_t integer_fj = 0, integer_multiply_fj = 0, integer_divide_fj = 0;
    uint64_t fp32_fj = 0, fp32_divide_fj = 0, fp64_fj = 0, fp64_divide_fj = 0;
    uint64_t special_fj = 0, shuffle_fj = 0, constant_fj = 0, address_fj = 0, control_fj = 0;
    uint64_t register_read_fj = 0, register_write_fj = 0;  ///< 32 bits of one lane
    uint64_t lsu_fj = 0;                                   ///< warp-instruction: load-store unit
    uint64_t shared_fj = 0;      ///< warp-instruction: access to shared memory
    uint64_t tlb_lookup_fj = 0;  ///< line
    uint64_t l1_lookup_fj = 0;   ///< line: tags
    uint64_t l1_read_fj = 0;     ///< line: data of a hit
    uint64_t l1_write_fj = 0;    ///< line: data of a fill or of a store that hits
    uint64_t queue_fj = 0;       ///< entry of an offload or service queue
  } sm;

  struct L2 {                // [energy.l2]
    uint64_t lookup_fj = 0;  ///< line: tags
    uint64_t read_fj = 0;    ///< line: data
    uint64_t write_fj = 0;   ///< line: data of a fill, of a write that hits, of an atomic
  } l2;

  struct Network {  // [energy.network]
    // Costs by bit of a flit, used or not.
    uint64_t router_fj_per_bit = 0;       ///< passing a crossbar of the GPU, or one router
    uint64_t router_wire_fj_per_bit = 0;  ///< between two routers
    uint64_t sm_wire_fj_per_bit = 0;      ///< between an SM and a network that is no mesh
    uint64_t memory_wire_fj_per_bit = 0;  ///< such a network - L2 slice - link port, each
    // Costs by bit of a packet.
    uint64_t stack_hop_fj_per_bit = 0;  ///< logic-layer switch, with the wires to it
  } network;

  struct Links {                       // [energy.links]
    uint64_t transfer_fj_per_bit = 0;  ///< off-chip links, every direction
    uint64_t idle_fj_per_bit = 0;  ///< for each bit that could have been transferred and was not
    uint64_t pcie_fj_per_bit = 0;  ///< PCI-E, the learning phase's
  } links;

  struct Dram {                         // [energy.dram]
    uint64_t activation_fj = 0;         ///< of a row of activation_row_bytes
    uint64_t activation_row_bytes = 0;  ///< larger and smaller rows cost in proportion
    uint64_t precharge_fj = 0;          ///< command
    uint64_t read_fj_per_bit = 0, write_fj_per_bit = 0;  ///< row buffer
    uint64_t tsv_fj_per_bit = 0;                         ///< between vault and logic layer
    uint64_t refresh_fj = 0;                             ///< of all banks of a vault
  } dram;

  struct Leakage {             // [energy.leakage]: as long as the run lasts
    uint64_t sm_uw = 0;        ///< each SM, main or stack
    uint64_t l2_slice_uw = 0;  ///< each
    uint64_t vault_uw = 0;     ///< each: DRAM background
    uint64_t constant_uw = 0;  ///< the rest of the machine
  } leakage;
};

}  // namespace nearwarp::config
