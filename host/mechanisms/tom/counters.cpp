// Counters of offloading in a run's result, and a row for each candidate.
#include "host/mechanisms/tom/counters.h"

#include "host/mechanisms/tom/pass/print.h"
#include "host/mechanisms/tom/report/sections.h"
#include "host/mechanisms/tom/sides.h"
#include "host/timing/report/counter_table.h"

namespace nearwarp::tom {

namespace {

using report::CounterRow;
using report::CounterSums;
using C = const CandidateCounters&;

/// By candidate; all its SMs' together.
constexpr CounterRow<CandidateCounters> kCandidateCounters[] = {
    {"instances", "instances", "Candidate instances that reached the offload controller",
     [](C c) { return c.instances; }},
    {"offloaded", "instances", "Instances that were offloaded", [](C c) { return c.offloaded; }},
    {"refused_condition", "instances", "Kept: the condition does not hold",
     [](C c) { return c.refused_condition; }},
    {"refused_busy_tx", "instances", "Kept: would add traffic to a busy TX channel",
     [](C c) { return c.refused_busy_tx; }},
    {"refused_busy_rx", "instances", "Kept: would add traffic to a busy RX channel",
     [](C c) { return c.refused_busy_rx; }},
    {"refused_pending", "instances", "Kept: the stack SM's warps are all spoken for",
     [](C c) { return c.refused_pending; }},
    {"no_memory_access", "instances", "Kept: ended before their first memory access",
     [](C c) { return c.no_memory_access; }},
    {"learning", "instances", "Begun while the mapping was being learnt; in none of the others",
     [](C c) { return c.learning; }},
    {"local_lines", "lines", "Sent to memory by stack SMs: to their own stack",
     [](C c) { return c.local_lines; }},
    {"remote_lines", "lines", "Sent to memory by stack SMs: to another stack",
     [](C c) { return c.remote_lines; }},
};

/// The counters of a candidate under tuned offloading.
constexpr CounterRow<CandidateCounters> kRoundCounters[] = {
    {"entries", "entries", "Times that a warp came to a candidate", [](C c) { return c.entries; }},
    {"home_rounds", "rounds", "Loop rounds executed on the main GPU",
     [](C c) { return c.home_rounds; }},
    {"near_rounds", "rounds", "Loop rounds executed on stack SMs",
     [](C c) { return c.near_rounds; }},
    {"home_cycles", "core cycles", "Time of candidates on the main GPU, summed over warps",
     [](C c) { return c.home_cycles; }},
    {"near_cycles", "core cycles",
     "From the decision for an offload to its return, summed over warps",
     [](C c) { return c.offloaded_cycles; }},
    {"sent_back", "instances", "Offloaded, and sent back by the memory traffic monitor",
     [](C c) { return c.sent_back; }},
    {"begins", "instructions", "PIMBEGINs executed at loop heads", [](C c) { return c.begins; }},
};

/// Counters of a candidate where shared arrays go along.
constexpr CounterRow<CandidateCounters> kSharedCounters[] = {
    {"refused_shared", "instances", "Kept: the stack SM's shared memory is all spoken for",
     [](C c) { return c.refused_shared; }},
    {"table_bytes", "bytes", "Of shared arrays, sent along with offload requests",
     [](C c) { return c.table_bytes; }},
    {"merged_bytes", "bytes", "Of shared arrays, come back and merged",
     [](C c) { return c.merged_bytes; }},
    {"merge_cycles", "core cycles",
     "Waited for that behind the acknowledgement, summed over instances",
     [](C c) { return c.merge_cycles; }},
};

/// The numbers that one main SM counts.
struct RequesterNumbers {
  const OffloadCounters& offload;
  const sm::SmCounters& sm;
};
using R = const RequesterNumbers&;

constexpr CounterRow<RequesterNumbers> kRequesterCounters[] = {
    {"request_bytes", "bytes", "Offload requests", [](R r) { return r.offload.request_bytes; }},
    {"ack_bytes", "bytes", "Offload acknowledgements", [](R r) { return r.offload.ack_bytes; }},
    {"dirty_lines", "lines", "Lines invalidated because an offloaded block wrote them",
     [](R r) { return r.offload.dirty_lines; }},
    {"away_cycles", "core cycles", "From request to acknowledgement, summed over instances",
     [](R r) { return r.offload.away_cycles; }},
    {"redundant", "warp-instructions",
     "Executed on the main GPU only to find the destination stack",
     [](R r) { return r.sm.redundant; }},
};

using Member = uint64_t CandidateCounters::*;

/// Counted by main SMs, and by stack SMs.
constexpr Member kAtHome[] = {
    &CandidateCounters::instances,
    &CandidateCounters::refused_condition,
    &CandidateCounters::refused_busy_tx,
    &CandidateCounters::refused_busy_rx,
    &CandidateCounters::refused_pending,
    &CandidateCounters::no_memory_access,
    &CandidateCounters::offloaded,
    &CandidateCounters::learning,
    &CandidateCounters::kept,
    &CandidateCounters::kept_cycles,
    &CandidateCounters::returned,
    &CandidateCounters::offloaded_cycles,
    &CandidateCounters::entries,
    &CandidateCounters::sent_back,
    &CandidateCounters::home_rounds,
    &CandidateCounters::home_cycles,
    &CandidateCounters::near_rounds,
    &CandidateCounters::begins,
    &CandidateCounters::refused_shared,
    &CandidateCounters::table_bytes,
    &CandidateCounters::merged_bytes,
    &CandidateCounters::merge_cycles,
};
constexpr Member kInStack[] = {&CandidateCounters::local_lines, &CandidateCounters::remote_lines};

/// Candidates summed over SMs, by candidate.
std::vector<CandidateCounters> sum_candidates(sim::System& system, uint32_t number, size_t count) {
  std::vector<CandidateCounters> total(std::max<size_t>(1, count));
  const auto add = [&](const CandidateCounters* n, std::span<const Member> members) {
    for (size_t k = 0; k < total.size(); ++k)
      for (const Member m : members) total[k].*m += n[k].*m;
  };
  each_side(system, number, [&](uint32_t, const auto& side) {
    const CandidateCounters* n = side.candidates.in(system.arena.base());
    add(n, kAtHome);
    add(n, kInStack);
  });
  return total;
}

CandidateRow row_of(const compiler::Kernel& kernel, const compiler::OffloadCandidate& c,
                    const CandidateCounters& n, uint64_t stack_slots, uint64_t home_warps) {
  CandidateRow row;
  row.kernel = kernel.name;
  row.id = c.id;
  row.source_lines = compiler::source_lines(kernel, c);
  row.instances = n.instances;
  row.offloaded = n.offloaded;
  row.refused_condition = n.refused_condition;
  row.refused_busy = n.refused_busy_tx + n.refused_busy_rx;
  row.refused_pending = n.refused_pending;
  row.no_memory_access = n.no_memory_access;
  row.learning = n.learning;
  row.local_lines = n.local_lines;
  row.remote_lines = n.remote_lines;
  row.kept = n.kept;
  row.kept_cycles = n.kept_cycles;
  row.returned = n.returned;
  row.offloaded_cycles = n.offloaded_cycles;
  row.entries = n.entries;
  row.sent_back = n.sent_back;
  row.home_rounds = n.home_rounds;
  row.home_cycles = n.home_cycles;
  row.near_rounds = n.near_rounds;
  row.shared = c.shared.kind == tuning::SharedKind::kAccumulator ? "accumulator"
               : c.shared.kind == tuning::SharedKind::kTable     ? "table"
                                                                 : "";
  row.shared_bytes = c.shared.bytes;
  row.refused_shared = n.refused_shared;
  row.table_bytes = n.table_bytes;
  row.merged_bytes = n.merged_bytes;
  row.merge_cycles = n.merge_cycles;
  row.stack_slots = stack_slots;
  row.home_warps = home_warps;
  return row;
}

/// Warps of all stack SMs.
uint64_t stack_slots(sim::System& system) {
  uint64_t slots = 0;
  for (const uint16_t i : system.members("stack_sm"))
    sim::with_sm(system, i, [&](const auto& s) { slots += s.warps.count; });
  return slots;
}

}  // namespace

void collect_offloading(const runtime::Recording& recording, const OffloadTables& tables,
                        uint32_t number, bool tuned, bool shared, sim::System& system,
                        report::RunResult& result) {
  const std::vector<CandidateCounters> candidates =
      sum_candidates(system, number, tables.candidates.size());
  CounterSums<CandidateCounters> by_candidate(kCandidateCounters);
  for (const CandidateCounters& c : candidates) by_candidate.add(c);
  by_candidate.append_to(result, "offload.");
  if (tuned) {
    CounterSums<CandidateCounters> rounds(kRoundCounters);
    for (const CandidateCounters& c : candidates) rounds.add(c);
    rounds.append_to(result, "tuning.");
  }
  if (tuned && shared) {
    CounterSums<CandidateCounters> arrays(kSharedCounters);
    for (const CandidateCounters& c : candidates) arrays.add(c);
    arrays.append_to(result, "tuning.");
    result.counters.push_back({"tuning.peak_shared",
                               arbiter(system, number).counters.peak_rows * tables.row_bytes,
                               "bytes", "Most shared memory spoken for at one stack SM"});
  }

  CounterSums<RequesterNumbers> by_requester(kRequesterCounters);
  uint64_t peak = arbiter(system, number).counters.peak_pending;
  each_side(system, number, [&](uint32_t endpoint, const auto& side) {
    peak = std::max(peak, side.counters.peak_guests);
    const sm::SmCounters n =
        sim::with_sm(system, endpoint, [](const auto& s) { return s.counters; });
    by_requester.add({side.counters, n});
  });
  by_requester.append_to(result, "offload.");
  result.counters.push_back(
      {"offload.peak_pending", peak, "requests", "Most requests pending at one stack"});

  for (size_t k = 0; k < tables.candidates.size(); ++k) {
    const uint32_t kernel = tables.candidates[k].kernel;
    candidates_of(result).push_back(row_of(*recording.kernels[kernel], tables.info[k],
                                           candidates[k], stack_slots(system),
                                           tables.home_warps[kernel]));
  }
}

}  // namespace nearwarp::tom
