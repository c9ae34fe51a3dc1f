// A machine as its TOML file describes it. Every field is a key of the file; units are in names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/config/energy.h"
#include "host/config/tables.h"

namespace nearwarp::config {

/// Latency (issue to result) and initiation interval of an instruction class, in core cycles.
struct ClassTiming {
  uint32_t latency_cycles = 0;
  uint32_t interval_cycles = 0;
};

struct MachineConfig {
  std::string name;         ///< file name without ".toml"
  std::string path;         ///< the file that it was read from
  std::string description;  ///< [machine] description
  /// [machine] shape: it determines the machine's layout (host/timing/machine/shapes/) and its
  /// keys.
  std::string shape = "stacked";

  struct Clocks {  // [clocks]; the base tick is 1 / lcm of these
    uint32_t core_mhz = 0;
    uint32_t interconnect_mhz = 0;
    uint32_t l2_mhz = 0;
    uint32_t dram_mhz = 0;  ///< command clock
  } clocks;

  struct Gpu {                  // [gpu]
    uint32_t sms = 0;           ///< main SMs when the mechanism has no stack SMs
    uint32_t sms_with_ndp = 0;  ///< main SMs when stack SMs are in use
    uint32_t sms_per_cluster = 1;
    uint32_t gpcs = 0;         ///< groups of SMs; a cluster of thread blocks runs on one; 0: none
    uint32_t sms_per_tpc = 1;  ///< consecutive SMs of a GPC in a TPC
    uint32_t kernel_launch_latency_cycles = 0;  ///< core cycles between launches
    uint32_t control_latency_cycles = 0;        ///< front end <-> SM, interconnect cycles
    uint32_t launches_in_flight = 32;           ///< the most launches at a time
    bool launches_share_sms = true;             ///< an SM may hold blocks of several launches
    uint32_t compute_capability = 90;           ///< times ten, as applications see it
  } gpu;

  struct Sm {  // [sm]
    uint32_t warps = 0;
    uint32_t blocks = 0;
    uint32_t threads = 0;
    uint32_t registers = 0;  ///< 32-bit registers
    uint32_t shared_memory_bytes = 0;
    uint32_t register_unit = 0;  ///< registers per warp are rounded up to a multiple of this
    uint32_t schedulers = 0;
    std::string scheduler_policy;                        ///< "gto" or "lrr"
    uint32_t sp_units = 0, sfu_units = 0, dp_units = 0;  ///< issue ports; dp 0: shares the SP ports
    bool charge_moves = true;  ///< issue `mov` and `cvta`, which the real assembler removes
    uint32_t branch_latency_cycles = 0;
    uint32_t pipeline_cycles = 0;        ///< before and behind the execute stage
    uint32_t operands_per_cycle = 0;     ///< registers that an instruction reads; 0: all at once
    uint32_t pipeline_extra_cycles = 0;  ///< added if the port is busy for several cycles
    uint32_t int_units = 0;              ///< issue ports; 0: integers share the SP ports
    bool sub_cores = false;              ///< each scheduler has ports of its own
    uint32_t port_queue = 0;             ///< issued instructions that can wait for a port
    uint32_t fetches_per_cycle = 1;      ///< warps that fetch in a cycle
    uint32_t fetch_width = 0;            ///< instructions; 0: fetching takes no time
    /// Products of f16 that matrix instructions of all its warps form; 0: it has no matrix unit.
    uint32_t matrix_products_per_cycle = 0;
    uint32_t matrix_units = 0;           ///< issue ports of their own; 0: they share the SP ports
    uint32_t matrix_latency_cycles = 0;  ///< beside the time in the unit; 0: of a multiply-add
  } sm;

  struct InstructionCache {  // [instruction_cache]; line size as in the L1
    uint32_t bytes = 0;      ///< 0: every fetch hits
    uint32_t ways = 4;
    uint32_t mshr_entries = 2;
    uint32_t instruction_bytes = 8;
    std::string replacement = "lru";  ///< as of the L1
  } instruction_cache;

  struct ConstantCache {  // [constant_cache]
    uint32_t bytes = 0;   ///< 0: every load hits
    uint32_t ways = 2;
    uint32_t line_bytes = 64;
    uint32_t mshr_entries = 2;
    uint32_t mshr_merges = 32;
    std::string replacement = "lru";  ///< as of the L1
  } constant_cache;

