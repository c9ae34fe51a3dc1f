// Counters of L2 slices and vaults.
#include "device/dram/vault.h"
#include "host/timing/report/counter_table.h"
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

using report::CounterRow;
using report::CounterSums;

using L = const L2Counters&;

constexpr CounterRow<L2Counters> kL2Counters[] = {
    {"reads", "lines", "Reads looked up", [](L l) { return l.reads; }},
    {"read_hits", "lines", "Reads that hit", [](L l) { return l.read_hits; }},
    {"read_misses", "lines", "Reads that missed and went to memory",
     [](L l) { return l.read_misses; }},
    {"read_merges", "lines", "Reads that joined a miss under way",
     [](L l) { return l.read_merges; }},
    {"writes", "lines", "Writes taken in", [](L l) { return l.writes; }},
    {"write_hits", "lines", "Writes whose line was present", [](L l) { return l.write_hits; }},
    {"atomics", "lines", "Atomics executed", [](L l) { return l.atomics; }},
    {"atomic_busy", "L2 cycles",
     "Time taken by lanes of atomics that wanted one address, summed over slices",
     [](L l) { return l.atomic_busy_cycles; }},
    {"invalidations", "lines", "Invalidations received", [](L l) { return l.invalidations; }},
    {"lines_invalidated", "lines", "Lines that invalidations removed",
     [](L l) { return l.lines_invalidated; }},
    {"fills", "lines", "Lines that came from memory", [](L l) { return l.fills; }},
    {"evictions", "lines", "Lines replaced", [](L l) { return l.evictions; }},
    {"requests", "packets", "Packets taken from the network", [](L l) { return l.requests_in; }},
    {"request_wait_ticks", "ticks",
     "Time from requests' arrival to their look-up, summed over packets",
     [](L l) { return l.request_wait; }},
    {"replies", "packets", "Packets sent into the network, but for those of service queues",
     [](L l) { return l.replies_out; }},
    {"reply_wait_ticks", "ticks",
     "Time from replies being ready to their leaving, summed over packets",
     [](L l) { return l.reply_wait; }},
};

/// Counters of slices that work by sectors.
constexpr CounterRow<L2Counters> kSectorCounters[] = {
    {"sector_misses", "sectors", "Sectors fetched", [](L l) { return l.sector_misses; }},
    {"sector_write_misses", "sectors", "Sectors written that were not there",
     [](L l) { return l.sector_write_misses; }},
    {"write_backs", "lines", "Dirty lines replaced", [](L l) { return l.write_backs; }},
    {"sectors_written_back", "sectors", "Dirty sectors of replaced lines",
     [](L l) { return l.sectors_written_back; }},
    {"sectors_left_dirty", "sectors", "Sectors written to the L2 and not yet to memory at the end",
     [](L l) { return l.sectors_dirtied - l.sectors_written_back; }},
};

/// Counters of slices that keep whole lines.
constexpr CounterRow<L2Counters> kLineCounters[] = {
    {"write_allocates", "lines",
     "Absent lines that were written as a whole, so that nothing was fetched",
     [](L l) { return l.write_allocates; }},
    {"write_fetches", "lines", "Lines fetched because they were written",
     [](L l) { return l.write_fetches; }},
    {"write_waits", "lines", "Writes that waited for their line and stayed in it",
     [](L l) { return l.write_waits; }},
    {"writes_through", "lines", "Writes that went on to memory",
     [](L l) { return l.writes_through; }},
    {"write_backs", "lines", "Dirty lines written back", [](L l) { return l.write_backs; }},
    {"lines_left_dirty", "lines", "Lines written to the L2 and not yet to memory at the end",
     [](L l) { return l.lines_dirtied - l.write_backs; }},
};

/// Counters of slices that give lines up when a launch begins.
constexpr CounterRow<L2Counters> kLaunchCounters[] = {
    {"lines_given_up", "lines", "Lines dropped because a launch began",
     [](L l) { return l.lines_given_up; }},
    {"launch_write_backs", "lines", "Dirty lines written back because a launch began",
     [](L l) { return l.launch_write_backs; }},
    {"atomics_passed", "lines", "Atomics that went on to memory",
     [](L l) { return l.atomics_passed; }},
    {"launch_cycles", "L2 cycles",
     "Time without look-ups because a launch began, summed over slices",
     [](L l) { return l.launch_cycles; }},
};

using H = const L2HalvesCounters&;

