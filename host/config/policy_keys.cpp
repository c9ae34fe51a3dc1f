// The keys of a policy file.
#include <array>

#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using P = PolicyConfig;

constexpr bool kOptional = true;

#define NW_KEY(member_path) #member_path, [](P & p) -> Member { return &p.member_path; }

}  // namespace

std::span<const Key<PolicyConfig>> policy_keys() {
  static const std::array<Key<P>, 62> all = {{
      {"policy.description", [](P& p) -> Member { return &p.description; }, "", 0, 0, false, "",
       "One line on what the policy does."},
      {"policy.mechanism", [](P& p) -> Member { return &p.mechanism; }, "", 0, 0, false,
       "none tom tuning coda opportunistic mpu mpu+coda",
       "none: everything runs on the main GPU; tom: offloading after the TOM paper; tuning: "
       "offloading of loops after Y. Wu et al. (ICS 2020); coda: pages are spread over stacks or "
       "stay "
       "in one, after the CODA paper; opportunistic: chains of loads, arithmetic and stores are "
       "computed at L2 slices, after A. Pattnaik et al. (ISCA 2019); mpu: instructions are "
       "executed "
       "beside the banks of a core, after the MPU paper; mpu+coda: these, with pages of coda in "
       "the "
       "banks of cores."},
      {"policy.mapping", [](P& p) -> Member { return &p.mapping; }, "", 0, 0, false,
       "bmap tmap oracle local cgp coda fta",
       "How memory is spread over stacks. bmap: the baseline's fine interleaving; tmap: two "
       "consecutive address bits, learnt from the first candidate instances, for what candidates "
       "access; oracle: the same with the bits that are best for all instances, known beforehand; "
       "local: bmap, but a stack SM finds everything in its own stack (an idealisation). Of coda: "
       "cgp: consecutive pages in consecutive stacks; coda: each object's pages spread, or where "
       "the "
       "thread blocks run that use them; fta: each page in the stack whose SM touches it first."},
      {"mapping.learning_permille", [](P& p) -> Member { return &p.learning.learning_permille; },
       "1/1000", 1, 1000, false, "",
       "tmap: share of all candidate instances after which the mapping is chosen."},
      {"mapping.counts_at", [](P& p) -> Member { return &p.learning.counts_at; }, "", 0, 0, false,
       "begin end",
       "tmap: when an instance has been seen. end: when it ends; begin: with its first access, and "
       "what open instances have accessed when the phase ends counts.",
       kOptional},
      {NW_KEY(pages.chunk), "", 0, 0, false, "blocks rounded page",
       "coda: consecutive bytes of an object in one stack (Eq. 2). blocks: those of the thread "
       "blocks "
       "that run in a stack at a time, and pages at the ends are shared; rounded: as many, rounded "
       "up "
       "to whole pages; page: a page.",
       kOptional},
      {NW_KEY(pages.strides), "", 0, 0, false, "both code traces",
       "coda: where the distance between thread blocks in an object comes from. both: the code "
       "where it is regular, else the traces; code: the code alone, and what it uses regularly "
       "stays in stacks; traces: the traces alone.",
       kOptional},
      {NW_KEY(pages.before_touch), "", 0, 0, false, "known cgp fgp",
       "fta: where a page lies before its first touch. known: where it belongs, as if its first "
       "touch had been known (an idealisation); cgp: consecutive pages in consecutive stacks; fgp: "
       "spread over all. From there, the SM that touches it first moves it.",
       kOptional},
      {NW_KEY(pages.units), "", 0, 0, false, "machine objects",
       "coda, with near-bank units: how the lines of an object in a core are dealt to its units. "
       "machine: as near_bank.unit_interleave_bytes says; objects: for each object by the runs of "
       "lines, or page by page, with which most of its accesses are behind the unit of their warp.",
       kOptional},
      {NW_KEY(pages.local_percent), "%", 0, 100, false, "",
       "coda: an object's pages stay in stacks if at least so many of its accesses are then local.",
       kOptional},
      {NW_KEY(offload.dynamic_control), "", 0, 0, false, "",
       "Refuse to offload to full stack SMs and over busy channels."},
      {NW_KEY(offload.busy_refuses), "", 0, 0, false, "",
       "With dynamic control: busy channels refuse; false: full stack SMs alone.", kOptional},
      {NW_KEY(offload.room_known), "", 0, 0, false, "",
       "Main SMs are told which stack SMs are full, and ask only where there is room; false: each "
       "trial asks.",
       kOptional},
      {NW_KEY(offload.decide), "", 0, 0, false, "round entry",
       "When mechanism tom decides on a candidate that is a loop, which is also what an instance "
       "of it "
       "is. round: each time that a warp comes to its first instruction, so in every round, and "
       "what "
       "is offloaded is the rest of the loop; entry: once, when it comes there from outside.",
       kOptional},
      {NW_KEY(offload.overhead), "", 0, 0, false, "",
       "Charge offloading; false: requests and acknowledgements take a cycle and no bandwidth, and "
       "nothing is drained, flushed or invalidated (an idealisation)."},
      {NW_KEY(offload.even), "", 0, 0, false, "",
       "Without overhead: a stack SM takes a warp only while it has fewer than the SM that it "
       "comes "
       "from.",
       kOptional},
      {NW_KEY(offload.flush_l1), "", 0, 0, false, "",
       "Empty a stack SM's L1 before each warp that is spawned there; false: never (an "
       "idealisation: the block may see stale data).",
       kOptional},
      {NW_KEY(offload.busy_threshold_percent), "%", 1, 100, false, "",
       "Utilisation from which on a channel counts as busy."},
      {NW_KEY(offload.load_miss_percent), "%", 0, 100, false, "",
       "Miss rate of loads that the selection of candidates assumes."},
      {NW_KEY(offload.load_coalescing_percent), "%", 1, 3200, false, "",
       "Lines per warp load that the selection assumes; 100: one."},
      {NW_KEY(offload.store_coalescing_percent), "%", 1, 3200, false, "",
       "Lines per warp store that the selection assumes; 100: one."},
      {NW_KEY(offload.granularity), "", 0, 0, false, "region loop innermost block",
       "Pieces of code that may be candidates, beside runs of instructions in a basic block. "
       "region: every single-entry single-exit region of one structure; loop: loops, nested ones "
       "included, with their guards, but no piece that is the whole kernel; innermost: of these, "
       "loops without loops inside; block: no others.",
       kOptional},
      {NW_KEY(offload.inner_blocks), "", 0, 0, false, "",
       "Mechanism tom: a block that saves by itself is a candidate inside of a conditional loop, "
       "too, and is offered to warps of which the loop's condition does not hold.",
       kOptional},
      {NW_KEY(tuning.pimbegin), "", 0, 0, false, "before inside",
       "Where a loop is offered. before: once, before it is entered, as TOM does; inside: at its "
       "first instruction, in every round.",
       kOptional},
      {NW_KEY(tuning.rounds), "", 0, 0, false, "outermost innermost",
       "Which of a candidate's loops have rounds: those that no other one of it encloses, or those "
       "without loops inside.",
       kOptional},
      {NW_KEY(tuning.after_refusal), "", 0, 0, false, "round entry loop",
       "A warp that a full stack SM or a busy channel has refused is offered again in the next "
       "round, when it comes to the loop again, or never for this loop.",
       kOptional},
      {NW_KEY(tuning.pimbegin_cycles), "core cycles", 1, 1000, false, "",
       "What a PIMBEGIN at a loop's first instruction takes a warp, on SMs of either kind.",
       kOptional},
      {NW_KEY(tuning.adaptation), "", 0, 0, false, "",
       "Stack SMs send a warp back to the main GPU, from the beginning of a round, whose requests "
       "go too often to other stacks.",
       kOptional},
      {NW_KEY(tuning.history_rounds), "rounds", 1, 16, false, "",
       "Rounds that a warp's entry in the traffic history buffer holds.", kOptional},
      {NW_KEY(tuning.full_history), "", 0, 0, false, "",
       "Look at the ratio only when the history is full; false: from the first round on.",
       kOptional},
      {NW_KEY(tuning.threshold_percent), "%", 0, 1000000, false, "",
       "Ratio of inter-stack to intra-stack requests in the history above which a warp is sent "
       "back.",
       kOptional},
      {NW_KEY(tuning.after_return), "", 0, 0, false, "entry loop never",
       "A warp that was sent back is offered again when it comes to the loop again, never for this "
       "loop, or never for any.",
       kOptional},
      {NW_KEY(tuning.shared), "", 0, 0, false, "none annotated proved",
       "Code that accesses a shared array may be offloaded, and the array goes along. none: no; "
       "annotated: arrays that tuning.shared_arrays names; proved: those, and arrays that the code "
       "only reads, or to which it only adds.",
       kOptional},
      {NW_KEY(tuning.shared_arrays), "", 0, 0, false, "",
       "Shared arrays and what a warp does with them: NAME:accumulator:BYTES or NAME:table:BYTES, "
       "several joined by +.",
       kOptional},
      {NW_KEY(chains.offload_entries), "chains", 1, 256, false, "",
       "That an SM may have offloaded at a time: entries of its offload queue.", kOptional},
      {NW_KEY(chains.service_entries), "chains", 1, 256, false, "",
       "That a service queue takes in; others come back as operands.", kOptional},
      {NW_KEY(chains.buffer_entries), "chains", 1, 64, false, "",
       "Whose data a service queue reads, or has read, at a time.", kOptional},
      {NW_KEY(chains.at_sms), "", 0, 0, false, "",
       "Chains whose data lies in several L2 slices are executed by SMs on the ways to both "
       "(Omni-Compute); machines of the shape mesh.",
       kOptional},
      {NW_KEY(chains.sm_alu), "", 0, 0, false, "idle own",
       "What an SM executes others' chains with. idle: its own ALUs while they are idle; own: an "
       "ALU of the service queue's.",
       kOptional},
      {NW_KEY(chains.alu_lanes), "lanes", 1, 32, false, "",
       "Of the ALUs that service queues have for themselves.", kOptional},
      {NW_KEY(chains.max_parts), "packets", 1, 4, false, "",
       "Sets of lanes that access the same lines, each a ComputePacket: a chain of more stays at "
       "home.",
       kOptional},
      {NW_KEY(chains.ack), "", 0, 0, false, "stored forwarded",
       "When a chain whose result is stored is acknowledged. stored: when memory has the result; "
       "forwarded: when its store has left the service queue.",
       kOptional},
      {NW_KEY(chains.meet), "", 0, 0, false, "either route",
       "Ways on which the data of two slices can meet. either: along rows first, and along columns "
       "first; route: those that packets take (mesh.routing).",
       kOptional},
      {NW_KEY(chains.when_full), "", 0, 0, false, "ask refuse",
       "What an SM does with a ComputePacket that finds its service queue full. ask: it sends for "
       "the "
       "operands in the sender's name, for one packet at a time, and sends others back; refuse: it "
       "sends all of them back. The sender of what comes back sends for the operands itself.",
       kOptional},
      {NW_KEY(mpu.locations), "", 0, 0, false, "annotated hardware near far",
       "Where instructions are executed that both parts of a core can execute. annotated: as the "
       "compiler says, and where it says both as with hardware; hardware: near the banks if all of "
       "their registers are there; near, far: all of them.",
       kOptional},
      {NW_KEY(mpu.shared_memory), "", 0, 0, false, "near far",
       "Where a core's shared memory is: beside the banks or on the logic die.", kOptional},
      {NW_KEY(mpu.offload_accesses), "", 0, 0, false, "",
       "Coalesced loads and stores of a warp's own near-bank unit leave their data above the TSVs; "
       "false: all data goes through the load-store unit.",
       kOptional},
      {NW_KEY(mpu.scalar_moves), "", 0, 0, false, "",
       "Registers that by the code have the same value in all lanes (parameters, constants, and "
       "what is "
       "computed from them) move as one value instead of 32.",
       kOptional},
      {NW_KEY(mpu.near_operations), "", 0, 0, false, "simple all",
       "Arithmetic that near-bank units have. simple: not divisions, special functions and "
       "operations across lanes, which are of the far-bank operation set; all: these, too.",
       kOptional},
      {NW_KEY(mpu.both_spreads), "", 0, 0, false, "",
       "What an instruction computes for both places is wanted in both from its sources, too; "
       "false: such a location is not propagated.",
       kOptional},
      {NW_KEY(mpu.hash_units), "", 0, 0, false, "",
       "Lines are spread over near-bank units and their banks by a hash; false: consecutive lines "
       "of a core go to its units in turn, as warps have their registers there.",
       kOptional},
      {NW_KEY(mpu.near_registers), "registers", 1024, 1048576, false, "",
       "32-bit registers of all near-bank register files of a core.", kOptional},
      {NW_KEY(mpu.collectors), "instructions", 1, 8, false, "",
       "That can wait for their operands in a near-bank unit.", kOptional},
      {NW_KEY(mpu.near_instructions), "instructions", 1, 8, false, "",
       "Of a warp that may be near the banks at a time, the way there and back included.",
       kOptional},
      {NW_KEY(mpu.word_bytes), "B", 1, 64, false, "",
       "What an instruction, its commit, or the name of a register takes of the TSVs.", kOptional},
      {NW_KEY(mpu.access_bytes), "B", 1, 64, false, "",
       "What an offloaded access takes of the TSVs: address, register and unit.", kOptional},
      {NW_KEY(dispatch.groups), "groups", 1, 256, false, "",
       "Groups of SMs with queues of thread blocks of their own: the SMs of a stack, if they lie "
       "in "
       "stacks, else as many SMs in a row to each.",
       kOptional},
      {NW_KEY(dispatch.row_blocks), "thread blocks", 0, 1000000, false, "",
       "Thread blocks in a row that go to the same group; 0: as many as its SMs hold at a time.",
       kOptional},
      {NW_KEY(dispatch.even_rows), "", 0, 0, false, "",
       "Where dispatch.row_blocks is 0: every group has one row of a launch's thread blocks, the "
       "launch's blocks by the groups, instead of rows of what its SMs hold at a time.",
       kOptional},
      {NW_KEY(dispatch.steal), "", 0, 0, false, "",
       "A group whose queue is empty takes thread blocks from the longest one.", kOptional},
      {NW_KEY(dispatch.sms), "", 0, 0, false, "in-turn fill",
       "Which SM gets the next thread block. in-turn: one after the other, each at most one a "
       "cycle; fill: the first one with room, one a cycle.",
       kOptional},
      {NW_KEY(dispatch.first_sm), "", 0, 0, false, "next first",
       "With dispatch.sms = in-turn: whose turn it is when a launch begins. next: of the SM behind "
       "the one that got the last thread block; first: of the first SM.",
       kOptional},
  }};
  return all;
}

}  // namespace nearwarp::config
