// A simulated system: all components of a machine, laid out in one arena.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/core/arena.h"
#include "device/core/page_tables.h"
#include "host/config/machine.h"
#include "host/timing/machine/graph.h"
#include "host/timing/noc/topology.h"
#include "host/timing/program/image_builder.h"
#include "kernels/kinds.h"

namespace nearwarp::sim {

struct ChannelInfo {
  Ref<Channel> channel;
  ChannelClass kind = ChannelClass::kOnChip;
};

/// Components counted together: the name that their counters begin with, and which they are.
struct ComponentClass {
  std::string name;
  std::vector<uint16_t> members;  ///< endpoints, ascending
};

/// A network of routers, and how these are wired.
struct Routers {
  uint16_t endpoint = 0;
  noc::Topology topology;
};

struct System {
  ArenaBuilder arena;
  Ref<kernels::Component> table;  ///< by endpoint; in the arena, so that the arena is all state
  std::vector<Node> nodes;        ///< by endpoint
  std::vector<ComponentClass> classes;
  std::vector<ChannelInfo> channels;
  std::vector<uint16_t> sms;        ///< endpoints of those that the front end feeds, in its order
  std::vector<Routers> routers;     ///< networks of them
  uint16_t front_end_at = kNoNode;  ///< endpoint
  Tick window = 1;  ///< W: the shortest latency of any channel or credit that leaves a cluster
  /// The window if channels between the front end and its SMs do not count: kernels/safe_times.h.
  Tick window_beside_control = 1;
  uint64_t base_mhz = 1;  ///< ticks per microsecond
  uint32_t core_period = 1;
  AddressMaps map;         ///< of every component
  PageTables page_tables;  ///< of every SM

  kernels::Component& component(uint32_t endpoint) { return arena.get(table)[endpoint]; }
  std::span<kernels::Component> components() { return {arena.get(table), table.count}; }
  template <class S>
  S& state(uint32_t endpoint) {
    return kernels::at_offset<S>(arena.base(), component(endpoint).state);
  }

  /// Main SMs: those that the front end feeds.
  uint32_t num_sms() const { return static_cast<uint32_t>(sms.size()); }
  sm::SmState& sm(uint32_t i) { return state<sm::SmState>(sms[i]); }
  kernels::Component& front_end_component() { return component(front_end_at); }
  frontend::FrontEndState& front_end() { return state<frontend::FrontEndState>(front_end_at); }
  frontend::FrontEndParams& front_end_params() {
    return params<frontend::FrontEndParams>(front_end_at);
  }
  template <class P>
  P& params(uint32_t endpoint) {
    return kernels::at_offset<P>(arena.base(), component(endpoint).params);
  }
  /// The only channel of a kind that begins at an endpoint; count 0 if there is none.
  Ref<Channel> channel_from(uint32_t endpoint, ChannelClass kind) const;
  /// All channels of a kind that begin, and that end, at an endpoint, in the order of the links.
  std::vector<Ref<Channel>> channels_from(uint32_t endpoint, ChannelClass kind) const;
  std::vector<Ref<Channel>> channels_to(uint32_t endpoint, ChannelClass kind) const;
  /// Endpoints of a class; empty if the machine has none of that name.
  std::span<const uint16_t> members(std::string_view class_name) const;
  /// Endpoints of all components of a kind.
  std::vector<uint16_t> of_kind(kernels::ComponentKind kind);

 private:
  /// Places in `channels` of those that begin, and that end, at each endpoint.
  struct Ends {
    std::vector<uint32_t> from, to;
  };
  const Ends& ends_of(uint32_t endpoint) const;
  mutable std::vector<Ends> ends_;
  mutable size_t known_channels_ = 0;
};

/// Are the class's components SMs?
inline bool is_sm_class(System& system, const ComponentClass& c) {
  return !c.members.empty() && kernels::is_sm(system.component(c.members[0]).kind);
}

/// f(state) for the SM at `endpoint`, which may be of either width: f takes an `auto&`.
template <class F>
decltype(auto) with_sm(System& system, uint32_t endpoint, F&& f) {
  if (system.component(endpoint).kind == kernels::ComponentKind::kWideSm)
    return f(system.state<sm::WideSmState>(endpoint));
  return f(system.state<sm::SmState>(endpoint));
}

struct ShapeInputs;
/// Generates a machine's graph: host/timing/machine/shapes/.
using Shape = Graph (*)(const ShapeInputs&);

/// Warp-instructions committed so far by all SMs (what was executed twice counts once).
uint64_t committed_instructions(System& system);

}  // namespace nearwarp::sim
