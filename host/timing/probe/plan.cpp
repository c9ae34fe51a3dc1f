// Plans the probes of a machine: which latencies and bandwidths are measured, and by which
// programs.
#include "host/timing/probe/plan.h"

#include <algorithm>

#include "host/config/config.h"
#include "host/config/shape.h"
#include "host/mechanisms/mpu/settings.h"
#include "host/timing/probe/chases.h"
#include "host/timing/probe/streams.h"

namespace nearwarp::probe {
namespace {

using Machine = config::MachineConfig;
using config::PolicyConfig;

// Evidence that a load was answered by a part of the machine: counters that must count, and
// counters that must not.
Evidence l1_hits(const std::string& sm) {
  return {{sm + ".l1.read_hits"}, {sm + ".l1.read_misses", sm + ".l1.read_merges"}};
}
Evidence l1_misses(const std::string& sm) {
  return {{sm + ".l1.read_misses", sm + ".l1.read_merges"}, {sm + ".l1.read_hits"}};
}
Evidence l2_hits() { return {{"l2.read_hits", "l2.read_merges"}, {"l2.read_misses"}}; }
Evidence open_rows() { return {{"dram.row_hits"}, {"dram.row_misses", "dram.row_conflicts"}}; }
Evidence conflicts() { return {{"dram.row_conflicts"}, {"dram.row_hits", "dram.row_misses"}}; }
Evidence tlb_hits(const std::string& sm) { return {{sm + ".tlb.hits"}, {sm + ".tlb.misses"}}; }
Evidence tlb_misses(const std::string& sm) { return {{sm + ".tlb.misses"}, {sm + ".tlb.hits"}}; }

class Planner {
 public:
  explicit Planner(const Machine& machine)
      : m_(machine), chases_(machine), baseline_(config::load_policy("baseline")) {}

  std::vector<Section> plan() {
    if (config::shape_of(m_).stacks_behind_links()) {
      // A probe's whole loop is offloaded, from its first iteration.
      const std::vector<std::string> at_once = {"offload.decide=entry", "offload.granularity=loop"};
      offloading_ = config::load_policy("ndp-uncontrolled-bmap", at_once);
      begin("main_sm_latency", "latency from a main SM", true);
      on_chip(m_.l1.bytes);
      memory("stack 0", 0);
      begin("stack_sm_latency", "latency from a stack SM", true);
      from_stack_sm();
      begin("main_sm_bandwidth", "main SMs", false);
      main_bandwidths();
      begin("stack_sm_bandwidth", "stack SMs", false);
      stack_bandwidths();
    } else if (config::shape_of(m_).sms_in_stacks()) {
      begin("sm_latency", "latency from an SM", true);
      on_chip(m_.l1.bytes);
      memory("own stack", 0);
      if (m_.stack.count > 1) memory("another stack", 1);
      begin("bandwidth", "SMs", false);
      main_bandwidths();
      grouped_bandwidths();
    } else if (config::shape_of(m_).in_banks()) {
      begin("sm_latency", "latency from the first core", true);
      on_chip(m_.l1.bytes);
      memory("own banks", 0);
      const uint32_t each = m_.gpu.sms / m_.near_bank.processors;
      if (each > 1) memory("the core beside", 1);
      if (each > 2) memory("last core of the die", each - 1);
      if (m_.near_bank.processors > 1) memory("last core of all", m_.gpu.sms - 1);
      if (has_near_banks(m_)) {
        begin("near_bank_latency", "latency of near-bank units, policy mpu", true);
        near_latencies();
      }
      begin("bandwidth", "cores", false);
      main_bandwidths();
      grouped_bandwidths();
      if (has_near_banks(m_)) {
        begin("near_bank_bandwidth", "near-bank units, policy mpu", false);
        near_bandwidths();
      }
    } else {
      begin("sm_latency", "latency from the first SM", true);
      on_chip(m_.l1.bytes);
      memory("partition 0", 0);
      begin("bandwidth", "SMs", false);
      main_bandwidths();
    }
    return std::move(sections_);
  }

 private:
  void begin(std::string id, std::string title, bool latencies) {
    sections_.push_back({std::move(id), std::move(title), latencies, {}});
  }