  struct Classes {  // [sm.classes.NAME] latency_cycles, interval_cycles
    ClassTiming int_add, int_max, int_mul, int_mad, int_div;
    ClassTiming fp32_add, fp32_max, fp32_mul, fp32_mad, fp32_div;
    ClassTiming fp64_add, fp64_max, fp64_mul, fp64_mad, fp64_div;
    ClassTiming sfu, shuffle, constant_load;
  } classes;

  struct Lsu {                   // [lsu]
    uint32_t queue_entries = 0;  ///< memory instructions between issue and completion of coalescing
    uint32_t load_entries = 0;   ///< loads and atomics in flight, in warp instructions
    uint32_t pipeline_cycles = 0;  ///< before and behind the access itself
    uint32_t shared_latency_cycles = 0;
    uint32_t remote_shared_cycles = 0;  ///< added for another block's shared memory in the cluster
    uint32_t remote_shared_bytes = 0;   ///< per cycle, from and to an SM in its GPC's network
    uint32_t shared_banks = 0;
    /// How a warp's atomic is divided into packets: "coalesced", "sector" or "lane".
    std::string atomic_packets = "coalesced";
  } lsu;

  struct L1 {  // [l1]
    uint32_t bytes = 0;
    uint32_t ways = 0;
    uint32_t line_bytes = 0;
    std::string set_function = "linear";  ///< "linear", "xor", "fermi", "folded" or "ipoly"
    std::string replacement = "lru";      ///< "lru", "fifo", "random" or "srrip"
    uint32_t hit_latency_cycles = 0;
    uint32_t miss_latency_cycles = 0;  ///< before misses and stores leave the SM
    uint32_t mshr_entries = 0;
    uint32_t mshr_merges = 0;
    std::string keep = "lines";            ///< "lines", "misses" or "nothing": of what loads fetch
    bool sectors = false;                  ///< loads fetch the sectors that are missing, not lines
    std::string allocate = "miss";         ///< "miss" or "fill": when a miss takes its way
    std::string write_policy = "through";  ///< "through", "allocate" or "local-back"
  } l1;

  struct Memory {                         // [memory]
    uint32_t page_bytes = 0;              ///< page size of the page tables
    std::string local_memory = "thread";  ///< addresses of local memory by "thread" or warp "slot"
  } memory;

  struct Tlb {                        // [tlb]: address translation, in every SM
    uint32_t entries = 0;             ///< fully associative; 0: translation takes no time
    uint32_t page_bytes = 0;          ///< bytes that an entry covers
    uint32_t walkers = 0;             ///< page walks in flight
    uint32_t walk_accesses = 0;       ///< page-table reads per walk, one after the other
    std::string replacement = "lru";  ///< as of the L1
  } tlb;

  struct L2 {  // [l2]: line size as in the L1
    uint32_t bytes = 0;
    uint32_t ways = 0;
    uint32_t slices = 0;
    std::string set_function = "folded";  ///< as of the L1
    std::string replacement = "lru";      ///< as of the L1
    uint32_t latency_cycles = 0;          ///< L2 cycles inside a slice, without its channels
    uint32_t mshr_entries = 0;
    uint32_t mshr_merges = 0;
    uint32_t queue_entries = 0;
    uint32_t atomic_cycles = 0;  ///< per lane of an atomic with the same address as another lane
    bool sectors = false;        ///< reads fetch only missing sectors, not lines
    /// "through": without allocation on writes; "back": with it
    std::string write_policy = "through";
    /// "allocate", "through", "fetch" or "fetch-on-write"; of whole lines
    std::string write_miss = "allocate";
    std::string atomics = "slice";  ///< stacks' atomics are executed in the "slice" or in "memory"
    /// Lines that stacks' slices give up at a launch: none ("keep"), "remote" ones or "all".
    std::string at_launch = "keep";
    uint32_t sectors_per_cycle = 0;  ///< looked up by a slice; 0: one request of any size
    bool begins_with_data =
        false;  ///< it begins with the programs' allocations, as far as they fit
    /// Latency in each direction between two halves of slices and SMs' ports; 0: there are no
    /// halves.
    uint32_t link_latency_cycles = 0;
    uint32_t link_bytes = 0;   ///< per cycle and direction; 0: those of a crossbar's port
    bool link_copies = false;  ///< each half keeps copies of the other's lines
  } l2;

