// The keys of a machine file. Upper bounds are those of the device models' tables and masks, or
// generous where they have none.
#include <vector>

#include "host/config/key_shapes.h"
#include "host/config/mechanism.h"
#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using M = MachineConfig;
using Keys = std::vector<Key<M>>;

// Path and place of a key whose path in the file is that of the member.
#define NW_KEY(member_path) #member_path, [](M & m) -> Member { return &m.member_path; }

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

constexpr bool kPowerOfTwo = true, kOptional = true;

Keys clocks_keys() {
  return {
      {"machine.description", [](M& m) -> Member { return &m.description; }, "", 0, 0, false, "",
       "One line on what the machine is."},
      {"machine.shape", [](M& m) -> Member { return &m.shape; }, "", 0, 0, false,
       "stacked discrete mesh stacks near_bank",
       "stacked: a main GPU with memory stacks; discrete: a GPU with memory partitions; mesh: the "
       "same on tiles; stacks: SMs in memory stacks only; near_bank: cores below banks of their "
       "own.",
       kOptional},
      {NW_KEY(clocks.core_mhz), "MHz", 1, 100000, false, "", "Clock of all SMs."},
      {NW_KEY(clocks.interconnect_mhz), "MHz", 1, 100000, false, "",
       "Clock of crossbars, link ports and the switches of stacks or partitions."},
      {NW_KEY(clocks.l2_mhz), "MHz", 1, 100000, false, "", "Clock of the L2 slices."},
      {NW_KEY(clocks.dram_mhz), "MHz", 1, 100000, false, "",
       "Command clock of the vaults or memory channels: half their data rate."},
  };
}

Keys gpu_keys() {
  return {
      {NW_KEY(gpu.sms), "SMs", 1, 4096, false, "", "Main SMs under policies without stack SMs."},
      {NW_KEY(gpu.sms_with_ndp), "SMs", 1, 4096, false, "",
       "Main SMs under policies that use stack SMs."},
      {NW_KEY(gpu.sms_per_cluster), "SMs", 1, 64, false, "",
       "Main SMs that share a port of each crossbar."},
      {NW_KEY(gpu.gpcs), "GPCs", 0, 64, false, "",
       "Groups of SMs: thread blocks of a cluster run on one of them at the same time, and reach "
       "each other's shared memory through its network. 0: blocks are placed one by one.",
       kOptional},
      {NW_KEY(gpu.sms_per_tpc), "SMs", 1, 16, false, "",
       "Main SMs in a row that are of one GPC; the next ones are of the next GPC, and so in turns.",
       kOptional},
      {NW_KEY(gpu.kernel_launch_latency_cycles), "core cycles", 0, 10000000, false, "",
       "Pause between the end of a launch and the next one."},
      {NW_KEY(gpu.control_latency_cycles), "interconnect cycles", 1, 100000, false, "",
       "Latency between the front end (block dispatch, offload control) and an SM."},
      {NW_KEY(gpu.launches_in_flight), "launches", 1, 32, false, "",
       "Launches of different streams or programs that run at once, at most.", kOptional},
      {NW_KEY(gpu.launches_share_sms), "", 0, 0, false, "",
       "An SM may hold thread blocks of several launches at a time.", kOptional},
      {NW_KEY(gpu.compute_capability), "tenths", 50, 129, false, "",
       "Compute capability that CUDA applications see, by which their code is chosen; 90 is 9.0.",
       kOptional},
  };
}

