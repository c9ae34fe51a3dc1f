// Which way packets go through the transit nodes of a machine's graph.
#pragma once

#include <vector>

#include "host/timing/machine/graph.h"

namespace nearwarp::sim {

/// The ways of one message class. Destinations that are entered from the same transit nodes are a
/// group: a transit node takes one output to all of them, unless it has a link to one itself.
struct WaysOfClass {
  struct Destination {
    NodeId node;
    uint16_t group;
  };
  /// A link from a transit node to a destination.
  struct Exit {
    NodeId to;
    uint16_t output;
  };

  std::vector<Destination> to;           ///< that some way leads to
  std::vector<std::vector<Exit>> exits;  ///< by transit node
  std::vector<uint16_t> outputs;         ///< [transit node * groups + group]
  uint32_t groups = 0;                   ///< 0: nothing carries such messages

  /// Write the output of transit node number `t` to each destination that it leads to.
  void write(uint32_t t, uint16_t* table) const;
  size_t bytes() const;
};

/// Shortest paths over links that carry a message class, for each class by itself; among equally
/// short ones the output that comes first. Tables of routes are written from them: by destination
/// the place of the output in LinksOfNode::out, kNoRoute where no path leads there. They do not
/// refer to the graph.
class Ways {
 public:
  /// Throws nearwarp::Error where requests and invalidations to one destination would part.
  Ways(const Graph& graph, const std::vector<LinksOfNode>& links);

  /// Write the routes of a transit node over a table of kNoRoute. Invalidations are requests on
  /// networks of their own.
  void write_requests(NodeId node, uint16_t* table) const;
  void write_replies(NodeId node, uint16_t* table) const;
  /// A node's table, as write_requests() makes it; empty for nodes that are no transit nodes.
  std::vector<uint16_t> requests(NodeId node) const;
  std::vector<uint16_t> replies(NodeId node) const;

  size_t bytes() const;

 private:
  bool is_transit(NodeId node) const;
  void check_invalidations(const Graph& graph) const;

  std::vector<uint32_t> number_;  ///< of transit nodes, by node
  WaysOfClass requests_, replies_, invalidations_;
};

}  // namespace nearwarp::sim
