// Is the energy of a run what its counters and the constants give by hand?
#include "host/timing/report/energy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "host/config/config.h"
#include "host/config/schema.h"
#include "host/core/error.h"
#include "host/mechanisms/opportunistic/report/energy.h"
#include "host/timing/report/energy_text.h"
#include "host/timing/report/json.h"
#include "host/timing/report/table.h"
#include "tests/report/texts.h"

namespace nearwarp::report {
namespace {

using config::MachineConfig;

const MachineParts kAllParts{.stack_sms = true,
                             .cross_links = true,
                             .network_wires = true,
                             .added = {opportunistic::energy_of_queues()}};

MachineConfig tom(const std::vector<std::string>& changes = {}) {
  return config::load_machine("tom", changes);
}

/// A run on the machine with these counters; the others that the account wants are 0.
RunResult run_with(const std::vector<std::pair<std::string, uint64_t>>& counters,
                   const MachineParts& parts = {}) {
  RunResult run;
  run.policy = "baseline";
  run.core_mhz = 1400;
  run.parts = parts;
  std::set<std::string> given;
  for (const auto& [name, value] : counters) {
    run.counters.push_back({name, value, "", ""});
    given.insert(name);
    if (name == "run.cycles") run.cycles = value;
  }
  for (const std::string& name : energy_counters(parts))
    if (given.count(name) == 0) run.counters.push_back({name, 0, "", ""});
  return run;
}

std::string fmt_3(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

const EnergyTerm* find(const EnergyReport& report, const std::string& name) {
  for (const EnergyTerm& term : report.terms)
    if (term.name == name) return &term;
  return nullptr;
}

/// Energy of one term in fJ; ~0 if it is not there.
uint64_t energy_of(const MachineConfig& machine, const std::string& term,
                   const std::vector<std::pair<std::string, uint64_t>>& counters) {
  const EnergyReport report = account_energy(machine, run_with(counters));
  const EnergyTerm* found = find(report, term);
  return found == nullptr ? ~uint64_t{0} : static_cast<uint64_t>(found->energy);
}

TEST(Energy, WorkedExamplesOfTom) {
  const MachineConfig m = tom();
  // Section 5.1: an activation of a 4 KB row takes 11.8 nJ.
  EXPECT_EQ(energy_of(m, "dram.activation", {{"dram.activates", 1}}), 11'800'000u);
  // A row-buffer read of a line, 4 pJ/b.
  EXPECT_EQ(energy_of(m, "dram.read", {{"dram.bytes_read", 128}}), 4'000u * 1024);
  // A line over a link, 2 pJ/bit.
  EXPECT_EQ(energy_of(m, "links.memory_to_gpu.transfer", {{"link.memory_to_gpu.bytes", 128}}),
            2'000u * 1024);
  // A link of 80 GB/s that is idle for a core cycle could have carried 457 bits, at 1.5 pJ each.
  EXPECT_EQ(energy_of(m, "links.gpu_to_memory.idle", {{"link.gpu_to_memory.idle_bits", 457}}),
            685'500u);
}

TEST(Energy, RowsOfAnotherSizeCostInProportion) {
  EXPECT_EQ(energy_of(tom({"dram.row_bytes=2048"}), "dram.activation", {{"dram.activates", 10}}),
            59'000'000u);
}

TEST(Energy, RefreshesOfPartsTakeTheirShare) {
  // Banks are refreshed one after the other: one refresh of each takes the energy of one of all
  // banks.
  const MachineConfig m = tom({"dram.standard=hbm3-6400", "clocks.dram_mhz=1600"});
  EXPECT_EQ(energy_of(m, "dram.refresh", {{"dram.refreshes", 3 * m.dram.banks}}),
            3 * m.energy.dram.refresh_fj);
}

TEST(Energy, WorkedExamplesOfMpu) {
  const MachineConfig m = tom({"energy.model=mpu-20nm"});
  // Table II: RD 0.15 nJ for 256 bits (586 fJ/bit), ACT and PRE 0.27 nJ, REF 1.13 nJ.
  EXPECT_EQ(energy_of(m, "dram.read", {{"dram.bytes_read", 32}}), 256u * 586);
  EXPECT_EQ(energy_of(m, "dram.precharge", {{"dram.precharges", 2}}), 540'000u);
  EXPECT_EQ(energy_of(m, "dram.refresh", {{"dram.refreshes", 1}}), 1'130'000u);
  // TSV 4.53 pJ/bit, both directions; off-chip bus 4.50 pJ/bit.
  EXPECT_EQ(energy_of(m, "dram.tsv", {{"dram.bytes_read", 32}, {"dram.bytes_written", 32}}),
            512u * 4530);
  EXPECT_EQ(energy_of(m, "links.gpu_to_memory.transfer", {{"link.gpu_to_memory.bytes", 1}}),
            8u * 4500);
  // RF 40.0 pJ for the 32 lanes of a warp, SMEM 22.2 pJ, operand collector 41.49 pJ.
  EXPECT_EQ(energy_of(m, "sm.register_read", {{"sm.register_reads", 32}}), 40'000u);
  EXPECT_EQ(energy_of(m, "sm.shared", {{"sm.shared_accesses", 1}}), 22'200u);
  EXPECT_EQ(energy_of(m, "sm.operands", {{"sm.issued", 1}}), 41'490u);
}

TEST(Energy, QueuesOfChains) {
  const RunResult run = run_with({{"chains.queue_accesses", 4}, {"chains.buffered_lines", 2}},
                                 {.added = {opportunistic::energy_of_queues()}});
  const EnergyReport report = account_energy(tom(), run);
  EXPECT_EQ(find(report, "chains.queues")->energy, Femtojoules{40'000});
  // A line is 32 registers, of 2 pJ to read and 2.75 to write.
  EXPECT_EQ(find(report, "chains.buffer_read")->energy, Femtojoules{2 * 32 * 2'000});
  EXPECT_EQ(find(report, "chains.buffer_write")->energy, Femtojoules{2 * 32 * 2'750});
}

TEST(Energy, LinesThatAnL2Keeps) {
  const RunResult run =
      run_with({{"l2.write_allocates", 3}, {"l2.write_backs", 2}}, {.kept_lines = true});
  const MachineConfig m = tom();
  const EnergyReport report = account_energy(m, run);
  EXPECT_EQ(find(report, "l2.allocate")->energy, Femtojoules{3} * m.energy.l2.write_fj);
  EXPECT_EQ(find(report, "l2.write_back")->energy, Femtojoules{2} * m.energy.l2.read_fj);
  EXPECT_EQ(find(account_energy(m, run_with({})), "l2.allocate"), nullptr);
}

TEST(Energy, PowersTakeTime) {
  // 1.4 million core cycles at 1400 MHz are a millisecond: 1.59 W give 1.59 mJ.
  const MachineConfig m = tom();
  EXPECT_EQ(energy_of(m, "sm.leakage", {{"sm.powered_cycles", 1'400'000}}), 1'590'000'000'000u);
  EXPECT_EQ(energy_of(m, "constant_power", {{"run.cycles", 1'400'000}}), 11'000'000'000'000u);
  // One cycle of 24 mW: 17142.857 fJ, rounded down.
  EXPECT_EQ(energy_of(m, "dram.leakage", {{"dram.powered_cycles", 1}}), 17'142u);
}

/// Every counter that a term could want, each with a value of its own.
RunResult full_run() {
  const MachineParts parts = kAllParts;
  std::vector<std::pair<std::string, uint64_t>> counters;
  uint64_t value = 1000;
  for (const std::string& name : energy_counters(parts)) counters.emplace_back(name, value += 1400);
  return run_with(counters, parts);
}

/// The error's text if the counter is not there; empty without an error.
std::string without(const std::string& name, const MachineParts& parts) {
  RunResult run = run_with({}, parts);
  std::erase_if(run.counters, [&](const Counter& c) { return c.name == name; });
  try {
    account_energy(tom(), run);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Energy, MissingCountersAreErrors) {
  for (const std::string& name : energy_counters(kAllParts))
    EXPECT_NE(without(name, kAllParts).find("'" + name + "'"), std::string::npos) << name;
  EXPECT_EQ(without("sm.tlb.misses", {}),
            "the energy term 'sm.tlb.lookup' wants the counter 'sm.tlb.misses', which the run does "
            "not have - did you mean 'sm.tlb.hits'?");
}

TEST(Energy, PartsThatAreNotThereNeedNoCounters) {
  EXPECT_EQ(without("stack_sm.issued", {}), "");
  EXPECT_EQ(without("link.memory_to_memory.idle_bits", {}), "");
  EXPECT_EQ(without("noc.flits", {}), "");
  EXPECT_NE(without("stack_sm.issued", kAllParts), "");
  EXPECT_NE(without("link.memory_to_memory.idle_bits", kAllParts), "");
  for (const std::string& name : energy_counters({})) EXPECT_NE(name.rfind("stack_sm.", 0), 0u);
  // Counters of parts that the machine does not have take no energy.
  EXPECT_EQ(find(account_energy(tom(), run_with({{"stack_sm.issued", 5}})), "stack_sm.issue"),
            nullptr);
}

TEST(Energy, PartsAndTermsAddUp) {
  const EnergyReport report = account_energy(tom(), full_run());
  Femtojoules terms = 0, parts = 0;
  std::set<std::string> names;
  for (const EnergyTerm& t : report.terms) {
    EXPECT_EQ(t.energy, Femtojoules{t.count} * t.value * t.times / t.over) << t.name;
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    terms += t.energy;
  }
  for (size_t i = 0; i < kNumEnergyParts; ++i) parts += report.part(static_cast<EnergyPart>(i));
  EXPECT_EQ(terms, report.total());
  EXPECT_EQ(parts, report.total());
  EXPECT_GT(report.total(), 0);
}

TEST(Energy, StackSmsCostWhatMainSmsCost) {
  const EnergyReport report = account_energy(tom(), full_run());
  size_t twins = 0;
  for (const EnergyTerm& t : report.terms) {
    if (t.name.rfind("sm.", 0) != 0) continue;
    const EnergyTerm* twin = find(report, "stack_" + t.name);
    ASSERT_NE(twin, nullptr) << t.name;
    EXPECT_EQ(twin->constant, t.constant);
    EXPECT_EQ(twin->part, t.part);
    twins += 1;
  }
  EXPECT_GT(twins, 20u);
  // Without stack SMs there are none of their terms.
  EXPECT_EQ(find(account_energy(tom(), run_with({{"sm.issued", 1}})), "stack_sm.issue"), nullptr);
}

TEST(Energy, ByTheBoardIsPowerTimesTimeOrWhatWasDone) {
  RunResult run = full_run();
  run.cycles = 12'345;
  MachineConfig m = tom();
  m.clocks.core_mhz = 1000;
  m.energy.board_uw = 0;
  const EnergyReport done = account_energy(m, run);
  EXPECT_GT(done.part(EnergyPart::kLeakage), 0u);
  EXPECT_EQ(done.by_board, done.total() - done.part(EnergyPart::kLeakage));
  m.energy.board_uw = 300'000'000;  // 300 W for 12.345 us: 3.7035 mJ
  const EnergyReport board = account_energy(m, run);
  EXPECT_EQ(board.by_board, Femtojoules{3'703'500'000'000});
  EXPECT_EQ(board.total(), done.total());
}

TEST(Energy, EveryConstantCountsInItsPartOnly) {
  const RunResult run = full_run();
  MachineConfig m = tom();
  // Give every constant a value, so that doubling it shows.
  for (const auto& key : config::energy_keys()) {
    const config::Member member = key.member(m.energy);
    if (auto* number = std::get_if<uint64_t*>(&member); number != nullptr && **number == 0)
      **number = 1000;
  }
  const EnergyReport before = account_energy(m, run);
  for (const auto& key : config::energy_keys()) {
    MachineConfig changed = m;
    const config::Member member = key.member(changed.energy);
    auto* number = std::get_if<uint64_t*>(&member);
    if (number == nullptr || key.path == "energy.dram.activation_row_bytes" ||
        key.path == "energy.board_uw")  // of the other account
      continue;
    **number *= 2;
    const EnergyReport after = account_energy(changed, run);
    std::set<EnergyPart> parts;
    Femtojoules added = 0;
    for (const EnergyTerm& t : before.terms) {
      if (t.constant != key.path) continue;
      parts.insert(t.part);
      added += t.energy;
    }
    ASSERT_EQ(parts.size(), 1u) << key.path << " is in no part, or in several";
    for (size_t i = 0; i < kNumEnergyParts; ++i) {
      const auto part = static_cast<EnergyPart>(i);
      const Femtojoules difference = after.part(part) - before.part(part);
      if (parts.count(part) == 0) {
        EXPECT_EQ(difference, 0) << key.path;
        continue;
      }
      // Powers may gain up to one fJ per term by rounding.
      EXPECT_GE(difference, added) << key.path;
      EXPECT_LE(difference, added + 2) << key.path;
    }
  }
}

TEST(Energy, LinkEnergyIsThatOfTheBytesOfAllLinks) {
  const MachineConfig m = tom({"energy.links.idle_fj_per_bit=0", "energy.links.pcie_fj_per_bit=0"});
  const RunResult run = full_run();
  uint64_t bytes = 0;
  for (const Counter& c : run.counters)
    if (c.name.rfind("link.", 0) == 0 && c.name.ends_with(".bytes")) bytes += c.value;
  EXPECT_EQ(account_energy(m, run).part(EnergyPart::kLinks), Femtojoules{bytes} * 8 * 2000);
}

TEST(Energy, LargeRunsDoNotOverflow) {
  const MachineConfig m = tom({"energy.sm.issue_fj=1000000000000"});
  const EnergyReport report =
      account_energy(m, run_with({{"sm.issued", 18'446'744'073'709'551'615u}}));
  EXPECT_EQ(find(report, "sm.issue")->energy,
            Femtojoules{18'446'744'073'709'551'615u} * 1'000'000'000'000u);
}

TEST(EnergyTable, ShowsPartsTotalAndRatios) {
  // 1.4 million cycles: 11 mJ constant, and 1 mJ of activations or half of it in half the time.
  std::vector<RunResult> runs = {run_with({{"run.cycles", 1'400'000}, {"dram.activates", 100'000}}),
                                 run_with({{"run.cycles", 700'000}, {"dram.activates", 50'000}})};
  for (RunResult& run : runs) run.energy = account_energy(tom(), run);
  runs[1].policy = "tom";
  const std::string text = format_table(runs);
  using testing::row;
  using testing::Words;
  EXPECT_EQ(row(text, "DRAM energy [mJ]"), (Words{"1.180", "0.590"}));
  EXPECT_EQ(row(text, "leakage [mJ]"), (Words{"11.000", "5.500"}));
  EXPECT_EQ(row(text, "energy, all [mJ]"), (Words{"12.180", "6.090"}));
  EXPECT_EQ(row(text, "energy, relative"), (Words{"1.000", "0.500"}));
  EXPECT_EQ(row(text, "energy x delay, rel."), (Words{"1.000", "0.250"}));
  runs[1].partial = true;
  EXPECT_EQ(row(format_table(runs), "energy, relative"), (Words{"1.000", "-"}));
  EXPECT_EQ(row(format_table(runs), "energy, all [mJ]"), (Words{"12.180", "6.090"}));
}

TEST(EnergyText, LargestTermsFirstAndColumnsAddUp) {
  std::vector<RunResult> runs = {full_run(), run_with({{"run.cycles", 1400}})};
  runs[1].policy = "other";
  for (RunResult& run : runs) run.energy = account_energy(tom(), run);
  const std::string text = format_energy(runs);
  EXPECT_LE(testing::widest(text), 80u);
  double sum = 0, last = 1e300;
  size_t rows = 0;
  for (const std::string& line : testing::lines_of(text)) {
    std::istringstream words(line);
    std::string name;
    double first = 0, second = 0;
    if (!(words >> name >> first >> second)) continue;
    rows += 1;
    sum += first;
    if (name == "others") continue;
    EXPECT_LE(std::max(first, second), last) << name;
    last = std::max(first, second);
  }
  EXPECT_EQ(rows, 16u);  // fifteen and the others
  const EnergyUnit unit = energy_unit(runs);
  EXPECT_NEAR(sum, joules(runs[0].energy.total()) / unit.joules, 0.0005 * 16);
  EXPECT_EQ(testing::row(text, "constant_power")[1],
            fmt_3(joules(runs[1].energy.total()) / unit.joules));
  EXPECT_EQ(format_energy(std::vector<RunResult>{RunResult()}), "");
}

TEST(EnergyJson, HoldsWhatIsNeededToComputeItAgain) {
  RunResult run = full_run();
  run.energy = account_energy(tom(), run);
  const auto json = nlohmann::json::parse(format_json(std::vector<RunResult>{run}, {}));
  const auto& r = json["runs"][0];
  const auto& e = r["energy"];
  EXPECT_EQ(e["model"], "tom-40nm");
  EXPECT_EQ(e["technology_nm"], 40);
  double parts = 0;
  for (const auto& part : e["parts"]) parts += part.get<double>();
  EXPECT_NEAR(parts, e["total_joules"].get<double>(), 1e-15);
  ASSERT_EQ(e["terms"].size(), run.energy.terms.size());
  for (const auto& t : e["terms"]) {
    uint64_t count = 0;
    for (const auto& name : t["counters"])
      count += r["counters"][name.get<std::string>()]["value"].get<uint64_t>();
    EXPECT_EQ(count, t["count"].get<uint64_t>()) << t["name"];
    EXPECT_EQ(
        t["femtojoules"].get<uint64_t>(),
        count * t["value"].get<uint64_t>() * t["times"].get<uint64_t>() / t["over"].get<uint64_t>())
        << t["name"];
  }
}

}  // namespace
}  // namespace nearwarp::report
