// TOM's keys: the tables [mapping] and [offload] of a policy, [offload] and [pcie] of a machine.
#include <array>

#include "host/config/mechanism.h"
#include "host/mechanisms/tom/settings.h"

namespace nearwarp::tom {
namespace {

using config::Member;
using P = config::PolicyConfig;

constexpr bool kOptional = true;
constexpr bool kAlone = true;  ///< the key is TOM's alone: tuned offloading decides by its own keys

#define NW_LEARNING(member) \
  "mapping." #member, [](P& p) -> Member { return &p.table<LearningSettings>().member; }
#define NW_OFFLOAD(member) \
  "offload." #member, [](P& p) -> Member { return &p.table<OffloadSettings>().member; }

constexpr std::array<config::Key<P>, 15> kKeys = {{
    {NW_LEARNING(learning_permille), "1/1000", 1, 1000, false, "",
     "tmap: share of all candidate instances after which the mapping is chosen.", kOptional},
    {NW_LEARNING(counts_at), "", 0, 0, false, "begin end",
     "tmap: when an instance has been seen. end: when it ends; begin: with its first access, and "
     "what open instances have accessed when the phase ends counts.",
     kOptional},
    {NW_OFFLOAD(dynamic_control), "", 0, 0, false, "",
     "Refuse to offload to full stack SMs and over busy channels."},
    {NW_OFFLOAD(busy_refuses), "", 0, 0, false, "",
     "With dynamic control: busy channels refuse; false: full stack SMs alone.", kOptional},
    {NW_OFFLOAD(room_known), "", 0, 0, false, "",
     "Main SMs are told which stack SMs are full, and ask only where there is room; false: each "
     "trial asks.",
     kOptional},
    {NW_OFFLOAD(decide), "", 0, 0, false, "round entry",
     "When mechanism tom decides on a candidate that is a loop, which is also what an instance "
     "of it "
     "is. round: each time that a warp comes to its first instruction, so in every round, and "
     "what "
     "is offloaded is the rest of the loop; entry: once, when it comes there from outside.",
     kOptional, "", false, kAlone},
    {NW_OFFLOAD(overhead), "", 0, 0, false, "",
     "Charge offloading; false: requests and acknowledgements take a cycle and no bandwidth, and "
     "nothing is drained, flushed or invalidated (an idealisation)."},
    {NW_OFFLOAD(even), "", 0, 0, false, "",
     "Without overhead: a stack SM takes a warp only while it has fewer than the SM that it "
     "comes "
     "from.",
     kOptional},
    {NW_OFFLOAD(flush_l1), "", 0, 0, false, "",
     "Empty a stack SM's L1 before each warp that is spawned there; false: never (an "
     "idealisation: the block may see stale data).",
     kOptional},
    {NW_OFFLOAD(busy_threshold_percent), "%", 1, 100, false, "",
     "Utilisation from which on a channel counts as busy.", kOptional},
    {NW_OFFLOAD(load_miss_percent), "%", 0, 100, false, "",
     "Miss rate of loads that the selection of candidates assumes."},
    {NW_OFFLOAD(load_coalescing_percent), "%", 1, 3200, false, "",
     "Lines per warp load that the selection assumes; 100: one."},
    {NW_OFFLOAD(store_coalescing_percent), "%", 1, 3200, false, "",
     "Lines per warp store that the selection assumes; 100: one."},
    {NW_OFFLOAD(granularity), "", 0, 0, false, "region loop innermost block",
     "Pieces of code that may be candidates, beside runs of instructions in a basic block. "
     "region: every single-entry single-exit region of one structure; loop: loops, nested ones "
     "included, with their guards, but no piece that is the whole kernel; innermost: of these, "
     "loops without loops inside; block: no others.",
     kOptional},
    {NW_OFFLOAD(inner_blocks), "", 0, 0, false, "",
     "Mechanism tom: a block that saves by itself is a candidate inside of a conditional loop, "
     "too, and is offered to warps of which the loop's condition does not hold.",
     kOptional, "", false, kAlone},
}};

using M = config::MachineConfig;

#define NW_PART(member) \
  "offload." #member, [](M& m) -> Member { return &m.table<OffloadParts>().member; }
#define NW_PCIE(member) "pcie." #member, [](M& m) -> Member { return &m.table<Pcie>().member; }

constexpr bool kRequired = false;
constexpr const char* kStacked = "stacked";

constexpr std::array<config::Key<M>, 10> kMachineKeys = {{
    {NW_PART(pipeline_latency_cycles), "core cycles", 1, 100000, false, "",
     "From the detection of a candidate to the decision.", kRequired, kStacked},
    {NW_PART(metadata_entries), "candidates", 1, 4096, false, "",
     "Candidates that the offloading metadata table holds.", kRequired, kStacked},
    {NW_PART(monitor_interval_cycles), "interconnect cycles", 16, 1000000, false, "",
     "Interval over which the channel busy monitor measures.", kRequired, kStacked},
    {NW_PART(dirty_entries), "lines", 1, 1024, false, "",
     "Written lines that a stack SM remembers per warp before it reports them early.", kRequired,
     kStacked},
    {NW_PART(allocation_entries), "ranges", 1, 4096, false, "",
     "Allocations that the memory allocation table holds; later ones keep the baseline mapping.",
     kRequired, kStacked},
    {NW_PCIE(round_trip_ns), "ns", 1, 1000000, false, "",
     "Read of the CPU's memory without queueing, during the learning phase.", kRequired, kStacked},
    {NW_PCIE(limited), "", 0, 0, false, "",
     "Whether pcie.mbps and pcie.queue_entries hold the learning phase up; if not, its accesses "
     "have "
     "the latency of PCI-E alone.",
     kOptional, kStacked},
    {NW_PCIE(mbps), "MB/s", 1, 10000000, false, "", "Bandwidth of PCI-E per direction.", kRequired,
     kStacked},
    {NW_PCIE(queue_entries), "packets", 2, 4096, false, "",
     "Requests on PCI-E at a time, and replies.", kRequired, kStacked},
    {NW_PCIE(remap_latency_ns), "ns", 0, 1000000000, false, "",
     "Interrupt, choice of the mapping and resumption when the learning phase ends.", kRequired,
     kStacked},
}};

void check_machine(const M& machine, const config::Rules& rules) {
  rules.at_most("offload.monitor_interval_cycles",
                machine.table<OffloadParts>().monitor_interval_cycles,
                "2^31 ticks of the base clock", config::longest_latency_cycles(machine));
}

constexpr config::MappingChoice kMappings[] = {
    {"tmap",
     "two consecutive address bits, learnt from the first candidate instances, for what candidates "
     "access",
     true},
    {"oracle", "the same with the bits that are best for all instances, known beforehand"},
    {"local", "bmap, but a stack SM finds everything in its own stack (an idealisation)"},
};

constexpr config::Need kNeeds[] = {
    {"memory stacks that can compute, behind the links of a GPU",
     [](const config::MachineConfig& m, const P&) {
       return config::lack_of_shape(m,
                                    [](const config::Shape& s) { return s.stacks_behind_links(); });
     }},
};

bool maps_pages(const P& policy) { return policy.mapping == "tmap" || policy.mapping == "oracle"; }
bool heeds_load(const P& policy) { return policy.table<OffloadSettings>().dynamic_control; }
bool learns(const P& policy) { return policy.mapping == "tmap"; }

constexpr config::Claim kClaims[] = {
    {config::claims::kBlocks, "offers to the SMs of stacks"},
    {config::claims::kPages, "maps by consecutive address bits", maps_pages},
    {config::claims::kEveryAccess, "counts to learn a mapping", learns},
    {config::claims::kStoreAcks, "waits for before a block goes to where its stores are"},
};

}  // namespace

const config::MechanismDeclaration& declaration() {
  static constexpr config::MechanismDeclaration kDeclaration = {
      .name = "tom",
      .doc = "offloading after the TOM paper",
      .mappings = kMappings,
      .keys = kKeys,
      .machine_keys = kMachineKeys,
      .needs = kNeeds,
      .claims = kClaims,
      .decides_by_load = heeds_load,
      .check_machine = check_machine,
  };
  return kDeclaration;
}

}  // namespace nearwarp::tom
