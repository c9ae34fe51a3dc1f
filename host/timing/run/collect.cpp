// From the components' counters to a run's result.
#include "host/timing/run/collect.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "host/mechanisms/tom/pass/print.h"
#include "host/recording/repeats.h"
#include "host/timing/run/collect_time.h"

namespace nearwarp::sim {

namespace {

using kernels::ComponentKind;

/// Adds counters of one kind of component to the result, in a fixed order.
class Collector {
 public:
  Collector(System& system, report::RunResult& result) : system_(system), result_(result) {}

  template <class S, class F>
  uint64_t sum(ComponentKind kind, F&& f) {
    uint64_t total = 0;
    for (const uint16_t i : system_.of_kind(kind)) total += f(system_.state<S>(i));
    return total;
  }
  template <class F>
  uint64_t sum_sms(std::span<const uint16_t> sms, F&& f) {
    uint64_t total = 0;
    for (const uint16_t i : sms) total += with_sm(system_, i, f);
    return total;
  }
  void add(std::string name, uint64_t value, std::string unit, std::string description) {
    result_.counters.push_back({std::move(name), value, std::move(unit), std::move(description)});
  }
  System& system() { return system_; }

 private:
  System& system_;
  report::RunResult& result_;
};

void collect_sms(Collector& c, const std::string& prefix, std::span<const uint16_t> sms) {
  const auto sm = [&](const char* name, const char* unit, const char* text, auto&& f) {
    c.add(prefix + name, c.sum_sms(sms, f), unit, text);
  };
  sm("issued", "warp-instructions", "Instructions issued, repeated ones included",
     [](const auto& s) { return s.counters.issued; });
  sm("issued_threads", "thread-instructions", "Active lanes of the instructions issued",
     [](const auto& s) { return s.counters.issued_threads; });
  sm("issued_sp", "warp-instructions", "Of these, on the SP ports",
     [](const auto& s) { return s.counters.issued_by_unit[0]; });
  sm("issued_sfu", "warp-instructions", "Of these, on the SFU ports",
     [](const auto& s) { return s.counters.issued_by_unit[1]; });
  sm("issued_dp", "warp-instructions", "Of these, on the double-precision ports",
     [](const auto& s) { return s.counters.issued_by_unit[2]; });
  sm("issued_lsu", "warp-instructions", "Of these, to the load-store unit",
     [](const auto& s) { return s.counters.issued_by_unit[3]; });
  constexpr const char* kClasses[] = {
      "integer",     "integer_multiply", "integer_divide", "fp32",     "fp32_divide", "fp64",
      "fp64_divide", "special",          "shuffle",        "constant", "memory",      "control"};
  static_assert(std::size(kClasses) == sm::kNumEnergyClasses);
  for (uint32_t k = 0; k < sm::kNumEnergyClasses; ++k)
    sm((std::string("lanes.") + kClasses[k]).c_str(), "thread-instructions",
       "Active lanes of the instructions of a class of the energy account",
       [k](const auto& s) { return s.counters.threads_by_class[k]; });
  sm("register_reads", "registers", "32-bit registers of a lane that instructions read",
     [](const auto& s) { return s.counters.register_reads; });
  sm("register_writes", "registers", "32-bit registers of a lane that instructions write",
     [](const auto& s) { return s.counters.register_writes; });
  sm("active_cycles", "core cycles", "Cycles in which something was issued, summed over SMs",
     [](const auto& s) { return s.counters.active_cycles; });
  sm("loads", "warp-instructions", "Loads from global, local and generic memory",
     [](const auto& s) { return s.counters.loads; });
  sm("stores", "warp-instructions", "Stores to global, local and generic memory",
     [](const auto& s) { return s.counters.stores; });
  sm("atomics", "warp-instructions", "Atomics and reductions on global memory",
     [](const auto& s) { return s.counters.atomics; });
  sm("load_lines", "lines", "Cache lines that loads touched",
     [](const auto& s) { return s.counters.load_lines; });
  sm("store_lines", "lines", "Cache lines that stores touched",
     [](const auto& s) { return s.counters.store_lines; });
  sm("atomic_lines", "lines", "Cache lines that atomics touched",
     [](const auto& s) { return s.counters.atomic_lines; });
  sm("shared_accesses", "warp-instructions", "Accesses to shared memory",
     [](const auto& s) { return s.counters.shared_accesses; });
  sm("shared_cycles", "core cycles", "Cycles that they took, bank conflicts included",
     [](const auto& s) { return s.counters.shared_cycles; });
  sm("miss_latency", "core cycles", "From an L1 miss's request to its reply, summed over misses",
     [](const auto& s) { return s.counters.miss_latency; });
  using T = sm::TlbCounters;
  const auto tlb = [&](const char* name, const char* unit, const char* text, uint64_t T::*member) {
    sm((std::string("tlb.") + name).c_str(), unit, text,
       [member](const auto& s) { return s.tlb.counters.*member; });
  };
  tlb("hits", "lines", "Lines that found their page in the TLB", &T::hits);
  tlb("misses", "lines", "Lines that waited for their page", &T::misses);
  tlb("walks", "walks", "Page walks", &T::walks);
  tlb("walk_reads", "reads", "Page-table entries that they read", &T::walk_reads);
  tlb("walk_reads_remote", "reads", "Of these, in another stack", &T::walk_reads_remote);
  tlb("walk_cycles", "core cycles", "From a walk's first read to its last reply, summed over walks",
      &T::walk_cycles);
  tlb("wait_cycles", "core cycles",
      "Time that operations waited for a page, summed over operations", &T::wait_cycles);
  tlb("flushes", "flushes", "Times that the whole TLB was invalidated", &T::flushes);
  sm("barriers", "warps", "Arrivals at barriers",
     [](const auto& s) { return s.counters.barriers; });
  sm("l1.read_hits", "lines", "Loads that hit",
     [](const auto& s) { return s.l1.counters.read_hits; });
  sm("l1.read_misses", "lines", "Loads that missed and sent a request",
     [](const auto& s) { return s.l1.counters.read_misses; });
  sm("l1.read_merges", "lines", "Loads that joined a miss under way",
     [](const auto& s) { return s.l1.counters.read_merges; });
  sm("l1.write_hits", "lines", "Stores whose line was present",
     [](const auto& s) { return s.l1.counters.write_hits; });
  sm("l1.write_misses", "lines", "Stores whose line was not",
     [](const auto& s) { return s.l1.counters.write_misses; });
  sm("l1.flushes", "flushes", "Times that the whole cache was invalidated",
     [](const auto& s) { return s.l1.counters.flushes; });
  sm("l1.invalidated_lines", "lines", "Single lines that were invalidated",
     [](const auto& s) { return s.l1.counters.invalidated_lines; });
}

/// Candidates summed over SMs, by candidate.
std::vector<offload::CandidateCounters> sum_candidates(System& system) {
  std::vector<offload::CandidateCounters> total(system.sm(0).offload.candidates.count);
  for (uint32_t i = 0; i < system.num_sms(); ++i) {
    const auto* n = system.sm(i).offload.candidates.in(system.arena.base());
    for (size_t k = 0; k < total.size(); ++k) {
      total[k].instances += n[k].instances;
      total[k].refused_condition += n[k].refused_condition;
      total[k].refused_busy_tx += n[k].refused_busy_tx;
      total[k].refused_busy_rx += n[k].refused_busy_rx;
      total[k].refused_pending += n[k].refused_pending;
      total[k].no_memory_access += n[k].no_memory_access;
      total[k].offloaded += n[k].offloaded;
      total[k].learning += n[k].learning;
      total[k].kept += n[k].kept;
      total[k].kept_cycles += n[k].kept_cycles;
      total[k].returned += n[k].returned;
      total[k].offloaded_cycles += n[k].offloaded_cycles;
    }
  }
  for (const uint16_t i : system.members("stack_sm")) {
    const auto candidates = with_sm(system, i, [](const auto& s) { return s.offload.candidates; });
    const auto* n = candidates.in(system.arena.base());
    for (size_t k = 0; k < total.size(); ++k) {
      total[k].local_lines += n[k].local_lines;
      total[k].remote_lines += n[k].remote_lines;
    }
  }
  return total;
}

void collect_candidates(const runtime::Recording& recording, const ImageTables& image,
                        const std::vector<offload::CandidateCounters>& counters,
                        report::RunResult& result) {
  for (size_t k = 0; k < image.candidates.size(); ++k) {
    const compiler::OffloadCandidate& c = image.candidate_info[k];
    const compiler::Kernel& kernel = *recording.kernels[image.candidates[k].kernel];
    report::CandidateRow row;
    row.kernel = kernel.name;
    row.id = c.id;
    row.source_lines = compiler::source_lines(kernel, c);
    row.instances = counters[k].instances;
    row.offloaded = counters[k].offloaded;
    row.refused_condition = counters[k].refused_condition;
    row.refused_busy = counters[k].refused_busy_tx + counters[k].refused_busy_rx;
    row.refused_pending = counters[k].refused_pending;
    row.no_memory_access = counters[k].no_memory_access;
    row.learning = counters[k].learning;
    row.local_lines = counters[k].local_lines;
    row.remote_lines = counters[k].remote_lines;
    row.kept = counters[k].kept;
    row.kept_cycles = counters[k].kept_cycles;
    row.returned = counters[k].returned;
    row.offloaded_cycles = counters[k].offloaded_cycles;
    result.candidates.push_back(std::move(row));
  }
}

void collect_offload(Collector& c, const std::vector<offload::CandidateCounters>& candidates) {
  const std::span<const uint16_t> sms = c.system().sms;
  const auto sum = [&](const char* name, const char* text,
                       uint64_t offload::CandidateCounters::*member) {
    uint64_t total = 0;
    for (const offload::CandidateCounters& n : candidates) total += n.*member;
    c.add(std::string("offload.") + name, total, "instances", text);
  };
  using N = offload::CandidateCounters;
  sum("instances", "Candidate instances that reached the offload controller", &N::instances);
  sum("offloaded", "Instances that were offloaded", &N::offloaded);
  sum("refused_condition", "Kept: the condition does not hold", &N::refused_condition);
  sum("refused_busy_tx", "Kept: would add traffic to a busy TX channel", &N::refused_busy_tx);
  sum("refused_busy_rx", "Kept: would add traffic to a busy RX channel", &N::refused_busy_rx);
  sum("refused_pending", "Kept: the stack SM's warps are all spoken for", &N::refused_pending);
  sum("no_memory_access", "Kept: ended before their first memory access", &N::no_memory_access);
  sum("learning", "Begun while the mapping was being learnt; in none of the others", &N::learning);
  const auto lines = [&](const char* name, const char* text,
                         uint64_t offload::CandidateCounters::*member) {
    uint64_t total = 0;
    for (const offload::CandidateCounters& n : candidates) total += n.*member;
    c.add(std::string("offload.") + name, total, "lines", text);
  };
  lines("local_lines", "Sent to memory by stack SMs: to their own stack", &N::local_lines);
  lines("remote_lines", "Sent to memory by stack SMs: to another stack", &N::remote_lines);
  const auto add = [&](const char* name, const char* unit, const char* text, auto&& f) {
    c.add(std::string("offload.") + name,
          c.sum_sms(sms, [&](const auto& s) { return f(s.offload.counters); }), unit, text);
  };
  using O = offload::OffloadCounters;
  add("request_bytes", "bytes", "Offload requests", [](const O& o) { return o.request_bytes; });
  add("ack_bytes", "bytes", "Offload acknowledgements", [](const O& o) { return o.ack_bytes; });
  add("dirty_lines", "lines", "Lines invalidated because an offloaded block wrote them",
      [](const O& o) { return o.dirty_lines; });
  add("away_cycles", "core cycles", "From request to acknowledgement, summed over instances",
      [](const O& o) { return o.away_cycles; });
  c.add("offload.redundant", c.sum_sms(sms, [](const auto& s) { return s.counters.redundant; }),
        "warp-instructions", "Executed on the main GPU only to find the destination stack");
  c.add("offload.peak_pending", c.system().front_end().counters.peak_pending, "requests",
        "Most requests pending at one stack");
}

void collect_memory(Collector& c) {
  const auto l2 = [&](const char* name, const char* unit, const char* text, auto&& f) {
    c.add(std::string("l2.") + name,
          c.sum<L2SliceState>(ComponentKind::kL2Slice,
                              [&](const L2SliceState& s) { return f(s.counters); }),
          unit, text);
  };
  using L = L2Counters;
  l2("reads", "lines", "Reads looked up", [](const L& l) { return l.reads; });
  l2("read_hits", "lines", "Reads that hit", [](const L& l) { return l.read_hits; });
  l2("read_misses", "lines", "Reads that missed and went to memory",
     [](const L& l) { return l.read_misses; });
  l2("read_merges", "lines", "Reads that joined a miss under way",
     [](const L& l) { return l.read_merges; });
  l2("writes", "lines", "Writes passed on to memory", [](const L& l) { return l.writes; });
  l2("write_hits", "lines", "Of these, present", [](const L& l) { return l.write_hits; });
  l2("atomics", "lines", "Atomics executed", [](const L& l) { return l.atomics; });
  l2("invalidations", "lines", "Invalidations received",
     [](const L& l) { return l.invalidations; });
  l2("lines_invalidated", "lines", "Of these, present",
     [](const L& l) { return l.lines_invalidated; });
  l2("fills", "lines", "Lines that came from memory", [](const L& l) { return l.fills; });
  l2("evictions", "lines", "Lines replaced", [](const L& l) { return l.evictions; });

  const auto dram = [&](const char* name, const char* unit, const char* text, auto&& f) {
    c.add(std::string("dram.") + name,
          c.sum<VaultState>(ComponentKind::kVault,
                            [&](const VaultState& s) { return f(s.counters); }),
          unit, text);
  };
  using V = VaultCounters;
  dram("reads", "requests", "Reads taken in", [](const V& v) { return v.reads; });
  dram("writes", "requests", "Writes taken in", [](const V& v) { return v.writes; });
  dram("row_hits", "requests", "Found their row open", [](const V& v) { return v.row_hits; });
  dram("row_misses", "requests", "Found the bank closed", [](const V& v) { return v.row_misses; });
  dram("row_conflicts", "requests", "Found another row open",
       [](const V& v) { return v.row_conflicts; });
  dram("activates", "commands", "Row activations", [](const V& v) { return v.activates; });
  dram("precharges", "commands", "Precharges", [](const V& v) { return v.precharges; });
  dram("refreshes", "commands", "All-bank refreshes", [](const V& v) { return v.refreshes; });
  dram("read_commands", "commands", "Column reads", [](const V& v) { return v.read_commands; });
  dram("write_commands", "commands", "Column writes", [](const V& v) { return v.write_commands; });
  dram("bytes_read", "bytes", "Data read over the TSVs",
       [](const V& v) { return v.data_bytes_read; });
  dram("bytes_written", "bytes", "Data written over the TSVs",
       [](const V& v) { return v.data_bytes_written; });
  dram("bus_busy_ticks", "ticks", "Time that TSVs carried data, summed over vaults",
       [](const V& v) { return v.bus_busy_ticks; });
  dram("latency_ticks", "ticks", "From entering the vault to leaving it, summed over replies",
       [](const V& v) { return v.latency_ticks; });
}

/// Count the refreshes of idle vaults up to the end of the run.
void finish_vaults(System& system, Tick end) {
  std::byte* base = system.arena.base();
  for (const kernels::Component& c : system.components()) {
    if (c.kind != kernels::ComponentKind::kVault) continue;
    finish_vault(HostGroup{}, kernels::at_offset<const VaultParams>(base, c.params),
                 kernels::at_offset<VaultState>(base, c.state), base, end);
  }
}

struct ClassText {
  ChannelClass kind;
  const char* name;
  const char* text;
};
constexpr ClassText kClasses[] = {
    {ChannelClass::kGpuToMemory, "link.gpu_to_memory", "TX links"},
    {ChannelClass::kMemoryToGpu, "link.memory_to_gpu", "RX links"},
    {ChannelClass::kMemoryToMemory, "link.memory_to_memory", "Cross-stack links"},
    {ChannelClass::kSmToNetwork, "noc.from_sms", "SMs to the request crossbar"},
    {ChannelClass::kNetworkToSm, "noc.to_sms", "Reply crossbar to the SMs"},
    {ChannelClass::kOnChip, "noc.memory_side", "Crossbars, L2 slices and link ports"},
    {ChannelClass::kInvalidation, "noc.invalidations", "Invalidations of offloaded blocks' lines"},
    {ChannelClass::kPcie, "pcie", "PCI-E during the learning phase"},
    {ChannelClass::kInStack, "stack.internal", "Logic-layer switches, vaults and stack SMs"},
};

void collect_channels(Collector& c, report::RunResult& result) {
  System& system = c.system();
  for (const ClassText& k : kClasses) {
    uint64_t packets = 0, bytes = 0, busy = 0, count = 0;
    for (const ChannelInfo& info : system.channels) {
      if (info.kind != k.kind) continue;
      const Channel& channel = *system.arena.get(info.channel);
      packets += channel.producer_side.packets;
      bytes += channel.producer_side.bytes;
      busy += channel.producer_side.busy;
      ++count;
    }
    c.add(std::string(k.name) + ".packets", packets, "packets", std::string(k.text) + ": packets");
    c.add(std::string(k.name) + ".bytes", bytes, "bytes", std::string(k.text) + ": bytes sent");
    if (busy != 0)
      c.add(std::string(k.name) + ".busy_ticks", busy, "ticks",
            std::string(k.text) + ": time in transfers, summed over channels");
    if (k.kind == ChannelClass::kGpuToMemory) {
      result.traffic.gpu_to_memory_bytes = bytes;
      result.link_use.gpu_to_memory_busy_ticks = busy;
      // There is one link to and one from each stack.
      result.link_use.available_ticks = result.cycles * system.core_period * count;
    }
    if (k.kind == ChannelClass::kMemoryToGpu) {
      result.traffic.memory_to_gpu_bytes = bytes;
      result.link_use.memory_to_gpu_busy_ticks = busy;
    }
    if (k.kind == ChannelClass::kMemoryToMemory) result.traffic.memory_to_memory_bytes = bytes;
  }
}

void collect_launches(const runtime::Recording& recording, const ImageTables& image, System& system,
                      report::RunResult& result, uint64_t now_cycle) {
  const frontend::FrontEndState& f = system.front_end();
  const Tick* end = f.launch_end.in(system.arena.base());
  const std::vector<uint32_t> alike = runtime::first_alike(recording);
  const auto number = [&](uint32_t index) {
    return uint64_t{index} + recording.launches[index].left_before;
  };
  uint64_t before = 0;
  for (uint32_t i = 0; i < image.launches.size() && i <= f.launch; ++i) {
    const bool ended = i < f.launch;
    const uint64_t at = ended ? (end[i] + system.core_period - 1) / system.core_period : now_cycle;
    const runtime::LaunchRecord& l = recording.launches[image.recorded_launch[i]];
    report::KernelRow row;
    row.kernel = recording.kernels[l.kernel]->name;
    row.launch = number(image.recorded_launch[i]);
    row.alike = number(alike[image.recorded_launch[i]]);
    row.stands_for = l.stands_for;
    row.cycles = at - before;
    row.warp_instructions = ended ? l.warp_instructions : 0;
    row.thread_instructions = ended ? l.thread_instructions : 0;
    result.kernels.push_back(row);
    before = at;
    result.cycles = at;
  }
}

}  // namespace

void collect(const runtime::Recording& recording, const ImageTables& image, System& system,
             uint64_t now_cycle, report::RunResult& result) {
  const std::span<const uint16_t> stack_sms = system.members("stack_sm");
  Collector c(system, result);
  collect_launches(recording, image, system, result, now_cycle);
  c.add("run.cycles", result.cycles, "core cycles", "Simulated time");
  for (const ComponentClass& of : system.classes)
    if (is_sm_class(system, of)) collect_sms(c, of.name + ".", of.members);
  if (!stack_sms.empty()) {
    const auto candidates = sum_candidates(system);
    collect_offload(c, candidates);
    collect_candidates(recording, image, candidates, result);
  }
  finish_vaults(system, result.cycles * system.core_period);
  collect_memory(c);
  collect_channels(c, result);
  collect_time(system, result);
  for (uint32_t i = 0; i < system.table.count; ++i) {
    if (!kernels::is_sm(system.component(i).kind)) continue;
    const sm::SmCounters n = with_sm(system, i, [](const auto& s) { return s.counters; });
    result.warp_instructions += n.issued - n.redundant;
    result.thread_instructions += n.issued_threads - n.redundant_threads;
    if (std::find(stack_sms.begin(), stack_sms.end(), i) != stack_sms.end())
      result.offloaded_thread_instructions += n.issued_threads;
  }
}

}  // namespace nearwarp::sim
