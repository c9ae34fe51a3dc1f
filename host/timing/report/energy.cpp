// The energy account of a run: counters times constants. docs/energy.md has the formulas,
// deviations 61 to 63 what is not as in the source.
#include "host/timing/report/energy.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "host/config/constraints.h"
#include "host/config/nearest.h"
#include "host/config/schema.h"
#include "host/core/error.h"
#include "host/timing/report/result.h"

namespace nearwarp::report {
namespace {

using Rule = EnergyRule;
using Scale = EnergyScale;

/// Rules for a part of the machine: `term` goes before the term's names, `counter` before their
/// counters'.
struct RuleSet {
  std::span<const Rule> rules;
  std::string_view term = "", counter = "";
  bool MachineParts::*of = nullptr;  ///< the part; null: every machine has it
};

constexpr EnergyPart kSm = EnergyPart::kSm, kL2 = EnergyPart::kL2, kNetwork = EnergyPart::kNetwork,
                     kLinks = EnergyPart::kLinks, kDram = EnergyPart::kDram,
                     kLeakage = EnergyPart::kLeakage;

/// For main SMs, and again for stack SMs.
constexpr Rule kSmRules[] = {
    {kSm, "issue", "issued", "sm.issue_fj", Scale::kEvents},
    {kSm, "operands", "issued", "sm.operands_fj", Scale::kEvents},
    {kSm, "integer", "lanes.integer", "sm.integer_fj", Scale::kEvents},
    {kSm, "integer_multiply", "lanes.integer_multiply", "sm.integer_multiply_fj", Scale::kEvents},
    {kSm, "integer_divide", "lanes.integer_divide", "sm.integer_divide_fj", Scale::kEvents},
    {kSm, "fp32", "lanes.fp32", "sm.fp32_fj", Scale::kEvents},
    {kSm, "fp32_divide", "lanes.fp32_divide", "sm.fp32_divide_fj", Scale::kEvents},
    {kSm, "fp64", "lanes.fp64", "sm.fp64_fj", Scale::kEvents},
    {kSm, "fp64_divide", "lanes.fp64_divide", "sm.fp64_divide_fj", Scale::kEvents},
    {kSm, "special", "lanes.special", "sm.special_fj", Scale::kEvents},
    {kSm, "shuffle", "lanes.shuffle", "sm.shuffle_fj", Scale::kEvents},
    {kSm, "constant", "lanes.constant", "sm.constant_fj", Scale::kEvents},
    {kSm, "address", "lanes.memory", "sm.address_fj", Scale::kEvents},
    {kSm, "control", "lanes.control", "sm.control_fj", Scale::kEvents},
    {kSm, "register_read", "register_reads", "sm.register_read_fj", Scale::kEvents},
    {kSm, "register_write", "register_writes", "sm.register_write_fj", Scale::kEvents},
    {kSm, "lsu", "issued_lsu", "sm.lsu_fj", Scale::kEvents},
    {kSm, "shared", "shared_accesses", "sm.shared_fj", Scale::kEvents},
    {kSm, "tlb.lookup", "tlb.hits tlb.misses", "sm.tlb_lookup_fj", Scale::kEvents},
    {kSm, "l1.lookup", "load_lines store_lines atomic_lines", "sm.l1_lookup_fj", Scale::kEvents,
     &MachineParts::no_l1},
    {kSm, "l1.read", "l1.read_hits", "sm.l1_read_fj", Scale::kEvents, &MachineParts::no_l1},
    {kSm, "l1.write", "l1.read_misses l1.write_hits", "sm.l1_write_fj", Scale::kEvents,
     &MachineParts::no_l1},
    {kLeakage, "leakage", "powered_cycles", "leakage.sm_uw", Scale::kCycles},
};

constexpr Rule kRules[] = {
    {kL2, "l2.lookup", "l2.reads l2.writes l2.atomics l2.invalidations", "l2.lookup_fj",
     Scale::kEvents},
    {kL2, "l2.read", "l2.read_hits l2.atomics", "l2.read_fj", Scale::kEvents},
    {kL2, "l2.write", "l2.fills l2.write_hits l2.atomics", "l2.write_fj", Scale::kEvents},
    {kNetwork, "network.routers", "noc.flit_hops", "network.router_fj_per_bit", Scale::kFlits},
    {kNetwork, "network.router_wires", "noc.flit_links", "network.router_wire_fj_per_bit",
     Scale::kFlits},
    {kNetwork, "network.port_wires", "noc.port_bytes", "network.memory_wire_fj_per_bit",
     Scale::kBytes},
    {kNetwork, "network.stacks", "stack.switch_bytes", "network.stack_hop_fj_per_bit",
     Scale::kBytes, &MachineParts::core_tsvs},
    {kLinks, "links.pcie.transfer", "pcie.bytes", "links.pcie_fj_per_bit", Scale::kBytes},
    {kDram, "dram.activation", "dram.activates", "dram.activation_fj", Scale::kRows},
    {kDram, "dram.precharge", "dram.precharges", "dram.precharge_fj", Scale::kEvents},
    {kDram, "dram.read", "dram.bytes_read", "dram.read_fj_per_bit", Scale::kBytes},
    {kDram, "dram.write", "dram.bytes_written", "dram.write_fj_per_bit", Scale::kBytes},
    {kDram, "dram.tsv", "dram.bytes_read dram.bytes_written", "dram.tsv_fj_per_bit", Scale::kBytes,
     &MachineParts::core_tsvs},
    {kDram, "dram.refresh", "dram.refreshes", "dram.refresh_fj", Scale::kRefreshes},
    {kLeakage, "l2.leakage", "l2.powered_cycles", "leakage.l2_slice_uw", Scale::kCycles},
    {kLeakage, "dram.leakage", "dram.powered_cycles", "leakage.vault_uw", Scale::kCycles},
    {kLeakage, "constant_power", "run.cycles", "leakage.constant_uw", Scale::kCycles},
};

constexpr Rule kNetworkWireRules[] = {
    {kNetwork, "network.sm_wires", "noc.flits", "network.sm_wire_fj_per_bit", Scale::kFlits},
    {kNetwork, "network.memory_wires", "noc.flits", "network.memory_wire_fj_per_bit",
     Scale::kFlits},
};

/// Whatever crosses them is charged: packets' headers, registers and instructions too.
constexpr Rule kCoreTsvRules[] = {
    {kDram, "dram.tsv", "stack.switch_bytes", "dram.tsv_fj_per_bit", Scale::kBytes},
};
/// Lines that writes allocate are written, and read when they go to memory.
constexpr Rule kKeptLineRules[] = {
    {kL2, "l2.allocate", "l2.write_allocates l2.write_waits", "l2.write_fj", Scale::kEvents},
    {kL2, "l2.write_back", "l2.write_backs", "l2.read_fj", Scale::kEvents},
};

/// For each kind of link.
constexpr Rule kTransferRules[] = {
    {kLinks, "transfer", "bytes", "links.transfer_fj_per_bit", Scale::kBytes},
};
constexpr Rule kIdleRules[] = {
    {kLinks, "idle", "idle_bits", "links.idle_fj_per_bit", Scale::kEvents},
};

/// In the order of the report; those of mechanisms come between the two.
constexpr RuleSet kRulesOfParts[] = {
    {kSmRules, "sm.", "sm."},
    {kSmRules, "stack_sm.", "stack_sm.", &MachineParts::stack_sms},
    {kRules},
    {kKeptLineRules, "", "", &MachineParts::kept_lines},
    {kCoreTsvRules, "", "", &MachineParts::core_tsvs},
};
constexpr RuleSet kRulesOfWires[] = {
    {kNetworkWireRules, "", "", &MachineParts::network_wires},
    {kTransferRules, "links.gpu_to_memory.", "link.gpu_to_memory."},
    {kTransferRules, "links.memory_to_gpu.", "link.memory_to_gpu."},
    {kTransferRules, "links.memory_to_memory.", "link.memory_to_memory."},
    {kIdleRules, "links.gpu_to_memory.", "link.gpu_to_memory."},
    {kIdleRules, "links.memory_to_gpu.", "link.memory_to_gpu."},
    // These links are off where nothing needs them (deviation 62).
    {kIdleRules, "links.memory_to_memory.", "link.memory_to_memory.", &MachineParts::cross_links},
};

/// f(rule, its set) for all that a machine with these parts has.
template <class F>
void each_rule(const MachineParts& parts, F&& f) {
  const auto all_of = [&](const RuleSet& set) {
    if (set.of != nullptr && !(parts.*set.of)) return;
    for (const Rule& rule : set.rules)
      if (rule.not_with == nullptr || !(parts.*rule.not_with)) f(rule, set);
  };
  for (const RuleSet& set : kRulesOfParts) all_of(set);
  for (const std::span<const Rule> rules : parts.added) all_of(RuleSet{rules});
  for (const RuleSet& set : kRulesOfWires) all_of(set);
}

/// f(name) for each counter of a rule.
template <class F>
void each_counter(const Rule& rule, const RuleSet& set, F&& f) {
  for (std::string_view rest = rule.counters; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    f(std::string(set.counter) + std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

uint64_t value_of(const config::EnergyConfig& energy, std::string_view path) {
  const auto* key = config::find_key<config::EnergyConfig>(path);
  return *std::get<uint64_t*>(config::member_of(*key, energy));
}

class Accountant {
 public:
  Accountant(const config::MachineConfig& machine, const RunResult& run) : machine_(machine) {
    for (const Counter& counter : run.counters) counters_[counter.name] = counter.value;
    report_.model = machine.energy.name;
    report_.technology_nm = machine.energy.technology_nm;
  }

  void add(const Rule& rule, const RuleSet& set) {
    EnergyTerm term;
    term.part = rule.part;
    term.name = std::string(set.term) + std::string(rule.name);
    each_counter(rule, set, [&](std::string name) {
      term.count += counter(name, term.name);
      term.counters.push_back(std::move(name));
    });
    term.constant = "energy." + std::string(rule.constant);
    term.value = value_of(machine_.energy, term.constant);
    set_scale(term, rule.scale);
    term.energy = Femtojoules{term.count} * term.value * term.times / term.over;
    report_.terms.push_back(std::move(term));
  }

  EnergyReport take() { return std::move(report_); }

 private:
  uint64_t counter(const std::string& name, const std::string& term) const {
    const auto at = counters_.find(name);
    if (at != counters_.end()) return at->second;
    std::vector<std::string> names;
    for (const auto& [known, value] : counters_) names.push_back(known);
    std::sort(names.begin(), names.end());
    const std::string nearest = config::nearest_name(name, names);
    throw Error("the energy term '" + term + "' wants the counter '" + name +
                "', which the run does not have" +
                (nearest.empty() ? "" : " - did you mean '" + nearest + "'?"));
  }

  void set_scale(EnergyTerm& term, Scale scale) const {
    switch (scale) {
      case Scale::kEvents:
        break;
      case Scale::kBytes:
        term.times = 8;
        break;
      case Scale::kFlits:
        term.times = uint64_t{8} * machine_.interconnect.flit_bytes;
        break;
      case Scale::kLanes:
        term.times = 32;
        break;
      case Scale::kRows:
        term.times = machine_.dram.row_bytes;
        term.over = machine_.energy.dram.activation_row_bytes;
        break;
      case Scale::kRefreshes:
        term.over = config::refreshes_of_all(machine_);
        break;
      case Scale::kCycles:  // uW / MHz = pJ
        term.times = 1000;
        term.over = machine_.clocks.core_mhz;
        break;
    }
  }

  const config::MachineConfig& machine_;
  std::unordered_map<std::string, uint64_t> counters_;
  EnergyReport report_;
};

}  // namespace

const char* energy_part_name(EnergyPart part) {
  constexpr const char* kNames[kNumEnergyParts] = {"sm",    "l2",   "network",
                                                   "links", "dram", "leakage"};
  return kNames[static_cast<size_t>(part)];
}

Femtojoules EnergyReport::part(EnergyPart part) const {
  Femtojoules sum = 0;
  for (const EnergyTerm& term : terms)
    if (term.part == part) sum += term.energy;
  return sum;
}

Femtojoules EnergyReport::total() const {
  Femtojoules sum = 0;
  for (const EnergyTerm& term : terms) sum += term.energy;
  return sum;
}

EnergyReport account_energy(const config::MachineConfig& machine, const RunResult& run) {
  Accountant accountant(machine, run);
  each_rule(run.parts, [&](const Rule& rule, const RuleSet& set) { accountant.add(rule, set); });
  EnergyReport report = accountant.take();
  report.by_board = machine.energy.board_uw == 0
                        ? report.total() - report.part(EnergyPart::kLeakage)
                        : Femtojoules{run.cycles} * machine.energy.board_uw * 1000 /
                              machine.clocks.core_mhz;  // uW / MHz = pJ
  return report;
}

std::vector<std::string> energy_counters(const MachineParts& parts) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  each_rule(parts, [&](const Rule& rule, const RuleSet& set) {
    each_counter(rule, set, [&](std::string name) {
      if (seen.insert(name).second) names.push_back(std::move(name));
    });
  });
  return names;
}

}  // namespace nearwarp::report
