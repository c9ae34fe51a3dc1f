#include "host/mechanisms/opportunistic/counters.h"

#include <algorithm>

#include "host/timing/run/counters/table.h"

namespace nearwarp::opportunistic {

namespace {

using sim::CounterRow;
using sim::CounterSums;
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
};

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
  each_service_queue(system, [&](const ServiceState& q) {
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

}  // namespace nearwarp::opportunistic
