// Counters of SMs, their L1 caches and TLBs.
#include <algorithm>

#include "host/timing/report/counter_table.h"
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

using report::CounterRow;
using report::CounterSums;

/// The numbers that one SM counts, main or in a stack, of either width.
struct SmNumbers {
  const sm::SmCounters& sm;
  const sm::TlbCounters& tlb;
  const cache::L1Counters& l1;
  const sm::FetchCounters& fetch;
  const cache::L1Counters& instructions;
  const cache::L1Counters& constants;

  uint64_t issued(sm::Unit unit) const { return sm.issued_by_unit[static_cast<uint32_t>(unit)]; }
  uint64_t lanes(sm::EnergyClass c) const { return sm.threads_by_class[static_cast<uint32_t>(c)]; }
};

using N = const SmNumbers&;
using sm::Unit;
using E = sm::EnergyClass;

constexpr const char* kWarps = "warp-instructions";
constexpr const char* kThreads = "thread-instructions";
constexpr const char* kLanes = "Active lanes of the instructions of a class of the energy account";

constexpr CounterRow<SmNumbers> kSmCounters[] = {
    {"issued", kWarps, "Instructions issued, repeated ones included",
     [](N n) { return n.sm.issued(); }},
    {"issued_threads", kThreads, "Active lanes of the instructions issued",
     [](N n) { return n.sm.issued_threads(); }},
    {"issued_sp", kWarps, "Instructions issued to the SP ports",
     [](N n) { return n.issued(Unit::kSp); }},
    {"issued_sfu", kWarps, "Instructions issued to the SFU ports",
     [](N n) { return n.issued(Unit::kSfu); }},
    {"issued_dp", kWarps, "Instructions issued to the double-precision ports",
     [](N n) { return n.issued(Unit::kDp); }},
    {"issued_int", kWarps, "Instructions issued to the integer ports",
     [](N n) { return n.issued(Unit::kInt); }},
    {"issued_lsu", kWarps, "Instructions issued to the load-store unit",
     [](N n) { return n.issued(Unit::kLsu); }},
    {"lanes.integer", kThreads, kLanes, [](N n) { return n.lanes(E::kInteger); }},
    {"lanes.integer_multiply", kThreads, kLanes, [](N n) { return n.lanes(E::kIntegerMultiply); }},
    {"lanes.integer_divide", kThreads, kLanes, [](N n) { return n.lanes(E::kIntegerDivide); }},
    {"lanes.fp32", kThreads, kLanes, [](N n) { return n.lanes(E::kFp32); }},
    {"lanes.fp32_divide", kThreads, kLanes, [](N n) { return n.lanes(E::kFp32Divide); }},
    {"lanes.fp64", kThreads, kLanes, [](N n) { return n.lanes(E::kFp64); }},
    {"lanes.fp64_divide", kThreads, kLanes, [](N n) { return n.lanes(E::kFp64Divide); }},
    {"lanes.special", kThreads, kLanes, [](N n) { return n.lanes(E::kSpecial); }},
    {"lanes.shuffle", kThreads, kLanes, [](N n) { return n.lanes(E::kShuffle); }},
    {"lanes.constant", kThreads, kLanes, [](N n) { return n.lanes(E::kConstant); }},
    {"lanes.memory", kThreads, kLanes, [](N n) { return n.lanes(E::kMemory); }},
    {"lanes.control", kThreads, kLanes, [](N n) { return n.lanes(E::kControl); }},
    {"register_reads", "registers", "32-bit registers of a lane that instructions read",
     [](N n) { return n.sm.register_reads; }},
    {"register_writes", "registers", "32-bit registers of a lane that instructions write",
     [](N n) { return n.sm.register_writes; }},
    {"active_cycles", "core cycles", "Cycles in which something was issued, summed over SMs",
     [](N n) { return n.sm.active_cycles; }},
    {"loads", kWarps, "Loads from global, local and generic memory",
     [](N n) { return n.sm.loads; }},
    {"stores", kWarps, "Stores to global, local and generic memory",
     [](N n) { return n.sm.stores; }},
    {"atomics", kWarps, "Atomics and reductions on global memory",
     [](N n) { return n.sm.atomics; }},
    {"load_lines", "lines", "Cache lines that loads touched", [](N n) { return n.sm.load_lines; }},
    {"store_lines", "lines", "Cache lines that stores touched",
     [](N n) { return n.sm.store_lines; }},
    {"atomic_lines", "lines", "Cache lines that atomics touched, once for each packet",
     [](N n) { return n.sm.atomic_lines; }},
    {"shared_accesses", kWarps, "Accesses to shared memory",
     [](N n) { return n.sm.shared_accesses; }},
    {"shared_cycles", "core cycles", "Time of accesses to shared memory, bank conflicts included",
     [](N n) { return n.sm.shared_cycles; }},
    {"miss_latency", "core cycles",
     "Time from an L1 miss's request to its reply, summed over misses",
     [](N n) { return n.sm.miss_latency; }},
    {"fetch.fetches", "fetches", "Fetches into a warp's instruction buffer, where they take time",
     [](N n) { return n.fetch.fetches; }},
    {"fetch.wasted", "fetches", "Fetches of instructions that the warp jumped over",
     [](N n) { return n.fetch.wasted; }},
    {"fetch.misses", "lines", "Lines of instructions that the instruction cache requested",
     [](N n) { return n.instructions.read_misses; }},
    {"constants.misses", "lines", "Lines of constants that the constant cache requested",
     [](N n) { return n.constants.read_misses; }},
    {"tlb.hits", "lines", "Lines that found their page in the TLB", [](N n) { return n.tlb.hits; }},
    {"tlb.misses", "lines", "Lines that waited for their page", [](N n) { return n.tlb.misses; }},
    {"tlb.walks", "walks", "Page walks", [](N n) { return n.tlb.walks; }},
    {"tlb.walk_reads", "reads", "Page-table entries that page walks read",
     [](N n) { return n.tlb.walk_reads; }},
    {"tlb.walk_reads_remote", "reads", "Page-table entries that page walks read in another stack",
     [](N n) { return n.tlb.walk_reads_remote; }},
    {"tlb.walk_cycles", "core cycles",
     "Time from a page walk's first read to its last reply, summed over walks",
     [](N n) { return n.tlb.walk_cycles; }},
    {"tlb.wait_cycles", "core cycles",
     "Time that operations waited for a page, summed over operations",
     [](N n) { return n.tlb.wait_cycles; }},
    {"tlb.flushes", "flushes", "Times that the whole TLB was invalidated",
     [](N n) { return n.tlb.flushes; }},
    {"barriers", "warps", "Arrivals at barriers", [](N n) { return n.sm.barriers; }},
    {"l1.read_hits", "lines", "Loads that hit", [](N n) { return n.l1.read_hits; }},
    {"l1.read_misses", "lines", "Loads that missed and sent a request",
     [](N n) { return n.l1.read_misses; }},
    {"l1.read_merges", "lines", "Loads that joined a miss under way",
     [](N n) { return n.l1.read_merges; }},
    {"l1.write_hits", "lines", "Stores whose line was present",
     [](N n) { return n.l1.write_hits; }},
    {"l1.write_misses", "lines", "Stores whose line was absent",
     [](N n) { return n.l1.write_misses; }},
    {"l1.flushes", "flushes", "Times that the whole cache was invalidated",
     [](N n) { return n.l1.flushes; }},
    {"l1.invalidated_lines", "lines", "Single lines that were invalidated",
     [](N n) { return n.l1.invalidated_lines; }},
};

