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
#include <utility>

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

/// Finds the ways of one message class.
class Search {
 public:
  Search(const Graph& graph, const std::vector<LinksOfNode>& links, const TransitNodes& transit,
         uint8_t carries)
      : transit_(transit) {
    find_links(graph, links, carries);
    find_groups(graph, links, carries);
    found_.groups = static_cast<uint32_t>(groups_.size());
    found_.outputs.assign(transit.nodes.size() * groups_.size(), kNoRoute);
    for (uint32_t g = 0; g < groups_.size(); ++g) find_outputs(g);
  }

  WaysOfClass take() { return std::move(found_); }

 private:
  /// A link between transit nodes, by its far end.
  struct Hop {
    uint32_t transit;
    uint16_t output;  ///< its place among those of the node that it begins at
  };

  void find_links(const Graph& graph, const std::vector<LinksOfNode>& links, uint8_t carries) {
    ahead_.resize(transit_.nodes.size());
    back_.resize(transit_.nodes.size());
    found_.exits.resize(transit_.nodes.size());
    for (uint32_t t = 0; t < transit_.nodes.size(); ++t) {
      const std::vector<uint32_t>& out = links[transit_.nodes[t]].out;
      for (size_t k = out.size(); k-- > 0;) {  // the first of several to one destination counts
        const Link& l = graph.links[out[k]];
        if ((l.carries & carries) == 0) continue;
        const uint32_t to = transit_.number[l.to.node];
        const auto place = static_cast<uint16_t>(k);
        if (to == kNoNumber) {
          found_.exits[t].push_back({l.to.node, place});
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
      found_.to.push_back({d, static_cast<uint16_t>(at->second)});
    }
  }
  /// Breadth first, backwards from the entrances. Of the entrances themselves: exits.
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
      found_.outputs[t * groups_.size() + group] = nearer->output;
    }
  }

  const TransitNodes& transit_;
  // By transit node:
  std::vector<std::vector<Hop>> ahead_;        ///< in the order of outputs
  std::vector<std::vector<uint32_t>> back_;    ///< whose links lead here
  std::vector<std::vector<uint32_t>> groups_;  ///< their entrances
  WaysOfClass found_;
  // State of the search under way:
  std::vector<uint32_t> hops_, queue_;
};

}  // namespace

void WaysOfClass::write(uint32_t t, uint16_t* table) const {
  const uint16_t* const by_group = outputs.data() + size_t{t} * groups;
  for (const Destination& d : to) {
    const uint16_t output = by_group[d.group];
    if (output != kNoRoute) table[d.node] = output;
  }
  for (const Exit& exit : exits[t]) table[exit.to] = exit.output;
}

size_t WaysOfClass::bytes() const {
  size_t n = to.size() * sizeof(Destination) + outputs.size() * sizeof(uint16_t);
  for (const std::vector<Exit>& e : exits) n += sizeof(e) + e.size() * sizeof(Exit);
  return n;
}

Ways::Ways(const Graph& graph, const std::vector<LinksOfNode>& links) {
  TransitNodes transit(graph);
  requests_ = Search(graph, links, transit, kRequests).take();
  replies_ = Search(graph, links, transit, kReplies).take();
  invalidations_ = Search(graph, links, transit, kInvalidations).take();
  number_ = std::move(transit.number);
  if (invalidations_.groups != 0) check_invalidations(graph);
}

void Ways::check_invalidations(const Graph& graph) const {
  std::vector<uint16_t> request(number_.size()), invalidation(number_.size());
  for (NodeId n = 0; n < number_.size(); ++n) {
    if (!is_transit(n)) continue;
    std::ranges::fill(request, kNoRoute);
    std::ranges::fill(invalidation, kNoRoute);
    requests_.write(number_[n], request.data());
    invalidations_.write(number_[n], invalidation.data());
    for (NodeId d = 0; d < number_.size(); ++d)
      if (invalidation[d] != kNoRoute && request[d] != kNoRoute && request[d] != invalidation[d])
        throw Error(fmt::format(
            "{}: requests and invalidations for {} would leave by different links - one route "
            "serves both; give invalidations a network of their own",
            graph.nodes[n].name, graph.nodes[d].name));
  }
}

bool Ways::is_transit(NodeId node) const { return number_[node] != kNoNumber; }

void Ways::write_requests(NodeId node, uint16_t* table) const {
  requests_.write(number_[node], table);
  invalidations_.write(number_[node], table);
}
void Ways::write_replies(NodeId node, uint16_t* table) const {
  replies_.write(number_[node], table);
}

std::vector<uint16_t> Ways::requests(NodeId node) const {
  if (!is_transit(node)) return {};
  std::vector<uint16_t> table(number_.size(), kNoRoute);
  write_requests(node, table.data());
  return table;
}
std::vector<uint16_t> Ways::replies(NodeId node) const {
  if (!is_transit(node)) return {};
  std::vector<uint16_t> table(number_.size(), kNoRoute);
  write_replies(node, table.data());
  return table;
}

size_t Ways::bytes() const {
  return number_.size() * sizeof(uint32_t) + requests_.bytes() + replies_.bytes() +
         invalidations_.bytes();
}

}  // namespace nearwarp::sim
