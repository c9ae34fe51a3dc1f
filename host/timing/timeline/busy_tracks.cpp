// Makes and samples the counter tracks of links, vaults, L2 slices and networks.
#include "host/timing/timeline/busy_tracks.h"

#include <map>
#include <utility>

namespace nearwarp::timeline {

namespace {

using kernels::ComponentKind;
using sim::ChannelClass;
using sim::System;

constexpr const char* kLinks = "links";

const char* kind_of(ChannelClass kind) {
  switch (kind) {
    case ChannelClass::kGpuToMemory:
      return "TX links";
    case ChannelClass::kMemoryToGpu:
      return "RX links";
    case ChannelClass::kPcie:
      return "PCI-E";
    default:
      return "cross-stack links";
  }
}

bool is_link(ChannelClass kind) {
  return kind == ChannelClass::kGpuToMemory || kind == ChannelClass::kMemoryToGpu ||
         kind == ChannelClass::kMemoryToMemory || kind == ChannelClass::kIntoStack ||
         kind == ChannelClass::kPcie;
}

}  // namespace

BusyTracks::BusyTracks(System& system, TraceWriter& out, uint32_t overview, uint32_t pid)
    : overview_(overview), first_pid_(pid) {
  links(system);
  vaults(system);
  slices(system);
  networks(system);
  for (uint32_t i = 0; i < processes_.size(); ++i)
    out.process(first_pid_ + i, processes_[i], first_pid_ + i);
}

/// Add a track for each wire between two nodes; channels with the same ends share one.
void BusyTracks::links(System& system) {
  std::map<std::pair<uint16_t, uint16_t>, std::vector<Ref<Channel>>> wires;
  std::map<std::pair<uint16_t, uint16_t>, const char*> kinds;
  for (const sim::ChannelInfo& info : system.channels) {
    const Channel& c = *system.arena.get(info.channel);
    if (!is_link(info.kind) || c.ticks_per_byte_num == 0) continue;
    wires[{c.producer, c.consumer}].push_back(info.channel);
    kinds[{c.producer, c.consumer}] = kind_of(info.kind);
  }
  if (wires.empty()) return;
  const uint32_t pid = process(kLinks);
  for (auto& [ends, channels] : wires)
    add(pid, kinds[ends], system.nodes[ends.first].name + " to " + system.nodes[ends.second].name,
        1, [&system, channels = std::move(channels)] {
          uint64_t busy = 0;
          for (const Ref<Channel> c : channels) busy += system.arena.get(c)->producer_side.busy;
          return busy;
        });
}

void BusyTracks::vaults(System& system) {
  const std::vector<uint16_t> vaults = system.of_kind(ComponentKind::kVault);
  if (vaults.empty()) return;
  const uint32_t pid = process("vaults' data buses");
  for (const uint16_t v : vaults)
    add(pid, processes_.back(), system.nodes[v].name, 1,
        [&system, v] { return system.state<VaultState>(v).counters.bus_busy_ticks; });
}

/// Add a track for each L2 slice, which is busy for a cycle with each look-up.
void BusyTracks::slices(System& system) {
  const std::vector<uint16_t> slices = system.of_kind(ComponentKind::kL2Slice);
  if (slices.empty()) return;
  const uint32_t pid = process("L2 slices' look-ups");
  for (const uint16_t endpoint : slices)
    add(pid, processes_.back(), system.nodes[endpoint].name, 1, [&system, endpoint] {
      const L2Counters& n = system.state<L2SliceState>(endpoint).counters;
      return (n.reads + n.writes + n.atomics) * system.params<L2SliceParams>(endpoint).period;
    });
}

/// Add a track for each output of crossbars, and for each router, whose output ports can each send
/// a flit per cycle.
void BusyTracks::networks(System& system) {
  for (const uint16_t endpoint : system.of_kind(ComponentKind::kCrossbar)) {
    const uint32_t pid = process(system.nodes[endpoint].name);
    const auto& s = system.state<noc::CrossbarState>(endpoint);
    for (uint32_t i = 0; i < s.out_ports.count; ++i)
      add(pid, processes_.back(), "output " + std::to_string(i), 1, [&system, endpoint, i] {
        const auto& crossbar = system.state<noc::CrossbarState>(endpoint);
        return crossbar.out_ports.in(system.arena.base())[i].flits_sent *
               system.params<noc::CrossbarParams>(endpoint).period;
      });
  }
  for (const sim::Routers& routers : system.routers) {
    const uint32_t pid = process(system.nodes[routers.endpoint].name);
    const uint32_t outputs = routers.topology.outputs;
    for (uint32_t r = 0; r < routers.topology.routers; ++r)
      add(pid, processes_.back(), "router " + std::to_string(r), outputs,
          [&system, endpoint = routers.endpoint, r, outputs] {
            const auto& p = system.params<noc::ChannelNetworkParams>(endpoint);
            const auto& s = system.state<noc::ChannelNetworkState>(endpoint);
            const noc::OutputPort* ports =
                s.net.out_ports.in(system.arena.base()) + (r << p.net.output_shift);
            uint64_t flits = 0;
            for (uint32_t i = 0; i < outputs; ++i) flits += ports[i].flits_sent;
            return flits * p.period;
          });
  }
  const std::span<const uint16_t> switches = system.members("router");
  if (switches.empty()) return;
  const uint32_t pid = process("routers");
  for (const uint16_t endpoint : switches)
    add(pid, processes_.back(), system.nodes[endpoint].name,
        system.state<SwitchState>(endpoint).out_ports.count, [&system, endpoint] {
          return system.state<SwitchState>(endpoint).counters.flits *
                 system.params<SwitchParams>(endpoint).period;
        });
}

void BusyTracks::begin(Tick at) {
  before_ = at;
  for (Track& t : tracks_) t.before = t.busy();
}

void BusyTracks::sample(Tick at, uint64_t cycle_before, TraceWriter& out) {
  if (at == before_) return;
  for (KindOfTrack& k : kinds_) k.busy = 0;
  for (Track& t : tracks_) {
    const uint64_t busy = t.busy();
    kinds_[t.kind].busy += busy - t.before;
    const uint64_t value = 10'000 * (busy - t.before) / ((at - before_) * t.of);
    t.before = busy;
    if (value == t.shown) continue;
    t.shown = value;
    const Sample sample{"busy %", value};
    out.counter(t.pid, t.name, cycle_before, {&sample, 1});
  }
  for (KindOfTrack& k : kinds_) {
    const uint64_t value = 10'000 * k.busy / ((at - before_) * k.of);
    if (value == k.shown) continue;
    k.shown = value;
    const Sample sample{"busy %", value};
    out.counter(overview_, k.name, cycle_before, {&sample, 1});
  }
  before_ = at;
}

}  // namespace nearwarp::timeline
