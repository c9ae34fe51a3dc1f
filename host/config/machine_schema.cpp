// The keys of a machine file.
//
// Upper limits are where a model's structures end (64-bit masks, ports of a switch) or, elsewhere,
// what keeps memory and time in proportion whatever a file says.
#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using M = MachineConfig;
using K = Key<MachineConfig>;

/// The member that a path of member pointers leads to.
template <auto... Path>
Member at(M& machine) {
  return Member(&(machine.*....*Path));
}

constexpr uint64_t kMaxLatency = 10'000;
constexpr uint64_t kMaxQueue = 1024;

template <auto Section, auto Field>
constexpr K number(std::string_view path, std::string_view unit, uint64_t min, uint64_t max,
                   std::string_view doc) {
  return {path, at<Section, Field>, unit, min, max, false, "", doc};
}
template <auto Section, auto Field>
constexpr K power(std::string_view path, std::string_view unit, uint64_t min, uint64_t max,
                  std::string_view doc) {
  return {path, at<Section, Field>, unit, min, max, true, "", doc};
}
/// The two keys of an instruction class.
template <auto Class>
constexpr K latency(std::string_view path, std::string_view doc) {
  return {
      path, at<&M::classes, Class, &ClassTiming::latency_cycles>, "core cycles", 1, 4096, false, "",
      doc};
}
template <auto Class>
constexpr K interval(std::string_view path, std::string_view doc) {
  return {path,
          at<&M::classes, Class, &ClassTiming::interval_cycles>,
          "core cycles",
          1,
          4096,
          false,
          "",
          doc};
}

