// The components of a simulated system as a backend sees them: what kind, where the state is, which
// channels wake it. One switch over kinds, no virtual calls.
#pragma once

#include "device/cache/l2_slice.h"
#include "device/dram/traffic.h"
#include "device/dram/vault.h"
#include "device/frontend/front_end.h"
#include "device/link/host_memory.h"
#include "device/link/link_port.h"
#include "device/noc/channel_network.h"
#include "device/noc/standalone.h"
#include "device/sm/sm.h"

namespace nearwarp::kernels {

enum class ComponentKind : uint8_t {
  kSm,
  kWideSm,  ///< the same with more than 64 warps: sm::WideSmState
  kL2Slice,
  kSwitch,
  kRouterNetwork,  ///< all routers of a network and their interfaces: noc::ChannelNetworkState
  kLinkPort,
  kVault,
  kHostMemory,
  kStandaloneNetwork,  ///< a network with synthetic traffic by itself: noc::StandaloneState
  kTraffic,            ///< a source of accesses for a memory channel by itself
  kFrontEnd
};

constexpr bool is_sm(ComponentKind kind) {
  return kind == ComponentKind::kSm || kind == ComponentKind::kWideSm;
}

/// One component; its endpoint number is its position in the system's component table.
struct Component {
  uint32_t state = 0;        ///< arena offset of its State
  uint32_t params = 0;       ///< arena offset of its Params (components of a kind may share them)
  Ref<Ref<Channel>> inputs;  ///< channels that wake it
  Tick wake = 0;
  ComponentKind kind = ComponentKind::kSm;
  bool poll = false;
  uint16_t cluster = 0;         ///< see kernels/clusters.h; 0: none
  uint32_t cluster_window = 0;  ///< of the cluster, in ticks; 0 without one
};

template <class T>
NW_HD NW_INLINE T& at_offset(std::byte* base, uint32_t offset) {
  return *reinterpret_cast<T*>(base + offset);
}

template <class T>
NW_HD NW_INLINE T& as(std::byte* at) {
  return *reinterpret_cast<T*>(at);
}

/// Bytes of a kind's State, without the arrays that it refers to.
NW_HD constexpr uint32_t state_bytes(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::kSm:
      return sizeof(sm::SmState);
    case ComponentKind::kWideSm:
      return sizeof(sm::WideSmState);
    case ComponentKind::kL2Slice:
      return sizeof(L2SliceState);
    case ComponentKind::kSwitch:
      return sizeof(SwitchState);
    case ComponentKind::kRouterNetwork:
      return sizeof(noc::ChannelNetworkState);
    case ComponentKind::kLinkPort:
      return sizeof(LinkPortState);
    case ComponentKind::kVault:
      return sizeof(VaultState);
    case ComponentKind::kHostMemory:
      return sizeof(HostMemoryState);
    case ComponentKind::kStandaloneNetwork:
      return sizeof(noc::StandaloneState);
    case ComponentKind::kTraffic:
      return sizeof(TrafficState);
    case ComponentKind::kFrontEnd:
      break;
  }
  return sizeof(frontend::FrontEndState);
}

/// Step one component through a window. `state` is its State: in the arena, or where a backend
/// keeps it meanwhile.
template <class G>
NW_HD StepResult step_component(const G& g, const Component& c, std::byte* state,
                                const sm::SystemView& system, const Window& window,
                                Horizon& horizon) {
  std::byte* base = system.arena;
  switch (c.kind) {
    case ComponentKind::kSm:
      return sm::step_sm(g, at_offset<const sm::SmParams>(base, c.params), as<sm::SmState>(state),
                         system, window, horizon);
    case ComponentKind::kWideSm:
      return sm::step_sm(g, at_offset<const sm::SmParams>(base, c.params),
                         as<sm::WideSmState>(state), system, window, horizon);
    case ComponentKind::kL2Slice:
      return step_l2_slice(g, at_offset<const L2SliceParams>(base, c.params),
                           as<L2SliceState>(state), base, window, horizon);
    case ComponentKind::kSwitch:
      return step_switch(g, at_offset<const SwitchParams>(base, c.params), as<SwitchState>(state),
                         base, window, horizon);
    case ComponentKind::kRouterNetwork:
      return noc::step_channel_network(g,
                                       at_offset<const noc::ChannelNetworkParams>(base, c.params),
                                       as<noc::ChannelNetworkState>(state), base, window, horizon);
    case ComponentKind::kLinkPort:
      return step_link_port(g, at_offset<const LinkPortParams>(base, c.params),
                            as<LinkPortState>(state), base, window, horizon);
    case ComponentKind::kVault:
      return step_vault(g, at_offset<const VaultParams>(base, c.params), as<VaultState>(state),
                        base, window, horizon);
    case ComponentKind::kHostMemory:
      return step_host_memory(g, at_offset<const HostMemoryParams>(base, c.params),
                              as<HostMemoryState>(state), base, window, horizon);
    case ComponentKind::kStandaloneNetwork:
      return noc::step_standalone(g, at_offset<const noc::NetworkParams>(base, c.params),
                                  as<noc::StandaloneState>(state), base, window);
    case ComponentKind::kTraffic:
      return step_traffic(g, at_offset<const TrafficParams>(base, c.params),
                          as<TrafficState>(state), base, window, horizon);
    case ComponentKind::kFrontEnd:
      break;
  }
  return frontend::step_front_end(g, at_offset<const frontend::FrontEndParams>(base, c.params),
                                  as<frontend::FrontEndState>(state), system, window, horizon);
}

/// The same with the State in the arena.
template <class G>
NW_HD StepResult step_component(const G& g, const Component& c, const sm::SystemView& system,
                                const Window& window, Horizon& horizon) {
  return step_component(g, c, system.arena + c.state, system, window, horizon);
}

/// The earliest tick at which the component can have something to do: its own wake-up, or a packet
/// that is on its way to it. (One that is being sent at this moment may be missing; whoever sends
/// it notes its arrival in the horizon.)
NW_HD NW_INLINE Tick due_tick(const Component& c, std::byte* base) {
  Tick due = c.wake;
  const Ref<Channel>* inputs = c.inputs.in(base);
  for (uint32_t i = 0; i < c.inputs.count; ++i)
    due = min_tick(due, head_arrival(*inputs[i].in(base), base));
  return due;
}

}  // namespace nearwarp::kernels