/// Counters of slices that keep copies of the other half's lines.
constexpr CounterRow<L2HalvesCounters> kHalvesCounters[] = {
    {"far_hits", "lines", "Reads of the other half's lines that found a copy",
     [](H h) { return h.far_hits; }},
    {"far_merges", "lines", "Reads of the other half's lines that joined a read under way",
     [](H h) { return h.far_merges; }},
    {"far_reads", "packets", "Reads that found no copy and went to the other half",
     [](H h) { return h.far_reads; }},
    {"far_sectors", "sectors", "Sectors that reads of the other half asked for",
     [](H h) { return h.far_sectors; }},
    {"far_fills", "packets", "Replies to reads of the other half", [](H h) { return h.far_fills; }},
    {"far_writes", "packets", "Writes and atomics that went to the other half",
     [](H h) { return h.far_writes; }},
    {"from_twins", "packets", "Requests of the other half looked up",
     [](H h) { return h.from_twin; }},
    {"copies_ended", "packets", "Invalidations of copies sent to the other half",
     [](H h) { return h.invalidations_sent; }},
    {"copies_given_up", "lines", "Copies that were dropped as out of date",
     [](H h) { return h.copies_given_up; }},
};

/// A copy is written as what comes from memory is.
constexpr report::EnergyRule kCopyEnergy[] = {
    {report::EnergyPart::kL2, "l2.copy_write", "l2.far_fills", "l2.write_fj",
     report::EnergyScale::kEvents},
};

using V = const VaultCounters&;

constexpr CounterRow<VaultCounters> kVaultCounters[] = {
    {"reads", "requests", "Reads taken in", [](V v) { return v.reads; }},
    {"writes", "requests", "Writes taken in", [](V v) { return v.writes; }},
    {"row_hits", "requests", "Requests that found their row open", [](V v) { return v.row_hits; }},
    {"row_misses", "requests", "Requests that found the bank closed",
     [](V v) { return v.row_misses; }},
    {"row_conflicts", "requests", "Requests that found another row open",
     [](V v) { return v.row_conflicts; }},
    {"activates", "commands", "Row activations", [](V v) { return v.activates; }},
    {"precharges", "commands", "Precharges", [](V v) { return v.precharges; }},
    {"refreshes", "commands", "Refreshes of all banks, or of a part",
     [](V v) { return v.refreshes; }},
    {"read_commands", "commands", "Column reads", [](V v) { return v.read_commands; }},
    {"write_commands", "commands", "Column writes", [](V v) { return v.write_commands; }},
    {"bytes_read", "bytes", "Data read over the TSVs", [](V v) { return v.data_bytes_read; }},
    {"bytes_written", "bytes", "Data written over the TSVs",
     [](V v) { return v.data_bytes_written; }},
    {"bus_busy_ticks", "ticks", "Time that TSVs carried data, summed over vaults",
     [](V v) { return v.bus_busy_ticks; }},
    {"latency_ticks", "ticks", "Time from entering the vault to leaving it, summed over replies",
     [](V v) { return v.latency_ticks; }},
};

}  // namespace

void collect_memory(System& system, report::RunResult& result) {
  CounterSums<L2Counters> l2(kL2Counters), sectors(kSectorCounters), lines(kLineCounters);
  CounterSums<L2Counters> launches(kLaunchCounters);
  CounterSums<L2HalvesCounters> halves(kHalvesCounters);
  bool by_sectors = false, keeps_lines = false, gives_up = false, has_copies = false;
  CounterSums<VaultCounters> dram(kVaultCounters);
  uint64_t bus_ticks = 0;
  std::byte* base = system.arena.base();
  for (const kernels::Component& c : system.components()) {
    if (c.kind == kernels::ComponentKind::kL2Slice) {
      const auto& slice = kernels::at_offset<L2SliceState>(base, c.state);
      l2.add(slice.counters);
      sectors.add(slice.counters);
      lines.add(slice.counters);
      halves.add(slice.halves.counters);
      has_copies = has_copies || slice.halves.passing.count != 0;
      by_sectors = by_sectors || slice.sectors.count != 0;
      launches.add(slice.counters);
      gives_up = gives_up || kernels::at_offset<const L2SliceParams>(base, c.params).at_launch !=
                                 L2AtLaunch::kKeep;
      keeps_lines = keeps_lines || slice.dirty_lines.count != 0;
    } else if (c.kind == kernels::ComponentKind::kVault) {
      auto& vault = kernels::at_offset<VaultState>(base, c.state);
      finish_vault(kernels::at_offset<const VaultParams>(base, c.params), vault, base,
                   result.cycles * system.core_period);
      dram.add(vault.counters);
      bus_ticks += vault.counters.bus_busy_ticks;
    }
  }
  l2.append_to(result, "l2.");
  if (by_sectors) sectors.append_to(result, "l2.");
  if (keeps_lines) lines.append_to(result, "l2.");
  if (has_copies) {
    halves.append_to(result, "l2.");
    result.parts.added.push_back(kCopyEnergy);
  }
  if (gives_up) launches.append_to(result, "l2.");
  dram.append_to(result, "dram.");
  result.counters.push_back({"dram.bus_busy", bus_ticks / system.core_period, "core cycles",
                             "Time that data buses carried data, summed over vaults"});
}

}  // namespace nearwarp::sim