  Program program(Chase chase) const {
    Program p{std::move(chase), m_.l1.line_bytes, 0};
    if (m_.l2.begins_with_data) p.ballast_bytes = 2 * uint64_t{m_.l2.bytes};
    return p;
  }
  void add(std::string name, ChasePair pair, const PolicyConfig& policy,
           std::vector<Evidence> evidence = {}) {
    sections_.back().probes.push_back({std::move(name),
                                       program(std::move(pair.shorter)),
                                       program(std::move(pair.longer)),
                                       policy,
                                       std::move(evidence),
                                       {},
                                       {},
                                       {}});
  }
  void add(std::string name, StreamPair pair, const PolicyConfig& policy, Bound bound,
           std::vector<Evidence> evidence = {}) {
    sections_.back().probes.push_back({std::move(name),
                                       std::move(pair.shorter),
                                       std::move(pair.longer),
                                       policy,
                                       std::move(evidence),
                                       std::move(bound),
                                       {},
                                       {}});
  }

  bool has_l2() const { return config::shape_of(m_).slices; }
  bool has_l1() const { return m_.l1.keep == "lines"; }

  /// Latencies of everything in front of memory: shared memory, L1, TLB, atomics and L2.
  void on_chip(uint64_t l1_bytes) {
    using Kind = Chase::Kind;
    if (m_.sm.shared_memory_bytes >= 128) add("shared memory", chases_.shared(), baseline_);
    if (m_.lsu.remote_shared_cycles != 0)
      add("shared memory of another block", chases_.distributed(), baseline_);
    if (has_l1()) {
      add("L1 hit", chases_.resident(Kind::kLoads, 0), baseline_, {l1_hits("sm"), tlb_hits("sm")});
      if (const auto pair = chases_.pages(0))
        add("L1 hit after a page walk", *pair, baseline_, {l1_hits("sm"), tlb_misses("sm")});
    }
    add(!has_l2()                   ? "atomic at the own banks"
        : m_.l2.atomics == "memory" ? "atomic in memory"
                                    : "atomic in the L2",
        chases_.resident(Kind::kAtomics, 0), baseline_, {tlb_hits("sm")});
    if (!has_l2()) return;
    const uint64_t l2_bytes =
        config::shape_of(m_).sms_in_stacks() ? m_.l2.bytes / m_.stack.count : m_.l2.bytes;
    if (const auto pair = chases_.beyond_l1(l1_bytes, l2_bytes))
      add("L2 hit", *pair, baseline_, {l1_misses("sm"), l2_hits(), tlb_hits("sm")});
    if (m_.l2.link_latency_cycles == 0) return;
    for (const uint32_t half : {0u, 1u})  // the first SM is in the first half
      if (const auto pair = chases_.beyond_l1(l1_bytes, l2_bytes / 2, half))
        add(half == 0 ? "L2 hit, near half" : "L2 hit, far half", *pair, baseline_,
            {l1_misses("sm"), l2_hits(), tlb_hits("sm")});
  }

  /// Latencies of DRAM in a stack, or of a partition or core.
  void memory(const std::string& where, uint32_t stack) {
    if (const auto pair = chases_.open_rows(0, stack))
      add("DRAM, " + where + ": open row", *pair, baseline_, {open_rows(), tlb_hits("sm")});
    if (const auto pair = chases_.row_conflicts(0, stack))
      add("DRAM, " + where + ": other row", *pair, baseline_, {conflicts(), tlb_hits("sm")});
    if (stack == 0) add("DRAM, anywhere", chases_.random(), baseline_, {tlb_hits("sm")});
  }

  void from_stack_sm() {
    const std::string sm = "stack_sm";
    add("L1 hit", chases_.resident(Chase::Kind::kLoads, 0), offloading_,
        {l1_hits(sm), tlb_hits(sm)});
    if (const auto pair = chases_.pages(0))
      add("L1 hit after a page walk", *pair, offloading_, {l1_hits(sm), tlb_misses(sm)});
    for (uint32_t stack = 0; stack < std::min(2u, m_.stack.count); ++stack) {
      const std::string where = stack == 0 ? "DRAM, own stack: " : "DRAM, another stack: ";
      if (const auto pair = chases_.open_rows(0, stack))
        add(where + "open row", *pair, offloading_, {open_rows(), l1_misses(sm), tlb_hits(sm)});
      if (const auto pair = chases_.row_conflicts(0, stack))
        add(where + "other row", *pair, offloading_, {conflicts(), l1_misses(sm), tlb_hits(sm)});
    }
  }