Keys sm_keys() {
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

Keys instruction_cache_keys() {
  return {
      {NW_KEY(instruction_cache.bytes), "bytes", 0, uint64_t{1} << 24, false, "",
       "Capacity of an SM's instruction cache, whose misses pass the L2; 0: every fetch hits.",
       kOptional},
      {NW_KEY(instruction_cache.ways), "ways", 1, 32, false, "", "Associativity.", kOptional},
      {NW_KEY(instruction_cache.mshr_entries), "lines", 1, 64, false, "",
       "Lines that may be missing at a time.", kOptional},
      {NW_KEY(instruction_cache.instruction_bytes), "bytes", 4, 32, kPowerOfTwo, "",
       "Size of an instruction.", kOptional},
  };
}

Keys constant_cache_keys() {
  return {
      {NW_KEY(constant_cache.bytes), "bytes", 0, uint64_t{1} << 24, false, "",
       "Capacity of an SM's cache of constants and parameters, whose misses pass the L2; 0: every "
       "load of them hits.",
       kOptional},
      {NW_KEY(constant_cache.ways), "ways", 1, 32, false, "", "Associativity.", kOptional},
      {NW_KEY(constant_cache.line_bytes), "bytes", 32, 256, kPowerOfTwo, "",
       "Line size, at most that of the L1.", kOptional},
      {NW_KEY(constant_cache.mshr_entries), "lines", 1, 64, false, "",
       "Lines that may be missing at a time.", kOptional},
      {NW_KEY(constant_cache.mshr_merges), "warps", 1, 255, false, "",
       "Warps that may wait for one of them.", kOptional},
  };
}

Keys classes_keys() {
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

Keys memory_keys() {
  return {
      {NW_KEY(lsu.queue_entries), "instructions", 2, 16, false, "",
       "Memory instructions between issue and the end of their line look-ups."},
      {NW_KEY(lsu.load_entries), "instructions", 1, 64, false, "",
       "Loads and atomics in flight, in warp-instructions."},
      {NW_KEY(lsu.pipeline_cycles), "core cycles", 0, 1000, false, "",
       "What operand collection and write-back add to shared_latency_cycles and L1 hits."},
      {NW_KEY(lsu.shared_latency_cycles), "core cycles", 1, 4000, false, "",
       "Shared memory access without bank conflicts."},
      {NW_KEY(lsu.remote_shared_cycles), "core cycles", 0, 4000, false, "",
       "What an access to the shared memory of another block of a cluster takes longer.",
       kOptional},
      {NW_KEY(lsu.remote_shared_bytes), "bytes", 0, 1024, false, "",
       "What an SM's port of its GPC's network moves in a core cycle, each way.", kOptional},
      {NW_KEY(lsu.shared_banks), "banks", 1, 32, kPowerOfTwo, "",
       "Banks of the shared memory, four bytes wide."},
      {NW_KEY(lsu.atomic_packets), "", 0, 0, false, "coalesced sector lane",
       "Packets of a warp's atomic, one of which leaves per cycle. coalesced: one for each line; "
       "sector: for each sector as many as lanes want one address of it at most, so that none has "
       "two lanes of one address; lane: one for each lane.",
       kOptional},
      {NW_KEY(l1.bytes), "bytes", 128, uint64_t{1} << 24, false, "",
       "Capacity of an SM's L1 data cache."},
      {NW_KEY(l1.ways), "ways", 1, 32, false, "", "Associativity."},
      {NW_KEY(l1.line_bytes), "bytes", 32, 256, kPowerOfTwo, "",
       "Cache line, of the L2 too; the unit of all memory traffic."},
      {NW_KEY(l1.set_function), "", 0, 0, false, "linear xor fermi folded ipoly",
       "What a line's set is. linear: its lowest bits; xor: these, exclusive-or as many above "
       "them; "
       "fermi: the hash of Fermi's L1, of 32 or 64 sets; folded: all its bits, exclusive-or in "
       "pieces; ipoly: the remainder by a polynomial, of 2 to 256 sets.",
       kOptional},
      {NW_KEY(l1.hit_latency_cycles), "core cycles", 1, 4000, false, "",
       "Of a hit, lsu.pipeline_cycles apart."},
      {NW_KEY(l1.miss_latency_cycles), "core cycles", 0, 4000, false, "",
       "Before what misses leaves the SM; all else that does takes it, too.", kOptional},
      {NW_KEY(l1.mshr_entries), "lines", 1, 256, false, "",
       "Lines that may be missing at a time; more than 64 of a discrete machine."},
      {NW_KEY(l1.mshr_merges), "loads", 1, 64, false, "",
       "Loads that wait for one missing line at most."},
      {NW_KEY(l1.keep), "", 0, 0, false, "lines misses nothing remote",
       "What loads leave for later ones. lines: a cache; misses: a line while it is on its way, so "
       "that loads merge and nothing hits; nothing: every load fetches its lines itself; remote: "
       "other cores' lines are kept, and of the core's own nothing (shape near_bank). Others than "
       "lines where lines are looked up whole and stores go through.",
       kOptional},
      {NW_KEY(l1.sectors), "", 0, 0, false, "",
       "Loads fetch the sectors that are missing, not whole lines (with l2.sectors).", kOptional},
      {NW_KEY(l1.allocate), "", 0, 0, false, "miss fill",
       "When a miss takes its way, that of the line least recently used. miss: when it is sent; "
       "fill: when its data comes, so that it wants an MSHR alone, and a line is there until "
       "another one has come. fill of a discrete machine, without local-back.",
       kOptional},
      {NW_KEY(l1.write_policy), "", 0, 0, false, "through allocate local-back",
       "through: stores go on, to lines that are there too, and allocate nothing; allocate: they "
       "go "
       "on, and their line is there (with l1.sectors); local-back: those to local memory stay if "
       "their line is there, until it is replaced, and those to global memory drop theirs. Others "
       "than through of a discrete machine.",
       kOptional},
      {NW_KEY(memory.page_bytes), "bytes", 4096, uint64_t{1} << 30, kPowerOfTwo, "",
       "Page: what can have a frame and a mapping of its own."},
      {NW_KEY(memory.local_memory), "", 0, 0, false, "thread slot",
       "Whose a place in local memory is. thread: of a thread of the program, the words of its "
       "warp one after the other. slot: of a warp slot, which the warps that come to it use one "
       "after the other; a word of all slots of the GPU comes before the next word. Needs lines of "
       "128 bytes.",
       kOptional},
      {NW_KEY(tlb.entries), "entries", 0, 1024, false, "",
       "Translations that an SM's TLB holds; 0: translation takes no time."},
      {NW_KEY(tlb.page_bytes), "bytes", 4096, uint64_t{1} << 30, kPowerOfTwo, "",
       "What an entry of the TLB covers; at least memory.page_bytes."},
      {NW_KEY(tlb.walkers), "walks", 1, 32, false, "",
       "Page walks that an SM has in flight at most."},
      {NW_KEY(tlb.walk_accesses), "reads", 1, 4, false, "",
       "Page-table reads per walk, one after the other; higher levels hit in a walk cache."},
      {NW_KEY(l2.bytes), "bytes", 1024, uint64_t{1} << 30, false, "",
       "Capacity of all slices together."},
      {NW_KEY(l2.ways), "ways", 1, 32, false, "", "Associativity."},
      {NW_KEY(l2.slices), "slices", 1, 256, false, "",
       "Slices; a multiple of the number of stacks or memory partitions."},
      {NW_KEY(l2.set_function), "", 0, 0, false, "linear xor fermi folded ipoly",
       "What a line's set is, as l1.set_function, by its number within the slice: what chooses "
       "partition and slice is left out. Without the key: folded.",
       kOptional},
      {NW_KEY(l2.latency_cycles), "L2 cycles", 1, 100000, false, "",
       "Look-up inside a slice, channels apart."},
      {NW_KEY(l2.mshr_entries), "lines", 1, 256, false, "",
       "Lines that may be missing at a time, per slice."},
      {NW_KEY(l2.mshr_merges), "requests", 1, 64, false, "",
       "Requests that wait for one missing line at most."},
      {NW_KEY(l2.queue_entries), "packets", 2, 1024, false, "",
       "Packets between a slice and its link port, each way."},
      {NW_KEY(l2.atomic_cycles), "L2 cycles", 0, 1000, false, "",
       "Lanes whose atomics want one address are served one after the other, each so long; a slice "
       "serves one access at a time. 0: at once.",
       kOptional},
      {NW_KEY(l2.sectors), "", 0, 0, false, "",
       "Reads fetch the sectors that are missing (packets.sector_bytes), not whole lines. Of a "
       "discrete machine.",
       kOptional},
      {NW_KEY(l2.write_policy), "", 0, 0, false, "through back",
       "through: writes go on to memory and allocate nothing; back: they stay until their line is "
       "replaced; with l2.sectors they allocate it and fetch nothing, else see l2.write_miss.",
       kOptional},
      {NW_KEY(l2.write_miss), "", 0, 0, false, "allocate through fetch fetch-on-write",
       "What a write does whose line is not there, with write_policy \"back\" and whole lines. "
       "allocate: one of a whole line takes its place and fetches nothing, others go on to memory; "
       "through: all go on to memory; fetch: they go on to memory, and their line is fetched; "
       "fetch-on-write: as allocate, but others fetch their line and stay in it.",
       kOptional},
      {NW_KEY(l2.atomics), "", 0, 0, false, "slice memory",
       "Where atomics are executed. slice: in the L2 of the SM's stack, whatever other stacks do "
       "with the line at the time, an idealisation; memory: by the vault where the line lives, and "
       "the L2 that they pass gives the line up.",
       kOptional},
      {NW_KEY(l2.at_launch), "", 0, 0, false, "keep remote all",
       "Which lines the L2s of several stacks give up when a launch begins, so that it sees what "
       "other stacks have written. remote: those of other stacks' memory, and those that other "
       "stacks have written; all: all; either way what is dirty is written back first. keep: none, "
       "and what is old stays, an idealisation.",
       kOptional},
      {NW_KEY(l2.sectors_per_cycle), "sectors", 0, 8, false, "",
       "That a slice looks up in an L2 cycle; 0: a request, whatever it is of (with l2.sectors).",
       kOptional},
      {NW_KEY(l2.begins_with_data), "", 0, 0, false, "",
       "As if all that programs allocate had been copied to the device just before the first "
       "launch, "
       "in the order of allocation: the last of it lies in the L2.",
       kOptional},
      {NW_KEY(l2.link_latency_cycles), "interconnect cycles", 0, 10000, false, "",
       "Of the link between two halves of the L2, each way, beside a second crossbar. Slices, and "
       "SMs' ports, of one half are before the link, in their order; a line has its slice's half. "
       "0: there is one part.",
       kOptional},
      {NW_KEY(l2.link_bytes), "bytes/cycle", 0, 65536, false, "",
       "That the link carries in an interconnect cycle, requests and replies each, each way; 0: "
       "what its port of a crossbar does (with l2.link_latency_cycles).",
       kOptional},
      {NW_KEY(interconnect.flit_bytes), "bytes", 1, 1024, false, "",
       "A crossbar port moves one flit per interconnect cycle."},
      {NW_KEY(interconnect.channel_latency_cycles), "interconnect cycles", 1, 100000, false, "",
       "Each hop: SM to crossbar, crossbar to slice, slice to link port."},
      {NW_KEY(interconnect.queue_entries), "packets", 2, 1024, false, "",
       "Packets in flight per channel."},
      {NW_KEY(interconnect.topology), "", 0, 0, false, "switch crossbar mesh butterfly",
       "What requests and replies pass: a one-stage switch of whole packets, or virtual-channel "
       "routers (docs/networks.md)."},
      {NW_KEY(interconnect.vcs), "VCs", 1, 32, false, "", "Virtual channels per port of a router."},
      {NW_KEY(interconnect.vc_flits), "flits", 1, 1024, false, "",
       "Flits that a virtual channel of a router holds."},
      {NW_KEY(interconnect.split_packets), "", 0, 0, false, "",
       "Every flit of a packet travels as a packet of its own, as where sectors are requested and "
       "answered one by one (each is a flit then, whatever it carries): routers allocate a virtual "
       "channel for each, and packets can take turns.",
       kOptional},
      {NW_KEY(interconnect.internal_speedup), "per cycle", 1, 2, false, "",
       "Routings, allocations and traversals in a router; wires carry one flit per cycle all the "
       "same."},
      {NW_KEY(interconnect.input_speedup), "per cycle", 1, 8, kPowerOfTwo, "",
       "Flits of different virtual channels that an input port of a router hands to the switch in "
       "a "
       "round of allocation.",
       kOptional},
      {NW_KEY(interconnect.wait_for_tail_credit), "", 0, 0, false, "",
       "A virtual channel of a router is free for the next packet when the credit of the last "
       "one's "
       "tail has come back, not already when the tail has won the switch.",
       kOptional},
      {NW_KEY(interconnect.flit_by_flit), "", 0, 0, false, "",
       "Step crossbars of one virtual channel flit by flit, too, as other networks, not packet by "
       "packet: slower, with the same results.",
       kOptional},
      {NW_KEY(interconnect.routing_delay_cycles), "interconnect cycles", 0, 256, false, "",
       "Routing in a router; 0: known ahead."},
      {NW_KEY(interconnect.router_latency_cycles), "interconnect cycles", 1, 256, false, "",
       "Wires between routers."},
      {NW_KEY(interconnect.butterfly_radix), "ports", 2, 64, false, "",
       "Ports of a butterfly's routers, each way."},
  };
}

Keys stack_keys() {
  return {
      {NW_KEY(links.gpu_to_memory_mbps), "MB/s", 1, 10000000, false, "",
       "Bandwidth of a stack's link to the GPU."},
      {NW_KEY(links.memory_to_memory_mbps), "MB/s", 1, 10000000, false, "",
       "Bandwidth of a cross-stack link, per pair of stacks; shape stacks: see links.topology."},
      {NW_KEY(links.topology), "", 0, 0, false, "pairs ports pool",
       "Shape stacks: what has the bandwidth links.memory_to_memory_mbps. pairs: a link for each "
       "two stacks, in either direction; ports: one of each stack, to the others and from them; "
       "pool: all of them together. With ports a packet is sent on when it has come whole to the "
       "switch between stacks.",
       kOptional},
      {NW_KEY(links.directions), "", 0, 0, false, "each together",
       "Whose bandwidth links.gpu_to_memory_mbps and links.memory_to_memory_mbps are. each: that "
       "of "
       "either direction; together: of both, and each has half of it.",
       kOptional},
      {NW_KEY(links.latency_cycles), "interconnect cycles", 1, 100000, false, "",
       "From a packet's last byte to its arrival."},
      {NW_KEY(links.queue_entries), "packets", 2, 1024, false, "", "Packets in flight per link."},
      {NW_KEY(stack.count), "stacks", 1, 16, kPowerOfTwo, "", "Memory stacks."},
      {NW_KEY(stack.sms), "SMs", 1, 1, false, "", "SMs in the logic layer of each stack."},
      {NW_KEY(stack.sm_warps), "warps", 1, 256, false, "", "Warp slots of a stack SM."},
      {NW_KEY(stack.vaults), "vaults", 1, 32, kPowerOfTwo, "", "Vaults per stack."},
      {NW_KEY(stack.tsv_mbps), "MB/s", 1, 10000000, false, "", "Bandwidth of a vault's data TSVs."},
      {NW_KEY(stack.sm_latency_cycles), "interconnect cycles", 0, 100000, false, "",
       "Logic-layer switch to a stack SM, and back; 0: stack.switch_latency_cycles.", kOptional},
      {NW_KEY(stack.switch_latency_cycles), "interconnect cycles", 1, 100000, false, "",
       "Logic-layer switch to a vault or a stack SM, and back."},
      {NW_KEY(stack.switch_flit_bytes), "bytes", 1, 1024, false, "",
       "A port of the logic-layer switch moves one flit per interconnect cycle."},
      {NW_KEY(stack.queue_entries), "packets", 2, 1024, false, "",
       "Packets in flight per channel inside a stack."},
      {NW_KEY(stack.interleave_bytes), "bytes", 0, uint64_t{1} << 20, false, "",
       "So many in a row stay in one stack, a power of two within a page; the address's next bits "
       "choose it, without a hash. 0: a line, and with a hash.",
       kOptional},
      {NW_KEY(stack_sm.clock_mhz), "MHz", 0, 100000, false, "",
       "Clock of stack SMs; 0: that of the main SMs.", kOptional},
      {NW_KEY(stack_sm.l1_bytes), "bytes", 0, uint64_t{1} << 24, false, "",
       "Capacity of a stack SM's L1 data cache; 0: as a main SM's.", kOptional},
      {NW_KEY(stack_sm.l1_ways), "ways", 0, 32, false, "", "Its associativity; 0: likewise.",
       kOptional},
      {NW_KEY(stack_sm.schedulers), "schedulers", 0, 4, false, "",
       "Warp schedulers of a stack SM; 0: as many as a main SM has.", kOptional},
      {NW_KEY(stack_sm.sp_units), "ports", 0, 4, false, "",
       "Issue ports of a stack SM for integer and single-precision arithmetic; 0: likewise.",
       kOptional},
      {NW_KEY(stack_sm.sfu_units), "ports", 0, 4, false, "",
       "Issue ports of a stack SM for special functions; 0: likewise.", kOptional},
      {NW_KEY(stack_sm.shared_memory_bytes), "bytes", 0, uint64_t{1} << 20, false, "",
       "Shared memory of a stack SM, for arrays that go along with offloaded warps; 0: as a main "
       "SM's.",
       kOptional},
      {NW_KEY(partitions.count), "partitions", 1, 64, false, "", "Memory partitions."},
      {NW_KEY(partitions.channels), "channels", 1, 32, false, "",
       "Memory channels of a partition, behind its L2 slices."},
      {NW_KEY(partitions.channel_mbps), "MB/s", 1, 10000000, false, "",
       "Bandwidth of a channel's data bus."},
      {NW_KEY(partitions.latency_cycles), "interconnect cycles", 1, 100000, false, "",
       "Each of two hops: L2 slice to partition switch to memory channel, and back."},
      {NW_KEY(partitions.flit_bytes), "bytes", 1, 1024, false, "",
       "A port of the partition switch moves one flit per interconnect cycle."},
      {NW_KEY(partitions.queue_entries), "packets", 2, 1024, false, "",
       "Packets in flight per channel inside a partition."},
      {NW_KEY(mesh.width), "tiles", 1, 64, false, "", "Tiles in a row of the mesh."},
      {NW_KEY(mesh.height), "tiles", 1, 64, false, "", "Rows of tiles."},
      {NW_KEY(mesh.routing), "", 0, 0, false, "xy yx",
       "Dimension that packets take first, requests and replies alike."},
      {NW_KEY(mesh.memory_tiles), "", 0, 0, false, "",
       "Tile of each memory partition, counted row by row from 0, separated by blanks."},
      {NW_KEY(near_bank.processors), "processors", 1, 256, false, "", "Stacks of dies with cores."},
      {NW_KEY(near_bank.processors_per_row), "processors", 1, 64, false, "",
       "Processors in a row of their mesh."},
      {NW_KEY(near_bank.cores_per_row), "cores", 1, 64, false, "",
       "Cores in a row of a processor's mesh."},
      {NW_KEY(near_bank.units), "units", 1, 32, kPowerOfTwo, "",
       "Groups of dram.banks banks above a core, each with a controller."},
      {NW_KEY(near_bank.unit_mbps), "MB/s", 1, 10000000, false, "",
       "Bandwidth of a group's banks."},
      {NW_KEY(near_bank.tsv_bytes), "bytes", 1, 1024, false, "",
       "What a core's data TSVs move per interconnect cycle and direction."},
      {NW_KEY(near_bank.tsv_latency_cycles), "interconnect cycles", 1, 100000, false, "",
       "Each of two hops: subcore or router to TSVs to banks, and back."},
      {NW_KEY(near_bank.interleave_bytes), "bytes", 32, uint64_t{1} << 30, kPowerOfTwo, "",
       "Consecutive bytes that lie above one core; the next ones lie above the next core."},
      {NW_KEY(near_bank.unit_interleave_bytes), "bytes", 0, uint64_t{1} << 20, false, "",
       "So many of a core's bytes in a row lie behind one of its groups of banks, a power of two; "
       "0: a "
       "line.",
       kOptional},
      {NW_KEY(near_bank.queue_entries), "packets", 2, 1024, false, "",
       "Packets in flight per channel between a core and its banks."},
      {NW_KEY(partitions.interleave_bytes), "bytes", 0, uint64_t{1} << 20, false, "",
       "So many in a row stay in one partition and slice, a power of two; 0: a line.", kOptional},
      {NW_KEY(partitions.hash), "", 0, 0, false, "folded none ipoly",
       "How the bits above choose with: folded: added or exclusive-or to partition, slice and "
       "bank; "
       "none: not at all; ipoly: partition and slice are the remainder by a polynomial, banks "
       "without.",
       kOptional},
      {NW_KEY(partitions.slices_own_banks), "", 0, 0, false, "",
       "Slices that share a memory channel have banks of it for themselves, instead of parts of "
       "all "
       "rows.",
       kOptional},
      {NW_KEY(dram.standard), "", 0, 0, false, "",
       "Standard whose timings the vaults have, as 'nearwarp list dram' names it, or \"none\": the "
       "machine lists them."},
      {NW_KEY(dram.banks), "banks", 1, 32, kPowerOfTwo, "", "Banks per vault."},
      {NW_KEY(dram.bank_groups), "groups", 1, 8, kPowerOfTwo, "", "Bank groups per vault."},
      {NW_KEY(dram.row_buffers), "row buffers", 1, 8, kPowerOfTwo, "",
       "Rows that a bank holds open at a time."},
      {NW_KEY(dram.row_buffer_rule), "", 0, 0, false, "modulo any",
       "Which of a bank's row buffers a row takes. modulo: that of its number modulo "
       "dram.row_buffers (subarrays in turn, as MASA has them); any: any of them, and the one that "
       "was wanted least recently gives up its row.",
       kOptional},
      {NW_KEY(dram.row_bytes), "bytes", 128, uint64_t{1} << 20, kPowerOfTwo, "", "Row of a bank."},
      {NW_KEY(dram.queue_entries), "requests", 2, 64, false, "",
       "Requests that the FR-FCFS scheduler chooses from."},
      {NW_KEY(dram.read_entries), "requests", 1, 64, false, "",
       "Reads that may wait; if this and write_entries are queue_entries or more, it is one "
       "queue."},
      {NW_KEY(dram.write_entries), "requests", 1, 64, false, "", "Writes that may wait."},
      {NW_KEY(dram.scheduler), "", 0, 0, false, "fr-fcfs fcfs",
       "fr-fcfs: accesses to open rows first, then the oldest; fcfs: in order of arrival."},
      {NW_KEY(dram.page_policy), "", 0, 0, false, "open closed",
       "closed: a row closes with the last access to it that is waiting."},
      {NW_KEY(dram.forward_writes), "", 0, 0, false, "",
       "Answer reads of whole lines that wait to be written from the queue."},
      {NW_KEY(dram.starvation_cycles), "DRAM cycles", 1, 1000000, false, "",
       "A request that has waited longer goes before all others."},
      {NW_KEY(dram.fixed_latency_cycles), "DRAM cycles", 0, 100000, false, "",
       "Controller and return path, besides the timing."},
      {NW_KEY(dram.burst_bytes), "bytes", 1, 256, kPowerOfTwo, "",
       "The data bus carries whole bursts of this size, whether all of it is wanted or not.",
       kOptional},
      {NW_KEY(dram.sector_bursts), "", 0, 0, false, "",
       "Each sector that is read is a burst of its own, as in a controller without lines.",
       kOptional},
      {NW_KEY(dram.tCL), "DRAM cycles", 1, 100000, false, "", "Read command to its first data."},
      {NW_KEY(dram.tCWL), "DRAM cycles", 1, 100000, false, "", "Write command to its first data."},
      {NW_KEY(dram.tRCD), "DRAM cycles", 1, 100000, false, "", "Activation to a column command."},
      {NW_KEY(dram.tRP), "DRAM cycles", 1, 100000, false, "", "Precharge to activation."},
      {NW_KEY(dram.tRAS), "DRAM cycles", 1, 100000, false, "", "Activation to precharge."},
      {NW_KEY(dram.tRC), "DRAM cycles", 1, 100000, false, "",
       "Activation to activation, one bank."},
      {NW_KEY(dram.tRRD), "DRAM cycles", 1, 100000, false, "",
       "Activation to activation, different banks."},
      {NW_KEY(dram.tFAW), "DRAM cycles", 1, 100000, false, "",
       "Window for at most four activations."},
      {NW_KEY(dram.tCCD), "DRAM cycles", 1, 100000, false, "", "Column command to column command."},
      {NW_KEY(dram.tWR), "DRAM cycles", 1, 100000, false, "", "End of write data to precharge."},
      {NW_KEY(dram.tWTR), "DRAM cycles", 1, 100000, false, "",
       "End of write data to a read command."},
      {NW_KEY(dram.tRTP), "DRAM cycles", 1, 100000, false, "", "Read command to precharge."},
      {NW_KEY(dram.tRTW), "DRAM cycles", 1, 100000, false, "", "Read command to a write command."},
      {NW_KEY(dram.tREFI), "DRAM cycles", 0, 100000, false, "",
       "Average interval of refreshes; 0: no refresh."},
      {NW_KEY(dram.tRFC), "DRAM cycles", 1, 100000, false, "", "Refresh to the next activation."},
      {NW_KEY(dram.tRRD_L), "DRAM cycles", 1, 100000, false, "",
       "Activation to activation, one bank group of several."},
      {NW_KEY(dram.tCCD_L), "DRAM cycles", 1, 100000, false, "",
       "Column command to column command, one bank group of several."},
      {NW_KEY(dram.tWTR_L), "DRAM cycles", 1, 100000, false, "",
       "End of write data to a read command, one bank group of several."},
      {NW_KEY(dram.tRCDWR), "DRAM cycles", 0, 100000, false, "",
       "Activation to a write, where it differs from tRCD. 0: none.", kOptional},
      {NW_KEY(dram.tCCD_L_WR), "DRAM cycles", 0, 100000, false, "",
       "Write to write, one bank group, where it differs from tCCD_L. 0: none.", kOptional},
      {NW_KEY(dram.tCCD_R), "DRAM cycles", 0, 100000, false, "",
       "Column command to column command of another rank. 0: none.", kOptional},
      {NW_KEY(dram.tCCDSB), "DRAM cycles", 0, 100000, false, "",
       "Column command to column command, one bank. 0: none.", kOptional},
      {NW_KEY(dram.tWTRSB), "DRAM cycles", 0, 100000, false, "",
       "End of write data to a read command, one bank. 0: none.", kOptional},
      {NW_KEY(dram.tPPD), "DRAM cycles", 0, 100000, false, "", "Precharge to precharge. 0: none.",
       kOptional},
      {NW_KEY(dram.tRFCpb), "DRAM cycles", 0, 100000, false, "",
       "Refresh of some banks to their next activation. 0: none.", kOptional},
      {NW_KEY(dram.tRREFD), "DRAM cycles", 0, 100000, false, "",
       "Refresh of some banks to a refresh or activation of others. 0: none.", kOptional},
      {NW_KEY(dram.constraints), "", 0, 0, false, "",
       "Constraints between commands, a row each: SCOPE: COMMANDS > COMMANDS = CYCLES. Without the "
       "key: the customary rows of docs/memory.md.",
       kOptional},
      {NW_KEY(dram.timing_mhz), "MHz", 1, 100000, false, "",
       "Clock for which timings in cycles hold. Without the key: the file's clocks.dram_mhz, or "
       "the "
       "standard's clock.",
       kOptional},
      {NW_KEY(dram.other_clock), "", 0, 0, false, "refuse keep-ns keep-cycles",
       "What becomes of timings in cycles of another clock than clocks.dram_mhz. refuse: an error; "
       "keep-ns: they take as long, in cycles rounded up, and tCCD, a burst, as many cycles; "
       "keep-cycles: they are as many cycles.",
       kOptional},
      {NW_KEY(dram.write_high_watermark), "requests", 1, 64, false, "",
       "Waiting writes from which on they are drained."},
      {NW_KEY(dram.write_low_watermark), "requests", 0, 63, false, "",
       "Waiting writes at which the draining ends."},
  };
}

Keys packets_keys() {
  return {
      {NW_KEY(packets.header_bytes), "bytes", 1, 256, false, "",
       "A request or acknowledgement without data; the header of one with data."},
      {NW_KEY(packets.sector_bytes), "bytes", 32, 32, false, "",
       "Granularity of write data; that of the coalescer, so there is no choice yet."},
      {NW_KEY(packets.register_bytes), "bytes", 1, 64, false, "",
       "One 32-bit register of one thread in a packet of a mechanism."},
      {NW_KEY(packets.line_address_bytes), "bytes", 1, 64, false, "",
       "One written line in an acknowledgement of a mechanism."},
  };
}

/// Keys by which mechanisms ask a machine for what they need.
Keys mechanisms_keys() {
  Keys keys;
  for (const MechanismDeclaration* d : declared_mechanisms())
    keys.insert(keys.end(), d->machine_keys.begin(), d->machine_keys.end());
  return keys;
}

Keys run_keys() {
  return {
      {NW_KEY(run.max_cycles), "core cycles", 1, (uint64_t{1} << 32) - (1 << 20), false, "",
       "A longer run stops; its results are partial. SMs count cycles in 32 bits."},
      {NW_KEY(run.no_progress_cycles), "core cycles", 1000, uint64_t{1} << 40, false, "",
       "A run without a committed instruction for so long is reported as hung."},
      {"energy.model", [](M& m) -> Member { return &m.energy_model; }, "", 0, 0, false, "",
       "Energy file, by name or path: what events and time cost."},
  };
}

}  // namespace

std::span<const Key<MachineConfig>> machine_keys() {
  static const Keys all = [] {
    Keys keys;
    for (const Keys& part : {clocks_keys(), gpu_keys(), sm_keys(), instruction_cache_keys(),
                             constant_cache_keys(), classes_keys(), memory_keys(), stack_keys(),
                             packets_keys(), mechanisms_keys(), run_keys()})
      keys.insert(keys.end(), part.begin(), part.end());
    for (Key<M>& key : keys)
      if (key.shapes.empty()) key.shapes = shapes_of_key(key.path);
    for (Key<M>& key : keys)
      key.in_ns = key.path.starts_with("dram.t") && key.unit == "DRAM cycles";
    return keys;
  }();
  return all;
}

}  // namespace nearwarp::config
