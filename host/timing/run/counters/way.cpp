// Where packets were on their way to the memory and back, place by place: waiting before a wire, on
// it, and in what stands between wires. By Little's law that is how many of them were there, times
// the run's time.
#include <algorithm>

#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

using kernels::ComponentKind;

enum Place : size_t {
  kPages,
  kNetwork,
  kL2,
  kTx,
  kRx,
  kPcie,
  kCross,
  kInStack,
  kTsvs,
  kQueues,
  kBanks,
  kNumPlaces
};

/// By Place. What is between stacks, or inside of them, is no way of SMs beside them.
struct PlaceText {
  const char* name;
  const char* text;
  bool between_stacks;
};
constexpr PlaceText kPlaces[kNumPlaces] = {
    {"pages", "page walks", false},
    {"network", "on-chip network", false},
    {"l2", "L2 slices", false},
    {"link.gpu_to_memory", "TX links", false},
    {"link.memory_to_gpu", "RX links", false},
    {report::kPcieName, "PCI-E", false},
    {"link.memory_to_memory", "cross-stack links", true},
    {"stack.wires", "wires in stacks", false},
    {"tsvs", "TSVs", false},
    {"dram.queues", "queues of vaults", false},
    {"dram.banks", "banks", false},
};

/// kNumPlaces: no way of requests and replies.
constexpr Place place_of(ChannelClass kind) {
  switch (kind) {
    case ChannelClass::kSmToNetwork:
    case ChannelClass::kNetworkToSm:
    case ChannelClass::kOnChip:
    case ChannelClass::kDirect:
    case ChannelClass::kChainsToSm:
    case ChannelClass::kChainsFromSm:
      return kNetwork;
    case ChannelClass::kControl:
    case ChannelClass::kInvalidation:
    case ChannelClass::kCluster:
    case ChannelClass::kSharedLines:
    case ChannelClass::kBetweenHalves:
      return kNumPlaces;
    case ChannelClass::kGpuToMemory:
      return kTx;
    case ChannelClass::kMemoryToGpu:
      return kRx;
    case ChannelClass::kMemoryToMemory:
    case ChannelClass::kIntoStack:
      return kCross;
    case ChannelClass::kInStack:
      return kInStack;
    case ChannelClass::kBanksToSm:
      return kTsvs;
    case ChannelClass::kPcie:
      return kPcie;
  }
  return kNumPlaces;
}

class Way {
 public:
  explicit Way(System& system, bool core_tsvs) : system_(system), core_tsvs_(core_tsvs) {}

  void wires() {
    for (const ChannelInfo& info : system_.channels) {
      const Place place = place_of(info.kind);
      const Channel& c = *system_.arena.get(info.channel);
      ticks_[place] += c.producer_side.busy + c.producer_side.packets * c.latency;
    }
  }
  /// Adds waits at switches.
  void switches() {
    for (const uint16_t i : system_.of_kind(ComponentKind::kSwitch))
      before_wires(system_.state<SwitchState>(i), false);
    for (const uint16_t i : system_.of_kind(ComponentKind::kLinkPort))
      before_wires(system_.state<LinkPortState>(i).ports, false);
    if (!core_tsvs_) return;
    for (const uint16_t i : system_.members("stack_switch"))
      before_wires(system_.state<SwitchState>(i), true);
  }
  void networks() {
    const auto add = [&](const noc::PacketTimes& t) {
      ticks_[kNetwork] += t.injection + t.transit + t.ejection;
    };
    for (const uint16_t i : system_.of_kind(ComponentKind::kRouterNetwork))
      add(system_.state<noc::ChannelNetworkState>(i).times);
    for (const uint16_t i : system_.of_kind(ComponentKind::kCrossbar))
      add(system_.state<noc::CrossbarState>(i).times);
  }
  void sms() {
    for (const ComponentClass& c : system_.classes) {
      if (!is_sm_class(system_, c)) continue;
      for (const uint16_t i : c.members)
        ticks_[kPages] +=
            system_.params<sm::SmParams>(i).period *
            with_sm(system_, i, [](const auto& s) { return s.tlb.counters.wait_cycles; });
    }
  }
  void memory() {
    for (const uint16_t i : system_.of_kind(ComponentKind::kL2Slice)) {
      const L2Counters& n = system_.state<L2SliceState>(i).counters;
      ticks_[kL2] += n.request_wait + n.reply_wait;
    }
    for (const uint16_t i : system_.of_kind(ComponentKind::kVault)) {
      const VaultCounters& n = system_.state<VaultState>(i).counters;
      ticks_[kQueues] += n.queue_ticks;
      ticks_[kTsvs] += n.bus_busy_ticks;
      // Writes without an acknowledgement count in queue_ticks, but not in latency_ticks.
      const uint64_t known = n.queue_ticks + n.bus_busy_ticks;
      ticks_[kBanks] += n.latency_ticks > known ? n.latency_ticks - known : 0;
    }
  }
  void append_to(report::RunResult& result) const {
    for (size_t i = 0; i < kNumPlaces; ++i)
      if (ticks_[i] != 0)
        result.way.push_back(
            {kPlaces[i].name, kPlaces[i].text, ticks_[i], kPlaces[i].between_stacks});
  }

 private:
  /// Adds waits of packets before a switch's outputs. Those of a core's TSVs are moved there from
  /// the wires that lead on.
  void before_wires(const SwitchState& s, bool to_tsvs) {
    const SwitchOutput* outputs = s.outputs.in(system_.arena.base());
    for (uint32_t o = 0; o < s.outputs.count; ++o) {
      // Channels are in the order in which they lie in the arena.
      const auto info =
          std::ranges::lower_bound(system_.channels, outputs[o].channel.offset, {},
                                   [](const ChannelInfo& i) { return i.channel.offset; });
      if (info == system_.channels.end() || info->channel.offset != outputs[o].channel.offset)
        continue;
      const Place place = place_of(info->kind);
      if (to_tsvs) ticks_[place] -= outputs[o].waited;
      ticks_[to_tsvs ? kTsvs : place] += outputs[o].waited;
    }
  }

  System& system_;
  const bool core_tsvs_;
  uint64_t ticks_[kNumPlaces + 1] = {};  // the last: of no place
};

}  // namespace

void collect_way(System& system, report::RunResult& result) {
  Way way(system, result.parts.core_tsvs);
  way.wires();
  way.switches();
  way.networks();
  way.sms();
  way.memory();
  way.append_to(result);
}

}  // namespace nearwarp::sim
