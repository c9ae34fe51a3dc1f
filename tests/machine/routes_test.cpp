// Are the ways through every machine those that a plain search for each destination finds?
#include "host/timing/machine/routes.h"

#include <gtest/gtest.h>

#include <limits>

#include "host/config/config.h"
#include "host/timing/machine/check_graph.h"
#include "host/timing/machine/shapes/shapes.h"
#include "tests/machine/streams.h"

namespace nearwarp::sim {
namespace {

constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();

/// Links from every transit node to `destination`, by breadth-first search backwards.
std::vector<uint32_t> hops_to(const Graph& g, const std::vector<LinksOfNode>& links,
                              uint8_t carries, NodeId destination) {
  std::vector<uint32_t> hops(g.nodes.size(), kFar);
  std::vector<NodeId> queue = {destination};
  hops[destination] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    for (const uint32_t i : links[queue[head]].in) {
      const Link& l = g.links[i];
      if ((l.carries & carries) == 0 || hops[l.from.node] != kFar) continue;
      if (!is_transit(g.spec_of(l.from.node))) continue;
      hops[l.from.node] = hops[queue[head]] + 1;
      queue.push_back(l.from.node);
    }
  }
  return hops;
}

/// The first output that leads one link nearer.
uint16_t output_of(const Graph& g, const std::vector<LinksOfNode>& links, uint8_t carries,
                   const std::vector<uint32_t>& hops, NodeId node) {
  for (uint16_t k = 0; hops[node] != kFar && k < links[node].out.size(); ++k) {
    const Link& l = g.links[links[node].out[k]];
    if ((l.carries & carries) != 0 && hops[l.to.node] == hops[node] - 1) return k;
  }
  return kNoRoute;
}

void expect_plain_ways(const std::string& name, const std::vector<std::string>& keys) {
  const config::MachineConfig m = config::load_machine(name, keys);
  const ImageTables image = build_image(testing::workload("vector-add", 10'000), m);
  const Graph g = make_graph({m, image});
  const std::vector<LinksOfNode> links = links_by_node(g);
  const Ways ways(g, links);
  std::vector<std::vector<uint16_t>> requests_of, replies_of;
  for (NodeId n = 0; n < g.nodes.size(); ++n) {
    requests_of.push_back(ways.requests(n));
    replies_of.push_back(ways.replies(n));
  }
  size_t found = 0;
  for (NodeId d = 0; d < g.nodes.size(); ++d) {
    if (is_transit(g.spec_of(d))) continue;
    const auto requests = hops_to(g, links, kRequests, d), replies = hops_to(g, links, kReplies, d),
               invalidations = hops_to(g, links, kInvalidations, d);
    for (NodeId n = 0; n < g.nodes.size(); ++n) {
      if (!is_transit(g.spec_of(n))) continue;
      uint16_t request = output_of(g, links, kRequests, requests, n);
      if (request == kNoRoute) request = output_of(g, links, kInvalidations, invalidations, n);
      ASSERT_EQ(requests_of[n][d], request) << name << ": " << g.nodes[n].name;
      ASSERT_EQ(replies_of[n][d], output_of(g, links, kReplies, replies, n))
          << name << ": " << g.nodes[n].name;
      found += request != kNoRoute ? 1 : 0;
    }
  }
  EXPECT_GT(found, 0u) << name;
}

TEST(Routes, AreThoseOfAPlainSearch) {
  for (const char* machine : {"tom", "coda", "gtx480", "mpu", "opportunistic", "qv100"})
    expect_plain_ways(machine, {});
  expect_plain_ways("mpu", {"gpu.sms=192", "near_bank.processors=12"});
}

TEST(Routes, OfAThousandCoresLeadEverywhere) {
  const std::vector<std::string> keys = {"gpu.sms=1024"};
  const config::MachineConfig m = config::load_machine("mpu", keys);
  const ImageTables image = build_image(testing::workload("vector-add", 10'000), m);
  const Graph g = make_graph({m, image});
  const std::vector<LinksOfNode> links = links_by_node(g);
  EXPECT_NO_THROW(check_graph(g, links, Ways(g, links)));
}

}  // namespace
}  // namespace nearwarp::sim
