// Can a machine's graph be built, and does every packet find its way?
#include "host/timing/machine/check_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "device/noc/channel_ends.h"
#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

class Check {
 public:
  Check(const Graph& graph, const std::vector<LinksOfNode>& links, const Ways& ways)
      : graph_(graph),
        links_(links),
        ways_(ways),
        requests_to_(graph.nodes.size()),
        replies_to_(graph.nodes.size()) {}

  /// The models of transit nodes keep their ports and inputs in bit masks.
  void transit_node(NodeId node) const {
    const std::vector<uint32_t>&in = links_[node].in, &out = links_[node].out;
    const bool routers = std::holds_alternative<RouterNetworkSpec>(graph_.spec_of(node));
    at_most(node, "input channels", in.size(), routers ? noc::kMaxInputs : kMaxSwitchInputs);
    std::vector<uint32_t> in_port, out_port;
    for (const uint32_t i : in) in_port.push_back(graph_.links[i].to.port);
    for (const uint32_t i : out)
      if (graph_.links[i].carries != kControl) out_port.push_back(graph_.links[i].from.port);
    ports(node, "input ports", in_port);
    ports(node, "output ports", out_port);
  }

  void homes(const Homes& homes) const {
    if (std::find(homes.at.begin(), homes.at.end(), kNoNode) != homes.at.end())
      throw Error("a table of homes has gaps - the shape must say where every line lives");
  }

  /// Every home of an SM, the memory behind an L2 slice included, and back: the memory acknowledges
  /// writes to the SM itself.
  void ways_of_sm(NodeId sm, const SmSpec& spec) {
    const uint32_t index = spec.homes_of(sms_++, graph_.nodes[sm].stack);
    const std::vector<NodeId>& homes = graph_.homes[index].at;
    const Exits from_sm = exits(sm, kRequests);
    for (const NodeId home : homes) {
      reaches(from_sm, home);
      reaches(replies_of(home), sm);
    }
    for (const NodeId memory : behind(index)) reaches(replies_of(memory), sm);
  }

 private:
  /// The memory behind the slices that are homes, which can reach each other.
  const std::vector<NodeId>& behind(uint32_t index) {
    const auto [place, is_new] = behind_.try_emplace(index);
    if (!is_new) return place->second;
    const std::vector<NodeId>& homes = graph_.homes[index].at;
    for (size_t i = 0; i < homes.size(); ++i) {
      const auto* slice = std::get_if<L2SliceSpec>(&graph_.spec_of(homes[i]));
      if (slice == nullptr) continue;
      const NodeId memory = graph_.homes[slice->homes].at[i];
      // It asks its twin for lines of the other half.
      if (slice->sms_of_first_half != 0 &&
          graph_.nodes[memory].stack != graph_.nodes[homes[i]].stack)
        continue;
      reaches(requests_of(homes[i]), memory);
      reaches(replies_of(memory), homes[i]);
      place->second.push_back(memory);
    }
    return place->second;
  }
  void at_most(NodeId node, const char* what, size_t count, size_t most) const {
    if (count > most)
      throw Error(fmt::format("{} has {} {} - it can have {} at most", graph_.nodes[node].name,
                              count, what, most));
  }
  /// `port` of each link, ascending.
  void ports(NodeId node, const char* what, const std::vector<uint32_t>& port) const {
    if (!port.empty()) at_most(node, what, port.back() + 1, kMaxSwitchPorts);
    for (size_t i = 0, first = 0; i < port.size(); ++i) {
      if (port[i] != port[first]) first = i;
      at_most(node, "channels of one port", i - first + 1, kMaxSwitchPorts);
      if (port[i] > (i == 0 ? 0 : port[i - 1] + 1))
        throw Error(fmt::format("{}: of its {} number {} has no link - they count from 0",
                                graph_.nodes[node].name, what, port[i] - 1));
    }
  }
  /// Where messages of a class leave a node: to other nodes, or into the table of a transit node.
  struct Exits {
    NodeId node = kNoNode;
    Carries carries = kRequests;
    std::vector<NodeId> direct;
    std::vector<const uint16_t*> tables;
  };
  Exits exits(NodeId node, Carries carries) {
    Exits e{node, carries, {}, {}};
    for (const uint32_t i : links_[node].out) {
      const Link& l = graph_.links[i];
      if ((l.carries & carries) == 0) continue;
      e.direct.push_back(l.to.node);
      const std::vector<uint16_t>& table = table_of(l.to.node, carries);
      if (!table.empty()) e.tables.push_back(table.data());
    }
    return e;
  }
  /// Empty for nodes that are no transit nodes.
  const std::vector<uint16_t>& table_of(NodeId node, Carries carries) {
    std::vector<uint16_t>& table = (carries == kRequests ? requests_to_ : replies_to_)[node];
    if (table.empty()) table = carries == kRequests ? ways_.requests(node) : ways_.replies(node);
    return table;
  }
  /// Many ask for those of one node.
  const Exits& replies_of(NodeId node) { return kept(replies_, node, kReplies); }
  const Exits& requests_of(NodeId node) { return kept(requests_, node, kRequests); }
  const Exits& kept(std::vector<Exits>& by_node, NodeId node, Carries carries) {
    if (by_node.empty()) by_node.resize(graph_.nodes.size());
    Exits& e = by_node[node];
    if (e.node == kNoNode) e = exits(node, carries);
    return e;
  }
  void reaches(const Exits& from, NodeId to) const {
    for (const uint16_t* const table : from.tables)
      if (table[to] != kNoRoute) return;
    for (const NodeId n : from.direct)
      if (n == to) return;
    throw Error(fmt::format("no {} get from {} to {} - the shape lacks a link",
                            from.carries == kRequests ? "requests" : "replies",
                            graph_.nodes[from.node].name, graph_.nodes[to].name));
  }

  const Graph& graph_;
  const std::vector<LinksOfNode>& links_;
  const Ways& ways_;
  std::vector<std::vector<uint16_t>> requests_to_, replies_to_;  ///< tables that were asked for
  std::vector<Exits> replies_, requests_;                        ///< by node
  std::map<uint32_t, std::vector<NodeId>> behind_;               ///< by homes
  uint32_t sms_ = 0;                                             ///< looked at so far
};

}  // namespace

void check_graph(const Graph& graph, const std::vector<LinksOfNode>& links, const Ways& ways) {
  Check check(graph, links, ways);
  for (const Homes& h : graph.homes) check.homes(h);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const NodeSpec& spec = graph.spec_of(n);
    if (is_transit(spec)) check.transit_node(n);
    if (const auto* sm = std::get_if<SmSpec>(&spec)) check.ways_of_sm(n, *sm);
  }
}

}  // namespace nearwarp::sim
