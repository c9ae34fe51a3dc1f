#include "host/mechanisms/mpu/counters.h"

#include <string>
#include <utility>

#include "host/timing/report/counter_table.h"

namespace nearwarp::mpu {

namespace {

using report::CounterRow;
using report::CounterSums;
using C = const Counters&;

constexpr const char* kWarps = "warp-instructions";
constexpr const char* kCycles = "core cycles";

constexpr uint64_t held(C c, Step step) { return c.held[static_cast<uint32_t>(step)]; }

constexpr CounterRow<Counters> kCounters[] = {
    {"near", kWarps, "Executed by near-bank units", [](C c) { return c.near; }},
    {"far", kWarps, "Executed in subcores, though near-bank units could",
     [](C c) { return c.far; }},
    {"fixed", kWarps, "Of the far-bank operation set", [](C c) { return c.fixed; }},
    {"shared", kWarps, "Accesses to the near-bank shared memory", [](C c) { return c.shared; }},
    {"loads_near", kWarps, "Loads that the load-store unit offloads",
     [](C c) { return c.loads_near; }},
    {"stores_near", kWarps, "Stores that the load-store unit offloads",
     [](C c) { return c.stores_near; }},
    {"inactive", kWarps, "Loads and stores kept: not all lanes take part",
     [](C c) { return c.inactive; }},
    {"scattered", kWarps, "Loads and stores kept: their addresses are not one run",
     [](C c) { return c.scattered; }},
    {"remote", kWarps, "Loads and stores kept: data of another core", [](C c) { return c.remote; }},
    {"other_unit", kWarps, "Loads and stores kept: data of another near-bank unit",
     [](C c) { return c.other_unit; }},
    {"loaded_to_near", "registers", "Results of loads and atomics written near the banks",
     [](C c) { return c.loaded_to_near; }},
    {"moves_near", "registers", "Moved to the near-bank register file",
     [](C c) { return c.moves_near; }},
    {"moves_far", "registers", "Moved to the far-bank register file",
     [](C c) { return c.moves_far; }},
    {"track_hits", "registers", "That were where instructions wanted them, at last",
     [](C c) { return c.track_hits; }},
    {"held_value", kCycles, "Warps waited for the value of a register that is to move",
     [](C c) { return held(c, Step::kValue); }},
    {"held_move", kCycles, "Warps waited for registers that moved",
     [](C c) { return held(c, Step::kMove); }},
    {"held_operands", kCycles, "Warps waited for operands of near-bank instructions",
     [](C c) { return held(c, Step::kOperands); }},
    {"held_room", kCycles, "Warps waited with as many near-bank instructions as they may have",
     [](C c) { return held(c, Step::kRoom); }},
    {"near_cycles", kCycles, "From the issue of a near-bank instruction to its commit, summed",
     [](C c) { return c.near_cycles; }},
    {"near_tsv_cycles", kCycles, "Of these, for the TSVs and on them",
     [](C c) { return c.near_tsv; }},
    {"near_collector_cycles", kCycles,
     "Of these, for an operand collector, or behind what waits for one",
     [](C c) { return c.near_collector; }},
    {"near_alu_cycles", kCycles, "Of these, in a collector until the unit's ALU was free",
     [](C c) { return c.near_alu; }},
    {"near_execution_cycles", kCycles, "Of these, executing", [](C c) { return c.near_executing; }},
    {"near_commit_cycles", kCycles, "Of these, until the subcore knew that they were executed",
     [](C c) { return c.near_commit; }},
    {"shared_cycles", kCycles, "Of near_cycles: of accesses to the near-bank shared memory",
     [](C c) { return c.shared_cycles; }},
    {"load_cycles", kCycles,
     "From when the load-store unit offloads a load to the end of its last line, summed",
     [](C c) { return c.load_cycles; }},
};

/// Lines that all vaults have read for offloaded loads, whose data stays near the banks, and the
/// time that these reads took.
struct BankReads {
  uint64_t reads = 0, ticks = 0;
};
BankReads bank_reads(sim::System& system) {
  BankReads all;
  for (const uint16_t unit : system.of_kind(kernels::ComponentKind::kVault)) {
    const VaultCounters& n = system.state<VaultState>(unit).counters;
    all.reads += n.near_reads;
    all.ticks += n.near_ticks;
  }
  return all;
}

}  // namespace

void collect_places(sim::System& system, uint32_t number, const PlaceTables& tables,
                    report::RunResult& result) {
  CounterSums<Counters> sums(kCounters);
  each_side(system, number, [&](const auto& side) {
    sums.add(side.counters);
    result.offloaded_thread_instructions += side.counters.near_threads;
  });
  sums.append_to(result, "mpu.");
  uint64_t port_cycles = 0;
  each_unit(system, number,
            [&](const NearUnit& unit, uint32_t, uint32_t) { port_cycles += unit.port_cycles; });
  result.counters.push_back({"mpu.port_cycles", port_cycles, kCycles,
                             "In which near-bank units' ALUs were busy, summed"});
  const BankReads banks = bank_reads(system);
  result.counters.push_back(
      {"mpu.bank_reads", banks.reads, "lines", "Of offloaded loads, read at banks"});
  result.counters.push_back({"mpu.bank_cycles", banks.ticks / system.core_period, kCycles,
                             "That they took there, waiting included, summed over lines"});
  const auto in_code = [&](const char* name, uint64_t value, const char* text) {
    result.counters.push_back({name, value, "instructions", text});
  };
  in_code("mpu.code_near", tables.near, "In the program's code, for near-bank units");
  in_code("mpu.code_far", tables.far, "In the program's code, for subcores by a hint");
  in_code("mpu.code_fixed", tables.fixed, "In the program's code, for subcores by their opcode");
  in_code("mpu.code_open", tables.open, "In the program's code: the track table decides");
}

void report_alus(sim::System& system, uint32_t number, report::RunResult& result) {
  report::Utilisation use{
      "mpu.alus", "near-bank units' ALUs", 0, result.cycles * system.core_period, 0, 0, {}};
  each_unit(system, number, [&](const NearUnit& unit, uint32_t core, uint32_t at) {
    use.add(unit.port_cycles * system.core_period,
            "unit " + std::to_string(at) + " of core " + std::to_string(core));
  });
  result.utilisation.push_back(std::move(use));
}

}  // namespace nearwarp::mpu