  /// A policy that fills one SM before the next, so that one SM gets all thread blocks of a small
  /// grid.
  PolicyConfig filling() const {
    PolicyConfig policy = baseline_;
    policy.dispatch.sms = "fill";
    return policy;
  }

  void main_bandwidths() {
    const uint32_t all = m_.gpu.sms;
    for (const auto& [sms, who] : {std::pair{all, "all"}, std::pair{1u, "one alone"}}) {
      if (sms == 1 && all == 1) break;
      const PolicyConfig policy = sms == 1 ? filling() : baseline_;
      const std::string of = std::string(who) + ": ";
      if (has_l1() && m_.l1.bytes >= 2 * 4 * kRound * kUnitBytes)
        add(of + "L1 read", read_l1(m_, sms), policy, way_to_l1(m_, sms).bound(Flow::kRead),
            {l1_hits("sm")});
      if (has_l2())
        if (auto pair = stream_l2(m_, sms))
          add(of + "L2 read", std::move(*pair), policy, way_to_l2(m_, sms).bound(Flow::kRead),
              {l2_hits(), l1_misses("sm")});
      const Way way = way_to_memory(m_, sms);
      for (const auto& [flow, what] :
           {std::pair{Flow::kRead, "DRAM read"}, std::pair{Flow::kWrite, "DRAM write"},
            std::pair{Flow::kCopy, "DRAM copy"}}) {
        if (sms == 1 && flow != Flow::kRead && m_.l2.write_policy == "back") continue;
        add(of + what, stream_memory(m_, sms, flow), policy, way.bound(flow));
      }
      if (sms != 1)
        add(of + "DRAM random sectors", read_sectors(m_), policy, way.bound(Flow::kRead));
    }
  }

  /// Add a probe of near-bank units. It reads the counters `cycles` and `work`, since a subcore's
  /// own instructions go on meanwhile and the run's length says nothing.
  void add_counted(std::string name, StreamPair pair, const char* cycles, const char* work,
                   std::vector<Evidence> evidence = {}) {
    Probe probe;
    probe.name = std::move(name);
    probe.shorter = std::move(pair.shorter);
    probe.longer = std::move(pair.longer);
    probe.policy = near_;
    probe.evidence = std::move(evidence);
    probe.cycles = cycles;
    probe.work = work;
    sections_.back().probes.push_back(std::move(probe));
  }
  Evidence near_accesses(const char* which) const {
    return {{which}, {"mpu.remote", "mpu.other_unit", "mpu.scattered", "mpu.inactive"}};
  }

  /// Latencies of near-bank units, from a single warp on the first core.
  void near_latencies() {
    using Kind = Near::Kind;
    near_ = config::load_policy("mpu");
    add_counted("offloaded load", near_banks_alone(m_, Kind::kDown), "mpu.load_cycles",
                "mpu.loads_near", {near_accesses("mpu.loads_near")});
    add_counted("register moved up to the banks", near_banks_alone(m_, Kind::kWrite),
                "mpu.held_move", "mpu.moves_near");
    add_counted("register moved down", near_banks_alone(m_, Kind::kDown), "mpu.held_move",
                "mpu.moves_far");
    add_counted("near-bank addition, to its commit", near_banks_alone(m_, Kind::kChain),
                "mpu.near_cycles", "mpu.near");
    if (m_.sm.shared_memory_bytes < 128) return;
    const ChasePair shared = chases_.shared();
    add_counted("near-bank shared memory", {program(shared.shorter), program(shared.longer)},
                "mpu.shared_cycles", "mpu.shared");
  }

  /// Bandwidths of near-bank units. Thread blocks go to the cores that have their data.
  void near_bandwidths() {
    near_.dispatch.groups = m_.gpu.sms;
    near_.dispatch.row_blocks = 1;
    const uint32_t all = m_.gpu.sms;
    const Way way = way_to_near_banks(m_, all, near_.table<mpu::Settings>().access_bytes);
    add("all: own units, read", near_banks(m_, Near::Kind::kRead, all), near_,
        way.bound(Flow::kRead), {near_accesses("mpu.loads_near")});
    add("all: own units, write", near_banks(m_, Near::Kind::kWrite, all), near_,
        way.bound(Flow::kWrite), {near_accesses("mpu.stores_near")});
  }