/// Counters of SMs whose L1 works by sectors or keeps stores.
constexpr CounterRow<SmNumbers> kL1Counters[] = {
    {"l1.sector_misses", "sectors", "Sectors fetched", [](N n) { return n.l1.sector_misses; }},
    {"l1.sector_write_misses", "sectors", "Absent sectors (or lines) that were stored to",
     [](N n) { return n.l1.sector_write_misses; }},
    {"l1.write_backs", "lines", "Dirty lines replaced", [](N n) { return n.l1.write_backs; }},
    {"l1.lines_left_dirty", "lines",
     "Lines of stores that were kept and never written back, dropped ones included",
     [](N n) { return n.l1.lines_dirtied - n.l1.write_backs; }},
};

}  // namespace

void collect_sms(System& system, std::string_view prefix, std::span<const uint16_t> sms,
                 report::RunResult& result) {
  CounterSums<SmNumbers> sums(kSmCounters), l1(kL1Counters);
  bool plain = true;
  for (const uint16_t i : sms)
    with_sm(system, i, [&](const auto& s) {
      const SmNumbers n{s.counters,       s.tlb.counters,         s.l1.counters,
                        s.fetch.counters, s.fetch.cache.counters, s.constants.cache.counters};
      sums.add(n);
      l1.add(n);
      plain = plain && s.l1.lines.count == 0;
    });
  sums.append_to(result, prefix);
  if (!plain) l1.append_to(result, prefix);
}

void collect_committed(System& system, report::RunResult& result) {
  const std::span<const uint16_t> stack_sms = system.members("stack_sm");
  for (uint32_t i = 0; i < system.table.count; ++i) {
    if (!kernels::is_sm(system.component(i).kind)) continue;
    const sm::SmCounters n = with_sm(system, i, [](const auto& s) { return s.counters; });
    result.warp_instructions += n.issued() - n.redundant;
    result.thread_instructions += n.issued_threads() - n.redundant_threads;
    if (std::find(stack_sms.begin(), stack_sms.end(), i) != stack_sms.end())
      result.offloaded_thread_instructions += n.issued_threads();
  }
}

}  // namespace nearwarp::sim
