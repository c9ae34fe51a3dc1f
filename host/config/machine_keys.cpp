// The keys of a machine file. Upper bounds are those of the device models' tables and masks, or
// generous where they have none.
#include "host/config/key_shapes.h"
#include "host/config/machine_parts.h"
#include "host/config/mechanism.h"

namespace nearwarp::config {
namespace {

using M = MachineConfig;
using Keys = MachineKeys;

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
      {NW_KEY(l1.replacement), "", 0, 0, false, "lru fifo random srrip",
       "Whose way a new line takes in a full set. lru: of the line that was used least "
       "recently; fifo: of the one that came first; random: of any, drawn from the number of "
       "uses so far; srrip: of a line that, as predicted, will be used in the distant future "
       "(two bits, hit priority). A line that is on its way keeps its way.",
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
       "When a miss takes its way. miss: when it is sent; "
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
      {NW_KEY(tlb.replacement), "", 0, 0, false, "lru fifo random srrip",
       "Which translation goes when another comes, as l1.replacement.", kOptional},
      {NW_KEY(l2.bytes), "bytes", 1024, uint64_t{1} << 30, false, "",
       "Capacity of all slices together."},
      {NW_KEY(l2.ways), "ways", 1, 32, false, "", "Associativity."},
      {NW_KEY(l2.slices), "slices", 1, 256, false, "",
       "Slices; a multiple of the number of stacks or memory partitions."},
      {NW_KEY(l2.set_function), "", 0, 0, false, "linear xor fermi folded ipoly",
       "What a line's set is, as l1.set_function, by its number within the slice: what chooses "
       "partition and slice is left out. Without the key: folded.",
       kOptional},
      {NW_KEY(l2.replacement), "", 0, 0, false, "lru fifo random srrip",
       "Whose way a new line takes in a full set, as l1.replacement.", kOptional},
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
      {NW_KEY(l2.link_copies), "", 0, 0, false, "",
       "Each half keeps copies of lines of the other one for its own SMs; each slice then has a "
       "link "
       "of its own to its twin in the other half, of l2.link_latency_cycles and l2.link_bytes "
       "(0: as fast as it is). false: a line has one place, and the halves have one link.",
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
    for (const Keys& part : {clocks_keys(), gpu_keys(), sm_keys(), memory_keys(), stack_keys(),
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