  struct Interconnect {       // [interconnect]: separate request and reply crossbars
    uint32_t flit_bytes = 0;  ///< a port moves one flit per interconnect cycle
    uint32_t channel_latency_cycles =
        0;                       ///< each hop: SM-crossbar, crossbar-slice, slice-link port
    uint32_t queue_entries = 0;  ///< packets per channel
    std::string topology;        ///< "switch", "crossbar", "mesh" or "butterfly"
    // Keys of all topologies but "switch", in interconnect cycles and flits.
    uint32_t vcs = 0;  ///< per port
    uint32_t vc_flits = 0;
    bool split_packets = false;  ///< flits are packets of their own
    uint32_t routing_delay_cycles = 0;
    uint32_t internal_speedup = 0;       ///< routings, allocations and traversals per cycle
    uint32_t input_speedup = 1;          ///< inputs of the switch per input port
    bool wait_for_tail_credit = false;   ///< before a virtual channel is allocated again
    bool flit_by_flit = false;           ///< crossbars, too: see noc::step_crossbar()
    uint32_t router_latency_cycles = 0;  ///< wires between routers
    uint32_t butterfly_radix = 0;
  } interconnect;

  struct Links {                         // [links]
    uint32_t gpu_to_memory_mbps = 0;     ///< per stack, 10^6 bytes per second
    uint32_t memory_to_memory_mbps = 0;  ///< per link, port or pool, see `topology`
    std::string topology = "pairs";      ///< shape stacks: "pairs", "ports" or "pool"
    std::string directions =
        "each";  ///< bandwidths are those of "each" direction or of both "together"
    uint32_t latency_cycles = 0;  ///< interconnect cycles after the last byte
    uint32_t queue_entries = 0;
    /// Bandwidth of one direction of a link with the bandwidth `mbps` in the file.
    uint32_t one_way(uint32_t mbps) const { return directions == "together" ? mbps / 2 : mbps; }
  } links;

  struct Stack {  // [stack]
    uint32_t count = 0;
    uint32_t sms = 0;       ///< SMs in each stack's logic layer
    uint32_t sm_warps = 0;  ///< warps of a stack SM
    uint32_t vaults = 0;
    uint32_t tsv_mbps = 0;           ///< per vault, 10^6 bytes per second
    uint32_t sm_latency_cycles = 0;  ///< between its SM and its switch; 0: switch_latency_cycles
    uint32_t switch_latency_cycles = 0;  ///< interconnect cycles, switch to vault or SM and back
    uint32_t switch_flit_bytes = 0;      ///< a switch port moves one flit per interconnect cycle
    uint32_t queue_entries = 0;
    uint32_t interleave_bytes = 0;  ///< consecutive bytes in a stack; 0: a line
  } stack;

  struct StackSm {  // [stack_sm]: where they differ from the main SMs; 0: they do not
    uint32_t clock_mhz = 0;
    uint32_t l1_bytes = 0;
    uint32_t l1_ways = 0;
    uint32_t schedulers = 0;
    uint32_t sp_units = 0, sfu_units = 0;
    uint32_t shared_memory_bytes = 0;
  } stack_sm;

  struct Partitions {  // [partitions]: the memory of a GPU without stacks
    uint32_t count = 0;
    uint32_t channels = 0;        ///< memory channels of a partition
    uint32_t channel_mbps = 0;    ///< per channel, 10^6 bytes per second
    uint32_t latency_cycles = 0;  ///< interconnect cycles, slice to channel in two hops, and back
    uint32_t flit_bytes = 0;      ///< a port of a partition moves one flit per interconnect cycle
    uint32_t queue_entries = 0;
    uint32_t interleave_bytes = 0;  ///< consecutive bytes in a partition and slice; 0: a line
    std::string hash = "folded";    ///< "folded", "none" or "ipoly"
    bool slices_own_banks = false;  ///< slices that share a channel have banks of their own
  } partitions;

  struct Mesh {  // [mesh]: places of the ports of [interconnect], in both directions
    uint32_t width = 0, height = 0;  ///< tiles
    std::string routing;             ///< "xy" or "yx": dimension order
    std::string memory_tiles;        ///< numbers of partitions' tiles, see config::memory_tiles()
  } mesh;

