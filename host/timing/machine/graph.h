// A machine as data: nodes, the links between them, what the nodes of a class are made of, and
// where lines live.
//
// A shape (host/timing/machine/shapes/) fills a graph; generic passes turn it into a system that
// can be stepped (host/timing/machine/lay_out.h). No pass knows a shape, and nothing else has to be
// touched for a new one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/core/address_map.h"
#include "host/timing/machine/specs.h"

namespace nearwarp::sim {

/// The purpose of a channel; counters and reports are grouped by it.
enum class ChannelClass : uint8_t {
  kSmToNetwork,
  kNetworkToSm,
  kControl,
  kOnChip,  ///< crossbar - slice - link port, slice - memory channel
  kInvalidation,
  kGpuToMemory,     ///< TX links
  kMemoryToGpu,     ///< RX links
  kMemoryToMemory,  ///< cross-stack links
  kIntoStack,       ///< where not each two have one: what else is between stack and switch
  kInStack,         ///< switch - vault, switch - stack SM
  kBanksToSm,       ///< TSVs of a core's own banks - its SM
  kPcie,            ///< link ports - the CPU's memory
  kDirect,          ///< SM - SM, of a mechanism without overhead
  kChainsToSm,      ///< requests of a mechanism that SMs serve: network - SM
  kChainsFromSm,    ///< and their replies: SM - network
  kCluster,         ///< SM - network of its GPC
  kSharedLines,     ///< the same of lines that copy engines have for several SMs
  kBetweenHalves,   ///< L2 slice - its twin in the other half
};

/// Message classes that a link carries, as a set. Each is routed by itself; a network stays free of
/// deadlocks if requests never hold up replies, so they share a link only where both are sunk.
enum Carries : uint8_t {
  kRequests = 1,
  kReplies = 2,
  kInvalidations = 4,
  kControl = 8,  ///< between the front end and its clients; not routed
  /// Packets of a mechanism that finds them itself, by their class. Alone: not routed; with
  /// another: packets of that class are routed over the link, but the models at its ends do not
  /// know it.
  kOwn = 16,
};

/// Properties of a link in time.
struct Wire {
  uint32_t latency = 0;  ///< ticks, both ways
  uint32_t slots = 0;
  uint32_t mbps = 0;  ///< 10^6 bytes per second; 0: unlimited
};

inline constexpr uint16_t kNoPlace = 0xffff;

struct Node {
  uint16_t node_class = 0;
  uint16_t stack = kNoStack;     ///< the stack or memory partition that it belongs to
  std::string name;              ///< e.g. "sm 3", "vault 17 of stack 1"
  uint16_t cluster = 0;          ///< steps in windows of its own, see kernels/clusters.h; 0: none
  uint16_t x = kNoPlace, y = 0;  ///< of a router on a grid
};

/// One end of a link. Ports matter to transit nodes only: links of one port share its time.
struct End {
  NodeId node = kNoNode;
  uint16_t port = 0;
};

struct Link {
  End from, to;
  ChannelClass kind = ChannelClass::kOnChip;
  uint8_t carries = 0;
  Wire wire;
  /// If not empty: a vault's replies for these nodes take the link, and no others.
  std::vector<NodeId> only_to = {};
};

/// Where lines live for a class of requesters: device/core/home_table.h.
struct Homes {
  uint32_t per_stack = 0;
  std::vector<NodeId> at;  ///< [stack * per_stack + vault]
};

/// The kind and the name for counters that nodes of a class have in common.
struct NodeClass {
  std::string name;
  NodeSpec spec;
};

struct Graph {
  uint64_t base_mhz = 1;     ///< ticks per microsecond
  uint32_t core_period = 1;  ///< ticks per core cycle, in which run times are told
  AddressMap map;            ///< of all components
  std::vector<NodeClass> classes;
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<Homes> homes;
  // Pages that may have frames and address maps of their own need page tables.
  uint32_t address_spaces = 0;  ///< with a table each; 0: frames are the pages', under `map`
  uint32_t more_maps = 0;       ///< besides `map`
  uint64_t mapped_lines = 0;    ///< that the tables are for
  uint32_t page_shift = 5;      ///< log2 of lines per page
  uint32_t tlb_page_shift = 5;  ///< the same of what an entry of a TLB covers
  uint32_t log_events = 0;      ///< that an SM can note until the host looks; 0: it notes none

  uint16_t add_class(std::string name, NodeSpec spec);
  /// Throws nearwarp::Error if there is no class of that name, since the machine's shape lacks the
  /// part that a mechanism extends.
  uint16_t class_named(std::string_view name) const;
  /// The nodes of a class, in the order of their numbers.
  std::vector<NodeId> members(uint16_t node_class) const;
  /// The nodes' parameters may be adjusted until the graph is laid out.
  template <class Spec>
  Spec& spec(uint16_t node_class) {
    return std::get<Spec>(classes[node_class].spec);
  }
  const NodeSpec& spec_of(NodeId node) const { return classes[nodes[node].node_class].spec; }

  /// Throws nearwarp::Error when endpoint numbers are used up.
  NodeId add(uint16_t node_class, std::string name, uint16_t stack = kNoStack);
  void link(End from, End to, ChannelClass kind, uint8_t carries, const Wire& wire);
  /// Adds an empty table of homes, and returns its number.
  uint32_t add_homes(uint32_t stacks, uint32_t per_stack);
  void set_home(uint32_t table, uint32_t stack, uint32_t vault, NodeId node) {
    homes[table].at[stack * homes[table].per_stack + vault] = node;
  }

  /// An end at a node that is no transit node, or at port `port` of one.
  static End at(NodeId node, uint32_t port = 0) { return {node, static_cast<uint16_t>(port)}; }
  /// An end of the node at the first port that no link has taken yet.
  End next_out(NodeId node) const;
  End next_in(NodeId node) const;

 private:
  /// Counts the ports of links added since the last call.
  void count_ports() const;
  mutable size_t counted_ = 0;                          ///< links
  mutable std::vector<uint32_t> out_ports_, in_ports_;  ///< by node: those that links have taken
};

/// Links of a node in the order of their ports, by link number within a port; control links last.
struct LinksOfNode {
  std::vector<uint32_t> in, out;
};
std::vector<LinksOfNode> links_by_node(const Graph& graph);

}  // namespace nearwarp::sim
