#include "host/mechanisms/opportunistic/counters.h"

#include <algorithm>

#include "host/mechanisms/opportunistic/report/energy.h"
#include "host/mechanisms/opportunistic/settings.h"
#include "host/timing/report/counter_table.h"

namespace nearwarp::opportunistic {

namespace {

using report::CounterRow;
using report::CounterSums;
using C = const ChainCounters&;
using Q = const ServiceCounters&;

constexpr CounterRow<ChainCounters> kChainCounters[] = {
    {"instances", "chains", "Times that a warp came to an offload chain",
     [](C c) { return c.instances; }},
    {"offloaded", "chains", "Of these: a ComputePacket was sent", [](C c) { return c.offloaded; }},
    {"packets", "packets", "ComputePackets sent", [](C c) { return c.packets; }},
    {"to_sms", "packets", "Of these: to another SM, where its data meets",
     [](C c) { return c.to_sms; }},
    {"came_back", "packets", "Of these: as operands, because the service queue was full",
     [](C c) { return c.came_back; }},
    {"l1_hits", "chains", "Executed at home: an operand was in the L1, or on its way there",
     [](C c) { return c.l1_hits; }},
    {"full", "chains", "Executed at home: the offload queue was full", [](C c) { return c.full; }},
    {"elsewhere", "chains", "Executed at home: no node that computes has all of its data",
     [](C c) { return c.elsewhere; }},
    {"divergent", "chains", "Executed at home: its lanes access too many different lines",
     [](C c) { return c.divergent; }},
    {"inactive", "chains", "Executed at home: no lane took part in an access",
     [](C c) { return c.inactive; }},
    {"away_cycles", "core cycles",
     "From the first instruction of an offloaded chain to its end, summed",
     [](C c) { return c.away_cycles; }},
    {"entry_cycles", "core cycles",
     "Of entries of offload queues, from a chain's first instruction on, summed",
     [](C c) { return c.entry_cycles; }},
    {"sums", "warp-instructions", "Sums of split multiply-adds, issued at home",
     [](C c) { return c.sums; }},
};

uint64_t waited(const ServiceCounters& c, ServiceWait what) {
  return c.waits[static_cast<size_t>(what)];
}

constexpr CounterRow<ServiceCounters> kServiceCounters[] = {
    {"taken", "chains", "Taken into service queues", [](Q c) { return c.taken; }},
    {"refused", "chains", "Refused: the service queue was full", [](Q c) { return c.refused; }},
    {"operands", "lines", "Operands that were waited for in L2 slices",
     [](Q c) { return c.operands; }},
    {"operands_read", "lines", "Operands that were read into buffers",
     [](Q c) { return c.operands_read; }},
    {"stores", "lines", "Results stored", [](Q c) { return c.stores; }},
    {"alu_cycles", "L2 cycles", "In which a service queue's ALU began an instruction",
     [](Q c) { return c.alu_cycles; }},
    {"cycles", "L2 cycles", "From a ComputePacket to its reply, summed",
     [](Q c) { return c.cycles; }},
    {"wait_turn", "L2 cycles", "Of these: for a turn at the slice's tags",
     [](Q c) { return waited(c, ServiceWait::kTurn); }},
    {"wait_operands", "L2 cycles", "Of these: until all operands were in the slice",
     [](Q c) { return waited(c, ServiceWait::kOperands); }},
    {"wait_buffer", "L2 cycles", "Of these: for a place in the buffer",
     [](Q c) { return waited(c, ServiceWait::kBuffer); }},
    {"wait_read", "L2 cycles", "Of these: until the operands were in the buffer",
     [](Q c) { return waited(c, ServiceWait::kRead); }},
    {"wait_alu", "L2 cycles", "Of these: for the ALU, and its result",
     [](Q c) { return waited(c, ServiceWait::kAlu); }},
    {"wait_stored", "L2 cycles", "Of these: for the store's acknowledgement",
     [](Q c) { return waited(c, ServiceWait::kStored); }},
    {"wait_reply", "L2 cycles", "Of these: for the way of replies",
     [](Q c) { return waited(c, ServiceWait::kReply); }},
};

using S = const SmService&;

constexpr CounterRow<SmService> kSmServiceCounters[] = {
    {"taken", "chains", "Taken into service queues of SMs", [](S s) { return s.counters.taken; }},
    {"refused", "chains", "The service queue was full: its operands were sent for",
     [](S s) { return s.counters.refused; }},
    {"turned_away", "chains", "The same, and another one's operands were being sent for",
     [](S s) { return s.turned_away; }},
    {"operands", "lines", "Operands sent for", [](S s) { return s.counters.operands; }},
    {"operands_read", "lines", "Operands read from shared memory into buffers",
     [](S s) { return s.counters.operands_read; }},
    {"stores", "lines", "Results stored", [](S s) { return s.counters.stores; }},
    {"alu_cycles", "core cycles", "In which the ALU executed for others",
     [](S s) { return s.counters.alu_cycles; }},
    {"alu_waits", "core cycles", "In which it was wanted for others and was not idle",
     [](S s) { return s.alu_waits; }},
    {"cycles", "core cycles", "From a ComputePacket to its reply, summed",
     [](S s) { return s.counters.cycles; }},
    {"wait_turn", "core cycles",
     "Of these: for the network to take a read or a store, or for shared memory's port to read",
     [](S s) { return waited(s.counters, ServiceWait::kTurn); }},
    {"wait_operands", "core cycles", "Of these: until all operands were in shared memory",
     [](S s) { return waited(s.counters, ServiceWait::kOperands); }},
    {"wait_buffer", "core cycles", "Of these: for a place in the buffer",
     [](S s) { return waited(s.counters, ServiceWait::kBuffer); }},
    {"wait_read", "core cycles", "Of these: until the operands were in the buffer",
     [](S s) { return waited(s.counters, ServiceWait::kRead); }},
    {"wait_alu", "core cycles", "Of these: for the ALU, and its result",
     [](S s) { return waited(s.counters, ServiceWait::kAlu); }},
    {"wait_stored", "core cycles", "Of these: for the store's acknowledgement",
     [](S s) { return waited(s.counters, ServiceWait::kStored); }},
    {"wait_reply", "core cycles", "Of these: for the way of replies",
     [](S s) { return waited(s.counters, ServiceWait::kReply); }},
};

}  // namespace

void collect_chains(sim::System& system, uint32_t number, const ChainTables& tables,
                    report::RunResult& result) {
  CounterSums<ChainCounters> chains(kChainCounters);
  uint64_t peak = 0, service_peak = 0;
  each_side(system, number, [&](const auto& side) {
    peak = std::max<uint64_t>(peak, side.peak);
    for (size_t k = 0; k < tables.chains.size(); ++k) {
      const ChainCounters& n = side.chains.in(system.arena.base())[k];
      chains.add(n);
      result.offloaded_thread_instructions += n.threads;
    }
  });
  CounterSums<ServiceCounters> service(kServiceCounters);
  each_service_queue(system, number, [&](const ServiceState& q) {
    service_peak = std::max(service_peak, q.counters.peak);
    service.add(q.counters);
  });
  chains.append_to(result, "chains.");
  service.append_to(result, "service.");
  result.counters.push_back(
      {"chains.found", tables.chains.size(), "chains", "In the program's code"});
  result.counters.push_back({"chains.peak", peak, "entries", "Most in use in an offload queue"});
  result.counters.push_back(
      {"service.peak", service_peak, "entries", "Most in use in a service queue"});
}

void collect_sm_service(sim::System& system, uint32_t number, report::RunResult& result) {
  CounterSums<SmService> sums(kSmServiceCounters);
  uint64_t queues = 0, peak = 0;
  each_sm_service(system, number, [&](const SmService& q) {
    sums.add(q);
    queues += 1;
    peak = std::max(peak, q.counters.peak);
  });
  sums.append_to(result, "sm_service.");
  result.counters.push_back(
      {"sm_service.peak", peak, "entries", "Most in use in a service queue of an SM"});
  result.counters.push_back({"sm_service.queues", queues, "SMs", "That execute chains of others"});
}

void collect_use(sim::System& system, uint32_t number, const ChainSettings& chains,
                 report::RunResult& result) {
  std::byte* const base = system.arena.base();
  const uint64_t core = system.core_period, ticks = result.cycles * core;
  const auto begin = [&](const char* name, const char* text) {
    return report::Utilisation{name, text, 0, ticks, 0, 0, {}};
  };
  report::Utilisation offload = begin("chains.entries", "entries of offload queues"),
                      service = begin("service.entries", "entries of slices' service queues"),
                      alus = begin("service.alus", "ALUs of slices' service queues"),
                      sm_service = begin("sm_service.entries", "entries of SMs' service queues"),
                      sm_alus = begin("sm_service.alus", chains.sm_alu == "own"
                                                             ? "ALUs of SMs' service queues"
                                                             : "ALUs of SMs, for others");
  uint64_t packets = 0, taken = 0, lines = 0;
  for (const uint16_t endpoint : system.sms) {
    const sm::SmState& sm = system.state<sm::SmState>(endpoint);
    if ((sm.attached >> number & 1) == 0) continue;
    const auto& side = *reinterpret_cast<const SmSideState<1>*>(base + sm.mechanism_state[number]);
    const std::string& name = system.nodes[endpoint].name;
    uint64_t cycles = 0;
    for (uint32_t k = 0; k < side.chains.count; ++k) {
      cycles += side.chains.in(base)[k].entry_cycles;
      packets += side.chains.in(base)[k].packets;
    }
    offload.add(cycles * core / chains.offload_entries, name);
    if (side.service.count == 0) continue;
    const ServiceCounters& n = side.service.in(base)->counters;
    sm_service.add(n.cycles * core / chains.service_entries, name);
    sm_alus.add(n.alu_cycles * core, name);
    taken += n.taken;
    lines += n.operands_read;
  }
  for (const uint16_t endpoint : system.members("l2")) {
    const uint64_t period = system.params<L2SliceParams>(endpoint).period;
    const ServiceCounters& n = service_queue(system, number, endpoint).counters;
    service.add(n.cycles * period / chains.service_entries, system.nodes[endpoint].name);
    alus.add(n.alu_cycles * period, system.nodes[endpoint].name);
    taken += n.taken;
    lines += n.operands_read;
  }
  for (report::Utilisation* use : {&offload, &service, &alus, &sm_service, &sm_alus})
    if (use->components != 0) result.utilisation.push_back(std::move(*use));
  // An entry is written when a chain comes, and read when it leaves.
  result.counters.push_back({"chains.queue_accesses", 2 * (packets + taken), "entries",
                             "Of offload and service queues, written or read"});
  result.counters.push_back({"chains.buffered_lines", lines, "lines",
                             "Operands that went through buffers of all queues"});
  result.parts.added.push_back(energy_of_queues());
}

}  // namespace nearwarp::opportunistic
