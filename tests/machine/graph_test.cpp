// Are packets routed by the shortest ways that carry them, and are graphs refused that cannot be
// built?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/timing/machine/check_graph.h"
#include "host/timing/machine/lay_out.h"

namespace nearwarp::sim {
namespace {

constexpr Wire kWire{10, 4, 0};

/// A graph of switches, and of vaults that stand for all components that send or take packets.
struct Net {
  Graph g;
  uint16_t switches = g.add_class("switch", SwitchSpec{});
  uint16_t ends = g.add_class("end", VaultSpec{});

  NodeId add_switch() { return g.add(switches, fmt::format("switch {}", g.nodes.size())); }
  NodeId add_end() { return g.add(ends, fmt::format("end {}", g.nodes.size())); }
  void link(NodeId from, NodeId to, uint8_t carries = kRequests | kReplies) {
    g.link(g.next_out(from), g.next_in(to), ChannelClass::kOnChip, carries, kWire);
  }
  Ways ways() const { return Ways(g, links_by_node(g)); }
  void check() const { check_graph(g, links_by_node(g), ways()); }
  std::string error() const {
    try {
      check();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
};

TEST(Routes, TakeTheShortestWay) {
  Net n;
  const NodeId a = n.add_switch(), b = n.add_switch(), c = n.add_switch(), end = n.add_end();
  n.link(a, b);    // output 0 of a
  n.link(a, c);    // output 1
  n.link(b, c);    // output 0 of b
  n.link(c, end);  // output 0 of c
  const Ways w = n.ways();
  EXPECT_EQ(w.requests(a)[end], 1);
  EXPECT_EQ(w.requests(b)[end], 0);
  EXPECT_EQ(w.replies(c)[end], 0);
  EXPECT_TRUE(w.requests(end).empty());
}

TEST(Routes, ByMessageClass) {
  Net n;
  const NodeId a = n.add_switch(), b = n.add_switch(), end = n.add_end();
  n.link(a, end, kReplies);
  n.link(a, b, kRequests);
  n.link(b, end, kRequests);
  const Ways w = n.ways();
  EXPECT_EQ(w.replies(a)[end], 0);
  EXPECT_EQ(w.requests(a)[end], 1);
  EXPECT_EQ(w.replies(b)[end], kNoRoute);
}

TEST(Routes, DoNotPassThroughWhoeverSinks) {
  Net n;
  const NodeId a = n.add_switch(), between = n.add_end(), end = n.add_end();
  n.link(a, between);
  n.link(between, end);
  EXPECT_EQ(n.ways().requests(a)[end], kNoRoute);
}

TEST(Routes, OfEquallyShortOnesTheFirst) {
  Net n;
  const NodeId a = n.add_switch(), b = n.add_switch(), c = n.add_switch(), end = n.add_end();
  n.link(a, c);
  n.link(a, b);
  n.link(b, end);
  n.link(c, end);
  EXPECT_EQ(n.ways().requests(a)[end], 0);
}

TEST(Routes, OfInvalidationsAreThoseOfRequests) {
  Net n;
  const NodeId a = n.add_switch(), end = n.add_end();
  n.link(a, end, kInvalidations);
  EXPECT_EQ(n.ways().requests(a)[end], 0);
  n.link(a, end, kRequests);
  EXPECT_THROW(n.ways(), Error);
}

TEST(GraphCheck, ASwitchHasSoManyInputsAndPorts) {
  Net n;
  const NodeId sw = n.add_switch(), end = n.add_end();
  for (uint32_t i = 0; i < kMaxSwitchInputs; ++i)
    n.g.link(n.g.at(end), n.g.at(sw, i / 4), ChannelClass::kOnChip, kRequests, kWire);
  EXPECT_EQ(n.error(), "");
  n.g.link(n.g.at(end), n.g.at(sw, 3), ChannelClass::kOnChip, kRequests, kWire);
  EXPECT_EQ(n.error(), "switch 0 has 129 input channels - it can have 128 at most");
}

TEST(GraphCheck, ASwitchHasSoManyOutputPorts) {
  Net n;
  const NodeId sw = n.add_switch(), end = n.add_end();
  for (uint32_t i = 0; i < kMaxSwitchPorts; ++i) n.link(sw, end);
  EXPECT_EQ(n.error(), "");
  n.link(sw, end);
  EXPECT_EQ(n.error(), "switch 0 has 65 output ports - it can have 64 at most");
}

TEST(GraphCheck, PortsHaveNoGaps) {
  Net n;
  const NodeId sw = n.add_switch(), end = n.add_end();
  n.g.link(n.g.at(sw, 1), n.g.at(end), ChannelClass::kOnChip, kRequests, kWire);
  EXPECT_NE(n.error().find("output ports number 0 has no link"), std::string::npos) << n.error();
}

TEST(GraphCheck, EveryLineLivesSomewhere) {
  Net n;
  const NodeId end = n.add_end();
  const uint32_t homes = n.g.add_homes(2, 2);
  for (uint32_t i = 0; i < 3; ++i) n.g.set_home(homes, i / 2, i % 2, end);
  EXPECT_NE(n.error().find("gaps"), std::string::npos);
  n.g.set_home(homes, 1, 1, end);
  EXPECT_EQ(n.error(), "");
}

TEST(GraphCheck, SmsReachTheirHomesAndAreReached) {
  Net n;
  const uint16_t sms = n.g.add_class("sm", SmSpec{});
  const NodeId sw = n.add_switch(), end = n.add_end(), sm = n.g.add(sms, "the SM");
  n.g.set_home(n.g.add_homes(1, 1), 0, 0, end);
  n.link(sm, sw, kRequests);
  EXPECT_EQ(n.error(), "no requests get from the SM to end 1 - the shape lacks a link");
  n.link(sw, end, kRequests);
  EXPECT_EQ(n.error(), "no replies get from end 1 to the SM - the shape lacks a link");
  n.link(end, sw, kReplies);
  n.link(sw, sm, kReplies);
  EXPECT_EQ(n.error(), "");
}

TEST(GraphCheck, SmsWithManyWarpsAreInStacksAndGetNoBlocks) {
  const auto error = [](bool in_stack, uint8_t carries) -> std::string {
    Net n;
    SmSpec spec;
    spec.params.num_warps = 65;
    spec.params.in_stack = in_stack;
    const NodeId sw = n.add_switch();
    const NodeId memory = n.g.add(n.g.add_class("host", HostMemorySpec{}), "the memory");
    const NodeId sm = n.g.add(n.g.add_class("sm", spec), "the SM");
    n.g.set_home(n.g.add_homes(1, 1), 0, 0, memory);
    for (const NodeId node : {memory, sm}) n.link(node, sw), n.link(sw, node);
    if (carries != 0) n.link(sw, sm, carries);
    try {
      lay_out(n.g);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error(false, 0),
            "the SM has 65 warps and is in no stack - beyond 64 an SM must be in a stack, and have "
            "no link to a front end");
  EXPECT_EQ(error(true, kControl),
            "the SM has 65 warps and a link that carries control - beyond 64 an SM must be in a "
            "stack, and have no link to a front end");
}

TEST(GraphCheck, ANodeNeedsItsLinks) {
  Net n;
  const uint16_t host = n.g.add_class("host", HostMemorySpec{});
  const NodeId sw = n.add_switch(), memory = n.g.add(host, "the memory");
  n.link(sw, memory, kRequests);
  EXPECT_THROW(lay_out(n.g), Error);
  n.link(memory, sw, kReplies);
  EXPECT_NO_THROW(lay_out(n.g));
  n.link(sw, memory, kRequests);
  EXPECT_THROW(lay_out(n.g), Error);  // it would listen to one of the two only
}

TEST(Graph, TheWindowIsTheShortestLatency) {
  Net n;
  const uint16_t host = n.g.add_class("host", HostMemorySpec{});
  const NodeId sw = n.add_switch(), memory = n.g.add(host, "the memory");
  n.link(sw, memory, kRequests);
  n.g.link(n.g.at(memory), n.g.next_in(sw), ChannelClass::kOnChip, kReplies, {7, 2, 0});
  System s = lay_out(n.g);
  EXPECT_EQ(s.window, 7u);
  EXPECT_EQ(s.members("host").size(), 1u);
  EXPECT_TRUE(s.members("nobody").empty());
  EXPECT_EQ(s.of_kind(kernels::ComponentKind::kHostMemory), std::vector<uint16_t>{memory});
}

}  // namespace
}  // namespace nearwarp::sim
