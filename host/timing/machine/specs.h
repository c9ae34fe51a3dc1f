// Parameters of the nodes of a machine's graph: one description per kind of component. A
// description holds what a kind's parameters need besides a node's own number and links, which the
// passes fill in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "device/cache/l2_slice_state.h"
#include "device/dram/vault_state.h"
#include "device/frontend/front_end.h"
#include "device/link/host_memory.h"
#include "device/link/link_port.h"
#include "device/noc/switch.h"
#include "device/sm/sm_state.h"
#include "host/config/machine.h"

namespace nearwarp::sim {

/// A node's number: its position in Graph::nodes, and its endpoint in packets.
using NodeId = uint16_t;
inline constexpr NodeId kNoNode = 0xffff;
/// Nodes as packets name them.
inline std::vector<Endpoint> endpoints_of(std::span<const NodeId> nodes) {
  std::vector<Endpoint> endpoints;
  for (const NodeId node : nodes) endpoints.push_back(endpoint_of(node));
  return endpoints;
}
inline constexpr uint16_t kNoStack = 0xffff;
inline constexpr uint32_t kNoHomes = ~uint32_t{0};

/// An SM. Links: requests out, replies in; control both ways if the front end feeds it.
struct SmSpec {
  sm::SmParams params;
  sm::SmResources capacity;  ///< for thread blocks, if the front end feeds it
  uint32_t homes = 0;        ///< Graph::homes
  /// Each stack's SMs have homes of their own: `homes` and the tables after it, by stack.
  bool homes_by_stack = false;

  /// SMs from this number on, by their order in the graph, are in the second half of the L2, and
  /// have the homes of the table after `homes`.
  uint32_t first_of_second_half = ~uint32_t{0};

  uint32_t homes_in(uint16_t stack) const { return homes_by_stack ? homes + stack : homes; }
  uint32_t homes_of(uint32_t number, uint16_t stack) const {
    return number < first_of_second_half ? homes_in(stack) : homes + 1;
  }
};

/// An L2 slice. Links: requests in and replies out towards the SMs, requests out and replies in
/// towards memory; invalidations in, if there are any. With a twin, links of kBetweenHalves to and
/// from it, of requests, replies and invalidations.
struct L2SliceSpec {
  L2SliceParams params;
  uint32_t queue_entries = 0;
  uint32_t homes = 0;  ///< Graph::homes: those in memory
  /// SMs, by their order in the graph, of the first half of the L2, if halves keep copies; 0: they
  /// do not.
  uint32_t sms_of_first_half = 0;
};

/// A vault, or the channel of a memory partition. Links: requests in, replies out.
struct VaultSpec {
  VaultParams params;
  uint32_t banks = 0;
  uint32_t entries = 0;
  /// Other stacks' writes are told to the slice of the vault's own that has the line: Graph::homes
  /// of the first stack's SMs, the other stacks' following; kNoHomes: they are not.
  uint32_t tells = kNoHomes;
};

/// The CPU's memory. Links: requests in, replies out.
struct HostMemorySpec {
  HostMemoryParams params;
};

/// A transit node: packets pass from any input to the output of their route.
struct SwitchSpec {
  SwitchParams params;
};

/// Where the ports of a mesh or butterfly are: terminals, by port. Both directions place them
/// alike.
struct Tiles {
  uint32_t width = 0, height = 0;     ///< of a mesh
  bool y_first = false;               ///< the way that packets take through it
  std::vector<uint32_t> sms, memory;  ///< ports on either side; empty: spread evenly
};

/// A transit node made of virtual-channel routers, by the machine's keys.
struct RouterNetworkSpec {
  uint32_t period = 1;  ///< ticks per cycle
  config::MachineConfig::Interconnect routers;
  /// The inputs are the ports of SMs and the outputs those of memory, or the reverse.
  bool from_sms = true;
  Tiles tiles = {};
};

/// A transit node at the end of an off-chip link. With a monitor it has a control link out.
struct LinkPortSpec {
  LinkPortParams params;
};

/// Feeds the SMs that it has control links from and to, in the order of the links.
struct FrontEndSpec {
  frontend::FrontEndParams params;
  std::span<const sm::LaunchInfo> launches;  ///< of the program
  std::vector<uint32_t> groups;  ///< by SM, below params.dispatch.groups; empty: one group
  std::vector<uint32_t> stacks;  ///< by SM; empty unless launches are bound to stacks
  std::vector<uint32_t> gpcs;    ///< by SM; empty unless launches have clusters
};

using NodeSpec = std::variant<SmSpec, L2SliceSpec, VaultSpec, HostMemorySpec, SwitchSpec,
                              RouterNetworkSpec, LinkPortSpec, FrontEndSpec>;

/// Do packets pass through nodes of this kind on their way?
inline bool is_transit(const NodeSpec& spec) {
  return std::holds_alternative<SwitchSpec>(spec) ||
         std::holds_alternative<RouterNetworkSpec>(spec) ||
         std::holds_alternative<LinkPortSpec>(spec);
}

}  // namespace nearwarp::sim
