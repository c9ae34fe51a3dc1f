// Collects counters that grow with time, whatever the machine does.
#include <map>
#include <utility>

#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

__extension__ using Product = unsigned __int128;

/// Bits that the links of a class could have carried in `run_ticks` and did not. Channels with the
/// same ends are virtual channels of one wire and share its bandwidth.
uint64_t idle_bits(System& system, ChannelClass kind, uint64_t run_ticks) {
  struct Wire {
    uint64_t busy_ticks = 0;
    const Channel* channel = nullptr;
  };
  std::map<std::pair<uint16_t, uint16_t>, Wire> wires;
  for (const ChannelInfo& info : system.channels) {
    if (info.kind != kind) continue;
    const Channel& channel = *system.arena.get(info.channel);
    Wire& wire = wires[{channel.producer, channel.consumer}];
    wire.busy_ticks += channel.producer_side.busy;
    wire.channel = &channel;
  }
  uint64_t bits = 0;
  for (const auto& [ends, wire] : wires) {
    // A transfer counts as busy from its beginning: in a partial run it may not have ended.
    if (wire.channel->ticks_per_byte_num == 0 || wire.busy_ticks >= run_ticks) continue;
    const Product idle = Product{run_ticks - wire.busy_ticks} * wire.channel->ticks_per_byte_den;
    bits += static_cast<uint64_t>(8 * idle / wire.channel->ticks_per_byte_num);
  }
  return bits;
}

}  // namespace

void collect_time(System& system, report::RunResult& result) {
  const uint64_t ticks = result.cycles * system.core_period;
  const auto add = [&](const char* name, uint64_t value, const char* unit, const char* text) {
    result.counters.push_back({name, value, unit, text});
  };
  const auto idle = [&](const char* name, ChannelClass kind) {
    add(name, idle_bits(system, kind, ticks), "bits", "What idle links could have carried");
  };
  idle("link.gpu_to_memory.idle_bits", ChannelClass::kGpuToMemory);
  idle("link.memory_to_gpu.idle_bits", ChannelClass::kMemoryToGpu);
  // Without SMs in stacks nothing uses the cross-stack links, which are switched off (deviation
  // 62).
  if (result.parts.cross_links)
    idle("link.memory_to_memory.idle_bits", ChannelClass::kMemoryToMemory);
  const auto powered = [&](const char* name, uint64_t components) {
    add(name, components * result.cycles, "core cycles", "Run time, times components");
  };
  for (const ComponentClass& c : system.classes)
    if (is_sm_class(system, c)) powered((c.name + ".powered_cycles").c_str(), c.members.size());
  powered("l2.powered_cycles", system.of_kind(kernels::ComponentKind::kL2Slice).size());
  powered("dram.powered_cycles", system.of_kind(kernels::ComponentKind::kVault).size());
}

}  // namespace nearwarp::sim
