// The energy account of a run: counters times constants. docs/energy.md has the formulas,
// deviations 61 to 63 what is not as in the TOM paper.
#include "host/timing/report/energy.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "host/config/schema.h"
#include "host/timing/report/result.h"

namespace nearwarp::report {
namespace {

/// What turns a counter's unit into the constant's.
enum class Scale : uint8_t {
  kEvents,  ///< energy per event, or per bit where bits are counted
  kBytes,   ///< energy per bit, bytes are counted
  kRows,    ///< energy of a row of another size than the machine's
  kCycles,  ///< power, core cycles are counted
};

/// One term. Names of SMs' counters are without the leading "sm." or "stack_sm.".
struct Rule {
  EnergyPart part;
  std::string_view name;
  std::string_view counters;  ///< separated by blanks; added
  std::string_view constant;  ///< key without "energy."
  Scale scale;
};

constexpr EnergyPart kSm = EnergyPart::kSm, kL2 = EnergyPart::kL2, kNetwork = EnergyPart::kNetwork,
                     kLinks = EnergyPart::kLinks, kDram = EnergyPart::kDram,
                     kLeakage = EnergyPart::kLeakage;

/// For main SMs, and again for stack SMs if there are any.
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
    {kSm, "l1.lookup", "load_lines store_lines atomic_lines", "sm.l1_lookup_fj", Scale::kEvents},
    {kSm, "l1.read", "l1.read_hits", "sm.l1_read_fj", Scale::kEvents},
    {kSm, "l1.write", "l1.read_misses l1.write_hits", "sm.l1_write_fj", Scale::kEvents},
    {kLeakage, "leakage", "powered_cycles", "leakage.sm_uw", Scale::kCycles},
};

/// For each kind of link.
constexpr Rule kLinkRules[] = {
    {kLinks, "transfer", "bytes", "links.transfer_fj_per_bit", Scale::kBytes},
    {kLinks, "idle", "idle_bits", "links.idle_fj_per_bit", Scale::kEvents},
};

constexpr Rule kRules[] = {
    {kL2, "l2.lookup", "l2.reads l2.writes l2.atomics l2.invalidations", "l2.lookup_fj",
     Scale::kEvents},
    {kL2, "l2.read", "l2.read_hits l2.atomics", "l2.read_fj", Scale::kEvents},
    {kL2, "l2.write", "l2.fills l2.write_hits l2.atomics", "l2.write_fj", Scale::kEvents},
    {kNetwork, "network.crossbars", "noc.from_sms.bytes noc.to_sms.bytes noc.invalidations.bytes",
     "network.crossbar_fj_per_bit", Scale::kBytes},
    {kNetwork, "network.sm_wires", "noc.from_sms.bytes noc.to_sms.bytes noc.invalidations.bytes",
     "network.sm_wire_fj_per_bit", Scale::kBytes},
    {kNetwork, "network.memory_wires", "noc.memory_side.bytes", "network.memory_wire_fj_per_bit",
     Scale::kBytes},
    {kNetwork, "network.stacks", "stack.internal.bytes", "network.stack_hop_fj_per_bit",
     Scale::kBytes},
    {kLinks, "links.pcie.transfer", "pcie.bytes", "links.pcie_fj_per_bit", Scale::kBytes},
    {kDram, "dram.activation", "dram.activates", "dram.activation_fj", Scale::kRows},
    {kDram, "dram.precharge", "dram.precharges", "dram.precharge_fj", Scale::kEvents},
    {kDram, "dram.read", "dram.bytes_read", "dram.read_fj_per_bit", Scale::kBytes},
    {kDram, "dram.write", "dram.bytes_written", "dram.write_fj_per_bit", Scale::kBytes},
    {kDram, "dram.tsv", "dram.bytes_read dram.bytes_written", "dram.tsv_fj_per_bit", Scale::kBytes},
    {kDram, "dram.refresh", "dram.refreshes", "dram.refresh_fj", Scale::kEvents},
    {kLeakage, "l2.leakage", "l2.powered_cycles", "leakage.l2_slice_uw", Scale::kCycles},
    {kLeakage, "dram.leakage", "dram.powered_cycles", "leakage.vault_uw", Scale::kCycles},
    {kLeakage, "constant_power", "run.cycles", "leakage.constant_uw", Scale::kCycles},
};

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

  bool has_counter(const std::string& name) const { return counters_.count(name) != 0; }

  /// `prefix` goes before the term's name, `counters` before its counters'.
  void add(const Rule& rule, const std::string& prefix, const std::string& counters) {
    EnergyTerm term;
    term.part = rule.part;
    term.name = prefix + std::string(rule.name);
    for (std::string_view rest = rule.counters; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      const std::string name = counters + std::string(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const auto at = counters_.find(name);
      if (at == counters_.end()) continue;  // the machine has no such part under this policy
      term.counters.push_back(name);
      term.count += at->second;
    }
    if (term.counters.empty()) return;
    term.constant = "energy." + std::string(rule.constant);
    term.value = value_of(machine_.energy, term.constant);
    set_scale(term, rule.scale);
    term.energy = Femtojoules{term.count} * term.value * term.times / term.over;
    report_.terms.push_back(std::move(term));
  }

  EnergyReport take() { return std::move(report_); }

 private:
  void set_scale(EnergyTerm& term, Scale scale) const {
    switch (scale) {
      case Scale::kEvents:
        break;
      case Scale::kBytes:
        term.times = 8;
        break;
      case Scale::kRows:
        term.times = machine_.dram.row_bytes;
        term.over = machine_.energy.dram.activation_row_bytes;
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
  for (const Rule& rule : kSmRules) accountant.add(rule, "sm.", "sm.");
  if (accountant.has_counter("stack_sm.issued"))
    for (const Rule& rule : kSmRules) accountant.add(rule, "stack_sm.", "stack_sm.");
  for (const Rule& rule : kRules) accountant.add(rule, "", "");
  for (const Rule& rule : kLinkRules)
    for (const char* const link : {"gpu_to_memory.", "memory_to_gpu.", "memory_to_memory."})
      accountant.add(rule, std::string("links.") + link, std::string("link.") + link);
  return accountant.take();
}

}  // namespace nearwarp::report
