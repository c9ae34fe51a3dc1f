// Counters of channels by class, the run's traffic, and how its links were used.
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

struct ClassText {
  ChannelClass kind;
  const char* name;
  const char* text;
  bool everywhere = true;  ///< also of machines that have none
};
constexpr ClassText kClasses[] = {
    {ChannelClass::kGpuToMemory, "link.gpu_to_memory", "TX links"},
    {ChannelClass::kMemoryToGpu, "link.memory_to_gpu", "RX links"},
    {ChannelClass::kMemoryToMemory, "link.memory_to_memory", "Cross-stack links"},
    {ChannelClass::kSmToNetwork, "noc.from_sms", "SMs to the request crossbar"},
    {ChannelClass::kNetworkToSm, "noc.to_sms", "Reply crossbar to the SMs"},
    {ChannelClass::kOnChip, "noc.memory_side", "Crossbars, L2 slices and link ports"},
    {ChannelClass::kInvalidation, "noc.invalidations", "Invalidations of offloaded blocks' lines"},
    {ChannelClass::kChainsToSm, "noc.chains_to_sms", "ComputePackets to SMs", false},
    {ChannelClass::kChainsFromSm, "noc.chains_from_sms", "Replies to ComputePackets by SMs", false},
    {ChannelClass::kCluster, "noc.clusters", "SMs and the networks of their GPCs", false},
    {ChannelClass::kSharedLines, "noc.shared_lines", "SMs and the networks of shared lines", false},
    {ChannelClass::kBetweenHalves, "l2.link", "L2 slices and their twins in the other half", false},
    {ChannelClass::kPcie, "pcie", "PCI-E during the learning phase"},
    {ChannelClass::kInStack, "stack.internal", "Logic-layer switches, vaults and stack SMs"},
    {ChannelClass::kBanksToSm, "stack.to_sms", "Cores' TSVs to their subcores", false},
};

/// Traffic that the channels of a class carried together.
struct Carried {
  uint64_t packets = 0, bytes = 0, busy_ticks = 0, channels = 0;
};

Carried carried_by(System& system, ChannelClass kind) {
  Carried c;
  for (const ChannelInfo& info : system.channels) {
    if (info.kind != kind) continue;
    const auto& sent = system.arena.get(info.channel)->producer_side;
    c.packets += sent.packets;
    c.bytes += sent.bytes;
    c.busy_ticks += sent.busy;
    ++c.channels;
  }
  return c;
}

}  // namespace

void collect_channels(System& system, report::RunResult& result) {
  for (const ClassText& k : kClasses) {
    const Carried c = carried_by(system, k.kind);
    if (!k.everywhere && c.channels == 0) continue;
    const auto add = [&](const char* name, uint64_t value, const char* unit, const char* text) {
      result.counters.push_back(
          {std::string(k.name) + name, value, unit, std::string(k.text) + text});
    };
    add(".packets", c.packets, "packets", ": packets");
    add(".bytes", c.bytes, "bytes", ": bytes sent");
    if (c.busy_ticks != 0)
      add(".busy_ticks", c.busy_ticks, "ticks", ": time in transfers, summed over channels");
    if (k.kind == ChannelClass::kGpuToMemory) {
      result.traffic.gpu_to_memory_bytes = c.bytes;
      result.link_use.gpu_to_memory_busy_ticks = c.busy_ticks;
      // There is one link to and one from each stack.
      result.link_use.available_ticks = result.cycles * system.core_period * c.channels;
    }
    if (k.kind == ChannelClass::kMemoryToGpu) {
      result.traffic.memory_to_gpu_bytes = c.bytes;
      result.link_use.memory_to_gpu_busy_ticks = c.busy_ticks;
    }
    if (k.kind == ChannelClass::kMemoryToMemory) result.traffic.memory_to_memory_bytes = c.bytes;
  }
}

}  // namespace nearwarp::sim
