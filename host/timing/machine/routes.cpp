// Which way packets go through the transit nodes of a machine's graph.
//
// How far a transit node is from a destination, and so its way there, follows from where the
// destination can be entered: the transit nodes with a link to it. Most destinations share that
// with others (all units of a stack have its switch), so distances are found once for each set of
// entrances, among transit nodes alone.
#include "host/timing/machine/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kNoNumber = std::numeric_limits<uint32_t>::max();

/// Transit nodes by numbers of their own, in the order of nodes.
struct TransitNodes {
  std::vector<NodeId> nodes;
  std::vector<uint32_t> number;  ///< by node; kNoNumber: it is none

  explicit TransitNodes(const Graph& graph) : number(graph.nodes.size(), kNoNumber) {
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      if (!is_transit(graph.spec_of(n))) continue;
      number[n] = static_cast<uint32_t>(nodes.size());
      nodes.push_back(n);
    }
  }
};

/// The ways of one message class.
class Ways {
 public:
  Ways(const Graph& graph, const std::vector<LinksOfNode>& links, const TransitNodes& transit,
       uint8_t carries)
      : transit_(transit) {
    find_links(graph, links, carries);
    find_groups(graph, links, carries);
    stride_ = groups_.size() + 1;
    outputs_.assign(transit.nodes.size() * stride_, kNoRoute);
    for (uint32_t g = 0; g < groups_.size(); ++g) find_outputs(g);
  }

  /// Does nothing carry such messages?
  bool empty() const { return groups_.empty(); }

  /// The place of the output that the transit node of number `t` takes to each destination.
  void row_of(uint32_t t, std::vector<uint16_t>& row) const {
    row.resize(group_of_.size());
    const uint16_t* const outputs = outputs_.data() + t * stride_;
    const uint32_t* const group_of = group_of_.data();
    uint16_t* const to = row.data();
    for (size_t d = 0, n = row.size(); d < n; ++d) to[d] = outputs[group_of[d]];
    for (const Exit& exit : exits_[t]) row[exit.to] = exit.output;
  }

 private:
  /// A link between transit nodes, by its far end.
  struct Hop {
    uint32_t transit;
    uint16_t output;  ///< its place among those of the node that it begins at
  };
  /// A link from a transit node to a destination.
  struct Exit {
    NodeId to;
    uint16_t output;
  };

  void find_links(const Graph& graph, const std::vector<LinksOfNode>& links, uint8_t carries) {
    ahead_.resize(transit_.nodes.size());
    back_.resize(transit_.nodes.size());
    exits_.resize(transit_.nodes.size());
    for (uint32_t t = 0; t < transit_.nodes.size(); ++t) {
      const std::vector<uint32_t>& out = links[transit_.nodes[t]].out;
      for (size_t k = out.size(); k-- > 0;) {  // the first of several to one destination counts
        const Link& l = graph.links[out[k]];
        if ((l.carries & carries) == 0) continue;
        const uint32_t to = transit_.number[l.to.node];
        const auto place = static_cast<uint16_t>(k);
        if (to == kNoNumber) {
          exits_[t].push_back({l.to.node, place});
        } else {
          ahead_[t].push_back({to, place});
          back_[to].push_back(t);
        }
      }
      std::ranges::reverse(ahead_[t]);
    }
  }
  /// Destinations with the same entrances.
  void find_groups(const Graph& graph, const std::vector<LinksOfNode>& links, uint8_t carries) {
    std::map<std::vector<uint32_t>, uint32_t> numbers;
    group_of_.assign(graph.nodes.size(), kNoNumber);
    for (NodeId d = 0; d < graph.nodes.size(); ++d) {
      if (transit_.number[d] != kNoNumber) continue;
      std::vector<uint32_t> entrances;
      for (const uint32_t i : links[d].in) {
        const Link& l = graph.links[i];
        const uint32_t from = transit_.number[l.from.node];
        if ((l.carries & carries) != 0 && from != kNoNumber) entrances.push_back(from);
      }
      if (entrances.empty()) continue;
      std::ranges::sort(entrances);
      const auto [at, is_new] = numbers.try_emplace(entrances, groups_.size());
      if (is_new) groups_.push_back(std::move(entrances));
      group_of_[d] = at->second;
    }
    // The last group is that of destinations that no way leads to.
    std::ranges::replace(group_of_, kNoNumber, static_cast<uint32_t>(groups_.size()));
  }
  /// Breadth first, backwards from the entrances. Of the entrances themselves: exits_.
  void find_outputs(uint32_t group) {
    hops_.assign(transit_.nodes.size(), kFar);
    queue_.clear();
    for (const uint32_t t : groups_[group]) {
      if (hops_[t] == kFar) queue_.push_back(t);
      hops_[t] = 1;
    }
    for (size_t head = 0; head < queue_.size(); ++head) {
      const uint32_t t = queue_[head];
      for (const uint32_t from : back_[t]) {
        if (hops_[from] != kFar) continue;
        hops_[from] = hops_[t] + 1;
        queue_.push_back(from);
      }
    }
    for (const uint32_t t : queue_) {
      if (hops_[t] == 1) continue;
      const auto nearer = std::ranges::find_if(
          ahead_[t], [&](const Hop& hop) { return hops_[hop.transit] == hops_[t] - 1; });
      outputs_[t * stride_ + group] = nearer->output;
    }
  }

  const TransitNodes& transit_;
  // By transit node:
  std::vector<std::vector<Hop>> ahead_;      ///< in the order of outputs
  std::vector<std::vector<uint32_t>> back_;  ///< whose links lead here
  std::vector<std::vector<Exit>> exits_;
  std::vector<uint32_t> group_of_;             ///< by destination
  std::vector<std::vector<uint32_t>> groups_;  ///< their entrances
  std::vector<uint16_t> outputs_;              ///< [transit node * stride + group]
  size_t stride_ = 0;
  // Of the search under way:
  std::vector<uint32_t> hops_, queue_;
};

}  // namespace

std::vector<Routes> find_routes(const Graph& graph, const std::vector<LinksOfNode>& links) {
  const auto count = static_cast<NodeId>(graph.nodes.size());
  const TransitNodes transit(graph);
  const Ways requests(graph, links, transit, kRequests), replies(graph, links, transit, kReplies),
      invalidations(graph, links, transit, kInvalidations);
  std::vector<Routes> routes(count);
  std::vector<uint16_t> invalidation;
  for (uint32_t t = 0; t < transit.nodes.size(); ++t) {
    const NodeId n = transit.nodes[t];
    Routes& r = routes[n];
    requests.row_of(t, r.request);
    replies.row_of(t, r.reply);
    if (invalidations.empty()) continue;
    invalidations.row_of(t, invalidation);
    for (NodeId d = 0; d < count; ++d) {
      if (invalidation[d] == kNoRoute) continue;
      if (r.request[d] != kNoRoute && r.request[d] != invalidation[d])
        throw Error(fmt::format(
            "{}: requests and invalidations for {} would leave by different links - one route "
            "serves both; give invalidations a network of their own",
            graph.nodes[n].name, graph.nodes[d].name));
      r.request[d] = invalidation[d];
    }
  }
  return routes;
}

}  // namespace nearwarp::sim