// Two rows of the table for one instruction class.
#define NW_CLASS(name, doc)                                                                   \
  latency<&M::Classes::name>("sm.classes." #name ".latency_cycles", "Issue to result: " doc), \
      interval<&M::Classes::name>("sm.classes." #name ".interval_cycles",                     \
                                  "Between two warp instructions of a unit: " doc)

constexpr K kKeys[] = {
    {"machine.description", at<&M::description>, "", 0, 0, false, "",
     "What the machine is, in one line."},

    number<&M::clocks, &M::Clocks::core_mhz>("clocks.core_mhz", "MHz", 1, 20'000,
                                             "Clock of all SMs."),
    number<&M::clocks, &M::Clocks::interconnect_mhz>(
        "clocks.interconnect_mhz", "MHz", 1, 20'000,
        "Clock of the crossbars, link ports and the stacks' switches."),
    number<&M::clocks, &M::Clocks::l2_mhz>("clocks.l2_mhz", "MHz", 1, 20'000,
                                           "Clock of the L2 slices."),
    number<&M::clocks, &M::Clocks::dram_mhz>("clocks.dram_mhz", "MHz", 1, 20'000,
                                             "Command clock of the DRAM."),

    number<&M::gpu, &M::Gpu::sms>("gpu.sms", "SMs", 1, 128,
                                  "Main SMs under policies that do not use the stacks' SMs."),
    number<&M::gpu, &M::Gpu::sms_with_ndp>("gpu.sms_with_ndp", "SMs", 1, 128,
                                           "Main SMs under policies that use the stacks' SMs."),
    number<&M::gpu, &M::Gpu::sms_per_cluster>(
        "gpu.sms_per_cluster", "SMs", 1, 32,
        "SMs that share a crossbar port; divides both SM counts."),
    number<&M::gpu, &M::Gpu::kernel_launch_latency_cycles>(
        "gpu.kernel_launch_latency_cycles", "core cycles", 0, 1'000'000,
        "From one kernel's end to the next one's first thread block."),
    number<&M::gpu, &M::Gpu::control_latency_cycles>(
        "gpu.control_latency_cycles", "interconnect cycles", 1, kMaxLatency,
        "Front end to SM and back: block dispatch, block completion, offload slots."),

    number<&M::sm, &M::Sm::warps>("sm.warps", "warps", 1, 64, "Warp slots of a main SM."),
    number<&M::sm, &M::Sm::blocks>("sm.blocks", "thread blocks", 1, 64,
                                   "Thread blocks that an SM holds at most."),
    number<&M::sm, &M::Sm::threads>("sm.threads", "threads", 32, 2048,
                                    "Threads that an SM holds at most."),
    number<&M::sm, &M::Sm::registers>("sm.registers", "32-bit registers", 1024, 1 << 20,
                                      "Register file, shared out by thread block."),
    number<&M::sm, &M::Sm::shared_memory_bytes>("sm.shared_memory_bytes", "bytes", 0, 1 << 20,
                                                "Shared memory, shared out by thread block."),
    number<&M::sm, &M::Sm::register_unit>(
        "sm.register_unit", "32-bit registers", 1, 4096,
        "A warp's registers are rounded up to a multiple of this."),
    number<&M::sm, &M::Sm::schedulers>("sm.schedulers", "", 1, 4,
                                       "Warp schedulers; each issues one instruction per cycle."),
    {"sm.scheduler_policy", at<&M::sm, &M::Sm::scheduler_policy>, "", 0, 0, false, "gto lrr",
     "Order of warps: greedy then oldest, or loose round robin."},
    number<&M::sm, &M::Sm::sp_units>("sm.sp_units", "", 1, 4,
                                     "Issue ports for integer and fp32 instructions."),
    number<&M::sm, &M::Sm::sfu_units>("sm.sfu_units", "", 1, 4,
                                      "Issue ports for special functions and divisions."),
    number<&M::sm, &M::Sm::dp_units>("sm.dp_units", "", 0, 4,
                                     "Issue ports for fp64; 0: they share the SP ports."),
    {"sm.charge_moves", at<&M::sm, &M::Sm::charge_moves>, "", 0, 0, false, "",
     "Do `mov` and `cvta`, which the real assembler removes, take issue slots?"},
    number<&M::sm, &M::Sm::branch_latency_cycles>(
        "sm.branch_latency_cycles", "core cycles", 1, 256,
        "From a branch to the next instruction of the same warp."),

    NW_CLASS(int_add, "integer add, logic, shift, move, compare, select."),
    NW_CLASS(int_max, "integer minimum and maximum."),
    NW_CLASS(int_mul, "integer multiply."),
    NW_CLASS(int_mad, "integer multiply-add."),
    NW_CLASS(int_div, "integer division and remainder."),
    NW_CLASS(fp32_add, "fp32 add and conversions."),
    NW_CLASS(fp32_max, "fp32 minimum and maximum."),
    NW_CLASS(fp32_mul, "fp32 multiply."),
    NW_CLASS(fp32_mad, "fp32 fused multiply-add."),
    NW_CLASS(fp32_div, "fp32 division."),
    NW_CLASS(fp64_add, "fp64 add and conversions."),
    NW_CLASS(fp64_max, "fp64 minimum and maximum."),
    NW_CLASS(fp64_mul, "fp64 multiply."),
    NW_CLASS(fp64_mad, "fp64 fused multiply-add."),
    NW_CLASS(fp64_div, "fp64 division and square root."),
    NW_CLASS(sfu, "sine, cosine, exponential, logarithm, reciprocal, square roots."),
    NW_CLASS(shuffle, "shuffle and vote."),
    NW_CLASS(constant_load, "load of a kernel parameter or from constant memory; always a hit."),

    number<&M::lsu, &M::Lsu::queue_entries>(
        "lsu.queue_entries", "warp instructions", 2, 16,
        "Memory instructions between issue and the end of their coalescing."),
    number<&M::lsu, &M::Lsu::load_entries>("lsu.load_entries", "warp instructions", 1, 64,
                                           "Loads and atomics of an SM in flight."),
    number<&M::lsu, &M::Lsu::shared_latency_cycles>("lsu.shared_latency_cycles", "core cycles", 1,
                                                    1024,
                                                    "Shared memory access without bank conflicts."),
    power<&M::lsu, &M::Lsu::shared_banks>("lsu.shared_banks", "banks", 1, 32,
                                          "Banks of shared memory, 4 bytes wide."),

    number<&M::l1, &M::L1::bytes>("l1.bytes", "bytes", 1024, 1 << 20,
                                  "Capacity of each SM's L1; sets times ways times line."),
    number<&M::l1, &M::L1::ways>("l1.ways", "ways", 1, 64, "Associativity."),
    power<&M::l1, &M::L1::line_bytes>("l1.line_bytes", "bytes", 32, 256,
                                      "Cache line of both levels."),
    number<&M::l1, &M::L1::hit_latency_cycles>("l1.hit_latency_cycles", "core cycles", 1, 1024,
                                               "Load hit, issue to result."),
    number<&M::l1, &M::L1::mshr_entries>("l1.mshr_entries", "lines", 1, 64,
                                         "Lines on their way to an L1."),
    number<&M::l1, &M::L1::mshr_merges>("l1.mshr_merges", "requests", 1, 64,
                                        "Requests that can wait for one line."),

    number<&M::l2, &M::L2::bytes>("l2.bytes", "bytes", 4096, 64 << 20,
                                  "Capacity of all slices; sets times ways times line each."),
    number<&M::l2, &M::L2::ways>("l2.ways", "ways", 1, 64, "Associativity."),
    power<&M::l2, &M::L2::slices>("l2.slices", "slices", 1, 32,
                                  "Slices; a power-of-two multiple of stack.count."),
    number<&M::l2, &M::L2::latency_cycles>(
        "l2.latency_cycles", "L2 cycles", 1, kMaxLatency,
        "Look-up to departure inside a slice, for hits and misses, channels apart."),
    number<&M::l2, &M::L2::mshr_entries>("l2.mshr_entries", "lines", 1, 64,
                                         "Lines on their way to a slice."),
    number<&M::l2, &M::L2::mshr_merges>("l2.mshr_merges", "requests", 1, 64,
                                        "Requests that can wait for one line."),
    number<&M::l2, &M::L2::queue_entries>("l2.queue_entries", "packets", 2, kMaxQueue,
                                          "Slots of each channel between slice and link port."),

    power<&M::interconnect, &M::Interconnect::flit_bytes>(
        "interconnect.flit_bytes", "bytes", 1, 256,
        "A crossbar port moves one flit per interconnect cycle."),
    number<&M::interconnect, &M::Interconnect::channel_latency_cycles>(
        "interconnect.channel_latency_cycles", "interconnect cycles", 1, kMaxLatency,
        "Each hop: SM to crossbar, crossbar to slice, slice to link port, and back."),
    number<&M::interconnect, &M::Interconnect::queue_entries>(
        "interconnect.queue_entries", "packets", 2, kMaxQueue,
        "Slots of each channel to and from a crossbar."),

    number<&M::links, &M::Links::gpu_to_memory_mbps>(
        "links.gpu_to_memory_mbps", "MB/s", 1, 10'000'000,
        "Bandwidth of a stack's TX link, and of its RX link (10^6 bytes per second)."),
    number<&M::links, &M::Links::memory_to_memory_mbps>(
        "links.memory_to_memory_mbps", "MB/s", 1, 10'000'000,
        "Bandwidth between each pair of stacks, per direction (10^6 bytes per second)."),
    number<&M::links, &M::Links::latency_cycles>(
        "links.latency_cycles", "interconnect cycles", 1, kMaxLatency,
        "From a packet's last byte on a link to its arrival."),
    number<&M::links, &M::Links::queue_entries>("links.queue_entries", "packets", 2, kMaxQueue,
                                                "Slots of each off-chip link."),

    power<&M::stack, &M::Stack::count>("stack.count", "stacks", 1, 16, "Memory stacks."),
    number<&M::stack, &M::Stack::sms>("stack.sms", "SMs", 1, 8, "SMs in a stack's logic layer."),
    number<&M::stack, &M::Stack::sm_warps>("stack.sm_warps", "warps", 1, 64,
                                           "Warp slots of a stack SM."),
    power<&M::stack, &M::Stack::vaults>("stack.vaults", "vaults", 1, 32, "Vaults of a stack."),
    number<&M::stack, &M::Stack::tsv_mbps>(
        "stack.tsv_mbps", "MB/s", 1, 10'000'000,
        "Bandwidth of a vault's TSV data bus (10^6 bytes per second)."),
    number<&M::stack, &M::Stack::switch_latency_cycles>(
        "stack.switch_latency_cycles", "interconnect cycles", 1, kMaxLatency,
        "Each hop: switch to vault or stack SM, and back."),
    power<&M::stack, &M::Stack::switch_flit_bytes>(
        "stack.switch_flit_bytes", "bytes", 1, 256,
        "A port of the logic layer's switch moves one flit per interconnect cycle."),
    number<&M::stack, &M::Stack::queue_entries>("stack.queue_entries", "packets", 2, kMaxQueue,
                                                "Slots of each channel of the logic layer."),

    power<&M::dram, &M::Dram::banks>("dram.banks", "banks", 1, 32, "Banks of a vault."),
    power<&M::dram, &M::Dram::row_bytes>("dram.row_bytes", "bytes", 32, 65'536,
                                         "Row buffer of a bank."),
    number<&M::dram, &M::Dram::queue_entries>("dram.queue_entries", "requests", 2, 64,
                                              "Requests that FR-FCFS chooses from."),
    number<&M::dram, &M::Dram::starvation_cycles>(
        "dram.starvation_cycles", "command cycles", 1, 1'000'000,
        "A request that has waited longer goes before everything else."),
    number<&M::dram, &M::Dram::fixed_latency_cycles>(
        "dram.fixed_latency_cycles", "command cycles", 1, kMaxLatency,
        "Controller and return path, added to every reply."),
    number<&M::dram, &M::Dram::tCL>("dram.tCL", "command cycles", 1, 256,
                                    "Read command to first data."),
    number<&M::dram, &M::Dram::tCWL>("dram.tCWL", "command cycles", 1, 256,
                                     "Write command to first data."),
    number<&M::dram, &M::Dram::tRCD>("dram.tRCD", "command cycles", 1, 256,
                                     "Activation to column command."),
    number<&M::dram, &M::Dram::tRP>("dram.tRP", "command cycles", 1, 256,
                                    "Precharge to activation."),
    number<&M::dram, &M::Dram::tRAS>("dram.tRAS", "command cycles", 1, 512,
                                     "Activation to precharge."),
    number<&M::dram, &M::Dram::tRC>("dram.tRC", "command cycles", 1, 512,
                                    "Activation to activation of a bank."),
    number<&M::dram, &M::Dram::tRRD>("dram.tRRD", "command cycles", 1, 256,
                                     "Activation to activation of different banks."),
    number<&M::dram, &M::Dram::tFAW>("dram.tFAW", "command cycles", 1, 512,
                                     "Window that holds four activations at most."),
    number<&M::dram, &M::Dram::tCCD>("dram.tCCD", "command cycles", 1, 256,
                                     "Column command to column command."),
    number<&M::dram, &M::Dram::tWR>("dram.tWR", "command cycles", 1, 256,
                                    "End of write data to precharge."),
    number<&M::dram, &M::Dram::tWTR>("dram.tWTR", "command cycles", 1, 256,
                                     "End of write data to read command."),
    number<&M::dram, &M::Dram::tRTP>("dram.tRTP", "command cycles", 1, 256,
                                     "Read command to precharge."),
    number<&M::dram, &M::Dram::tRTW>("dram.tRTW", "command cycles", 1, 256,
                                     "Read command to write command."),
    number<&M::dram, &M::Dram::tREFI>("dram.tREFI", "command cycles", 0, 10000000,
                                      "Between refreshes; 0: no refresh."),
    number<&M::dram, &M::Dram::tRFC>("dram.tRFC", "command cycles", 1, 100000,
                                     "Duration of a refresh."),
    number<&M::dram, &M::Dram::write_high_watermark>(
        "dram.write_high_watermark", "requests", 1, 64,
        "Waiting writes from which a vault turns to writing."),
    number<&M::dram, &M::Dram::write_low_watermark>(
        "dram.write_low_watermark", "requests", 0, 63,
        "Waiting writes at which it turns back to reading."),

    number<&M::packets, &M::Packets::header_bytes>(
        "packets.header_bytes", "bytes", 1, 64,
        "Header of every packet; all of a read request or an acknowledgement."),
    power<&M::packets, &M::Packets::sector_bytes>("packets.sector_bytes", "bytes", 32, 32,
                                                  "Granularity of write data."),
    number<&M::packets, &M::Packets::register_bytes>(
        "packets.register_bytes", "bytes", 1, 8,
        "One 32-bit register of one thread in an offload request or acknowledgement."),
    number<&M::packets, &M::Packets::line_address_bytes>(
        "packets.line_address_bytes", "bytes", 1, 16,
        "One written line in an offload acknowledgement."),

    number<&M::offload, &M::Offload::pipeline_latency_cycles>(
        "offload.pipeline_latency_cycles", "core cycles", 1, kMaxLatency,
        "To decide on an offload and to pack its request."),
    number<&M::offload, &M::Offload::metadata_entries>(
        "offload.metadata_entries", "candidates", 1, 256,
        "Entries of the offloading metadata table: candidates per kernel."),
    number<&M::offload, &M::Offload::monitor_interval_cycles>(
        "offload.monitor_interval_cycles", "interconnect cycles", 1, 1'000'000,
        "Interval over which the channel busy monitor measures utilisation."),
    number<&M::offload, &M::Offload::dirty_entries>(
        "offload.dirty_entries", "lines", 1, 64,
        "Written lines that a stack SM remembers per warp before it must send them."),

    number<&M::run, &M::Run::max_cycles>("run.max_cycles", "core cycles", 1,
                                         (uint64_t{1} << 32) - (1 << 20),
                                         "A longer run stops and is reported as partial."),
    number<&M::run, &M::Run::no_progress_cycles>(
        "run.no_progress_cycles", "core cycles",
        1000, 1'000'000'000,
        "Without a committed instruction for so long, a run is declared hung."),
};

#undef NW_CLASS

}  // namespace

template <>
std::span<const Key<MachineConfig>> keys() {
  return kKeys;
}

}  // namespace nearwarp::config