  void add_listed(const std::string& name, const std::vector<Group>& groups, uint32_t blocks_each,
                  uint32_t warps, const PolicyConfig& policy, const Way& way) {
    const bool own = groups.front().own == groups.front().wanted;
    add(name + "read", listed(m_, groups, blocks_each, warps, false), policy,
        way.bound(Flow::kRead));
    // Writes that a write-back L2 keeps say nothing about the bandwidth of vaults.
    if (own && m_.l2.write_policy != "back")
      add(name + "write", listed(m_, groups, blocks_each, warps, true), policy,
          way.bound(Flow::kWrite));
  }

  /// Make `count` groups of SMs, each of which reads the data of the group `distance` further on.
  std::vector<Group> groups(uint32_t count, uint32_t of, uint32_t distance) const {
    std::vector<Group> all;
    for (uint32_t g = 0; g < count; ++g) all.push_back({g, (g + distance) % of});
    return all;
  }

  /// Bandwidths of stack SMs, to which as many warps are offloaded as they hold.
  void stack_bandwidths() {
    if (m_.l1.line_bytes < kUnitBytes) return;
    const uint32_t stacks = m_.stack.count;
    const uint32_t warps = std::min(m_.stack.sm_warps, most_listed_warps() / stacks);
    uint32_t block = block_warps(m_);
    while (warps % block != 0) --block;
    for (const uint32_t count : {stacks, 1u}) {
      if (count == 1 && stacks == 1) break;
      const std::string who = count == 1 ? "one alone: " : "all: ";
      add_listed(who + "own vaults, ", groups(count, stacks, 0), warps / block, block, offloading_,
                 way_to_own(m_, count, count));
      if (stacks > 1)
        add_listed(who + "another stack's, ", groups(count, stacks, 1), warps / block, block,
                   offloading_, way_to_other(m_, count, count));
    }
  }

  /// Bandwidths of SMs in stacks or below banks. Thread blocks go to the SMs of their group.
  void grouped_bandwidths() {
    if (m_.l1.line_bytes < kUnitBytes) return;
    const bool stacks = config::shape_of(m_).sms_in_stacks();
    const uint32_t count = stacks ? m_.stack.count : m_.gpu.sms, sms = m_.gpu.sms / count;
    const uint32_t most = std::max(1u, most_listed_warps() / m_.gpu.sms);  // warps of an SM
    const uint32_t warps = std::min({stacks ? 8u : 4u, block_warps(m_), most});
    const uint32_t blocks = stacks ? sms * std::clamp(most / warps, 1u, 2u) : 1;
    PolicyConfig policy = baseline_;
    if (stacks) {
      policy.dispatch.groups = count;
      policy.dispatch.row_blocks = blocks;
    }
    const uint32_t further = stacks ? 1 : std::max(1u, count / m_.near_bank.processors);
    const std::string own = stacks ? "own vaults, " : "own banks, ";
    const std::string other = stacks                         ? "another stack's, "
                              : m_.near_bank.processors == 1 ? "a neighbour's, "
                                                             : "another die's, ";
    add_listed("all: " + own, groups(count, count, 0), blocks, warps, policy,
               way_to_own(m_, count, m_.gpu.sms));
    if (count > 1)
      add_listed("all: " + other, groups(count, count, further % count == 0 ? 1 : further), blocks,
                 warps, policy, way_to_other(m_, count, m_.gpu.sms));
    if (m_.gpu.sms == 1) return;
    const uint32_t alone = stacks ? blocks_on_sm(m_) : 1;
    add_listed("one alone: " + own, groups(1, count, 0), alone, warps, filling(),
               way_to_own(m_, 1, 1));
    if (count > 1)
      add_listed("one alone: " + other, groups(1, count, further % count == 0 ? 1 : further), alone,
                 warps, filling(), way_to_other(m_, 1, 1));
  }

  const Machine& m_;
  Chases chases_;
  PolicyConfig baseline_, offloading_, near_;
  std::vector<Section> sections_;
};

}  // namespace

std::vector<Section> plan(const Machine& machine) { return Planner(machine).plan(); }

}  // namespace nearwarp::probe
