// The keys of SMs in a machine file.
#include "host/config/machine_parts.h"

namespace nearwarp::config {
namespace {

using M = MachineConfig;

// Latency and initiation interval of an instruction class, described by `what`.
// clang-format off
#define NW_CLASS(name, what)                                                                 \
  {"sm.classes." #name ".latency_cycles",                                                    \
   [](M& m) -> Member { return &m.classes.name.latency_cycles; },                            \
   "core cycles", 1, 4000, false, "", "In the execute stage: " what "."},                         \
  {"sm.classes." #name ".interval_cycles",                                                   \
   [](M& m) -> Member { return &m.classes.name.interval_cycles; },                           \
   "core cycles", 1, 4000, false, "", "Time that the issue port is occupied: " what "."}
// clang-format on

MachineKeys own_keys() {
  return {
      {NW_KEY(sm.warps), "warps", 1, 64, false, "", "Warp slots of a main SM."},
      {NW_KEY(sm.blocks), "blocks", 1, 64, false, "",
       "Thread blocks that a main SM holds at most."},
      {NW_KEY(sm.threads), "threads", 32, 2048, false, "", "Threads that a main SM holds at most."},
      {NW_KEY(sm.registers), "registers", 1024, uint64_t{1} << 20, false, "",
       "32-bit registers of an SM."},
      {NW_KEY(sm.shared_memory_bytes), "bytes", 0, uint64_t{1} << 20, false, "",
       "Shared memory of an SM."},
      {NW_KEY(sm.register_unit), "registers", 1, 4096, kPowerOfTwo, "",
       "A warp's registers are rounded up to a multiple of this."},
      {NW_KEY(sm.schedulers), "schedulers", 1, 4, false, "",
       "Warp schedulers; each issues one instruction per cycle."},
      {NW_KEY(sm.scheduler_policy), "", 0, 0, false, "gto lrr",
       "Greedy-then-oldest or loose round robin."},
      {NW_KEY(sm.sp_units), "ports", 1, 4, false, "",
       "Issue ports for integer and single-precision arithmetic."},
      {NW_KEY(sm.sfu_units), "ports", 1, 4, false, "", "Issue ports for special functions."},
      {NW_KEY(sm.dp_units), "ports", 0, 4, false, "",
       "Issue ports for double precision; 0: it shares the SP ports."},
      {NW_KEY(sm.charge_moves), "", 0, 0, false, "",
       "Issue mov and cvta, which the real assembler mostly removes."},
      {NW_KEY(sm.branch_latency_cycles), "core cycles", 1, 4000, false, "",
       "From a branch to the warp's next instruction."},
      {NW_KEY(sm.pipeline_cycles), "core cycles", 0, 1000, false, "",
       "What stands before and behind the execute stage, whose latencies sm.classes has, apart "
       "from "
       "reading operands."},
      {NW_KEY(sm.pipeline_extra_cycles), "core cycles", 0, 1000, false, "",
       "More of it for instructions with an interval above one."},
      {NW_KEY(sm.operands_per_cycle), "registers", 0, 8, false, "",
       "Registers of an instruction that are read in a cycle: its latency is so many cycles "
       "longer; 0: "
       "they take no time.",
       kOptional},
      {NW_KEY(sm.int_units), "ports", 0, 4, false, "",
       "Issue ports for everything but floating-point arithmetic; 0: it shares the SP ports.",
       kOptional},
      {NW_KEY(sm.sub_cores), "", 0, 0, false, "",
       "Each scheduler issues arithmetic to ports of its own: scheduler k to port k, modulo the "
       "number of ports, of each kind.",
       kOptional},
      {NW_KEY(sm.port_queue), "instructions", 0, 8, false, "",
       "Instructions that can be issued to a port that is taken, and wait for it: operand "
       "collectors and the latches around them. Of each port with sm.sub_cores, else of each kind. "
       "0: a taken port takes no instruction.",
       kOptional},
      {NW_KEY(sm.fetch_width), "instructions", 0, 8, false, "",
       "What a warp fetches at once when its instruction buffer is empty; 0: instructions are "
       "always there. Where it is not 0, a taken branch costs fetches besides "
       "sm.branch_latency_cycles.",
       kOptional},
      {NW_KEY(sm.fetches_per_cycle), "warps", 1, 8, false, "",
       "Warps that fetch in a cycle, where fetching takes time.", kOptional},
      {NW_KEY(sm.matrix_products_per_cycle), "products", 0, 65536, false, "",
       "Of matrix instructions with factors of f16, dense, in all their ports together: they take "
       "these for so long; other types by the ratio in docs/ptx.md. 0: no matrix unit; each takes "
       "a multiply-add of its type for every 1024 products.",
       kOptional},
      {NW_KEY(sm.matrix_units), "ports", 0, 4, false, "",
       "Ports for matrix instructions, where sm.matrix_products_per_cycle is not 0; 0: they take "
       "those of the SPs.",
       kOptional},
      {NW_KEY(sm.matrix_latency_cycles), "cycles", 0, 1000, false, "",
       "From the end of a matrix instruction's time in its port to its result; 0: the latency of a "
       "multiply-add of its type.",
       kOptional},
  };
}

MachineKeys instruction_cache_keys() {
  return {
      {NW_KEY(instruction_cache.bytes), "bytes", 0, uint64_t{1} << 24, false, "",
       "Capacity of an SM's instruction cache, whose misses pass the L2; 0: every fetch hits.",
       kOptional},
      {NW_KEY(instruction_cache.ways), "ways", 1, 32, false, "", "Associativity.", kOptional},
      {NW_KEY(instruction_cache.replacement), "", 0, 0, false, "lru fifo random srrip",
       "Whose way a new line takes in a full set, as l1.replacement.", kOptional},
      {NW_KEY(instruction_cache.mshr_entries), "lines", 1, 64, false, "",
       "Lines that may be missing at a time.", kOptional},
      {NW_KEY(instruction_cache.instruction_bytes), "bytes", 4, 32, kPowerOfTwo, "",
       "Size of an instruction.", kOptional},
  };
}

MachineKeys constant_cache_keys() {
  return {
      {NW_KEY(constant_cache.bytes), "bytes", 0, uint64_t{1} << 24, false, "",
       "Capacity of an SM's cache of constants and parameters, whose misses pass the L2; 0: every "
       "load of them hits.",
       kOptional},
      {NW_KEY(constant_cache.ways), "ways", 1, 32, false, "", "Associativity.", kOptional},
      {NW_KEY(constant_cache.replacement), "", 0, 0, false, "lru fifo random srrip",
       "Whose way a new line takes in a full set, as l1.replacement.", kOptional},
      {NW_KEY(constant_cache.line_bytes), "bytes", 32, 256, kPowerOfTwo, "",
       "Line size, at most that of the L1.", kOptional},
      {NW_KEY(constant_cache.mshr_entries), "lines", 1, 64, false, "",
       "Lines that may be missing at a time.", kOptional},
      {NW_KEY(constant_cache.mshr_merges), "warps", 1, 255, false, "",
       "Warps that may wait for one of them.", kOptional},
  };
}

MachineKeys classes_keys() {
  return {
      NW_CLASS(int_add, "integer and logic operations, comparisons, moves"),
      NW_CLASS(int_max, "integer minimum and maximum"),
      NW_CLASS(int_mul, "integer multiplication"),
      NW_CLASS(int_mad, "integer multiply-add"),
      NW_CLASS(int_div, "integer division and remainder"),
      NW_CLASS(fp32_add, "single-precision addition, comparison and conversion"),
      NW_CLASS(fp32_max, "single-precision minimum and maximum"),
      NW_CLASS(fp32_mul, "single-precision multiplication"),
      NW_CLASS(fp32_mad, "single-precision multiply-add"),
      NW_CLASS(fp32_div, "single-precision division and square root"),
      NW_CLASS(fp64_add, "double-precision addition, comparison and conversion"),
      NW_CLASS(fp64_max, "double-precision minimum and maximum"),
      NW_CLASS(fp64_mul, "double-precision multiplication"),
      NW_CLASS(fp64_mad, "double-precision multiply-add"),
      NW_CLASS(fp64_div, "double-precision division and square root"),
      NW_CLASS(sfu, "special functions"),
      NW_CLASS(shuffle, "shuffles and votes"),
      NW_CLASS(constant_load, "loads of constants and parameters"),
  };
}

}  // namespace

MachineKeys sm_keys() {
  MachineKeys keys = own_keys();
  for (const MachineKeys& part : {instruction_cache_keys(), constant_cache_keys(), classes_keys()})
    keys.insert(keys.end(), part.begin(), part.end());
  return keys;
}

}  // namespace nearwarp::config