  struct NearBank {  // [near_bank]: cores with banks of their own above them
    uint32_t processors = 0, processors_per_row = 0;
    uint32_t cores_per_row = 0;  ///< cores in a row of a processor's mesh
    uint32_t units = 0;          ///< groups of banks of a core, each with a controller
    uint32_t unit_mbps = 0;      ///< bandwidth of a group's banks, 10^6 bytes per second
    uint32_t tsv_bytes = 0;      ///< per interconnect cycle and direction of a core's data TSVs
    uint32_t tsv_latency_cycles = 0;  ///< interconnect cycles, router to unit in two hops, and back
    uint32_t interleave_bytes = 0;    ///< consecutive bytes that lie with one core
    uint32_t unit_interleave_bytes = 0;  ///< consecutive bytes of a core in one unit; 0: a line
    uint32_t queue_entries = 0;
  } near_bank;

  struct Dram {  // [dram]: one vault or memory channel
    /// Standard (configs/dram/) with the timings, of which single ones may be overridden; or
    /// "none".
    std::string standard;
    uint32_t banks = 0;
    uint32_t bank_groups = 0;
    uint32_t row_buffers = 0;  ///< per bank
    /// Row buffer for a row: its number "modulo" `row_buffers`, or "any", replacing the least
    /// recently used one.
    std::string row_buffer_rule = "modulo";
    uint32_t row_bytes = 0;
    std::string scheduler;        ///< "fr-fcfs" or "fcfs"
    std::string page_policy;      ///< "open" or "closed"
    bool forward_writes = false;  ///< reads of whole lines are answered from waiting writes
    uint32_t queue_entries = 0;
    uint32_t read_entries = 0, write_entries = 0;  ///< most of each; both all: one queue
    uint32_t starvation_cycles = 0;                ///< a request older than this goes first
    uint32_t fixed_latency_cycles = 0;  ///< controller and return path, besides the timing
    // Command-clock cycles, JESD79-3 names.
    uint32_t tCL = 0, tCWL = 0, tRCD = 0, tRP = 0, tRAS = 0, tRC = 0, tRRD = 0, tFAW = 0, tCCD = 0,
             tWR = 0, tWTR = 0, tRTP = 0, tRTW = 0, tREFI = 0, tRFC = 0;
    uint32_t tRRD_L = 0, tCCD_L = 0, tWTR_L = 0;  ///< within a bank group
    // Timings that only some standards have; 0: not given.
    uint32_t tRCDWR = 0, tCCD_L_WR = 0, tCCD_R = 0, tCCDSB = 0, tWTRSB = 0, tPPD = 0, tRFCpb = 0,
             tRREFD = 0;
    std::vector<std::string> constraints;  ///< by default customary_constraints()
    uint32_t write_high_watermark = 0, write_low_watermark = 0;
    /// Clock of the timings in cycles. If a file does not have it, it is the file's
    /// clocks.dram_mhz, or the standard's clock. After loading, timings are in cycles of
    /// clocks.dram_mhz, and this equals it.
    uint32_t timing_mhz = 0;
    std::string other_clock = "refuse";  ///< "refuse", "keep-ns" or "keep-cycles"
    uint32_t burst_bytes = 1;            ///< the data bus carries whole bursts
    bool sector_bursts = false;          ///< each sector of a read is a burst of its own
  } dram;

  struct Packets {                    // [packets]
    uint32_t header_bytes = 0;        ///< request or acknowledgement without data
    uint32_t sector_bytes = 0;        ///< granularity of write data
    uint32_t register_bytes = 0;      ///< one 32-bit register of one thread
    uint32_t line_address_bytes = 0;  ///< address of a written line in a packet
  } packets;

  struct Run {                        // [run]
    uint64_t max_cycles = 0;          ///< core cycles; a longer run stops as partial
    uint64_t no_progress_cycles = 0;  ///< core cycles without a committed instruction in a hang
  } run;

  /// Settings of mechanisms; their structures are in the mechanisms' folders.
  Tables tables;
  template <class T>
  const T& table() const {
    return tables.of<T>();
  }
  template <class T>
  T& table() {
    return tables.of<T>();
  }

  /// DRAM timings that were given as times, by key, in picoseconds; empty after settle_timings().
  std::map<std::string, uint64_t, std::less<>> timing_ps;
  std::string energy_model;  ///< [energy] model: name or path of the energy file
  EnergyConfig energy;       ///< the contents of that file, with overrides
};

}  // namespace nearwarp::config
