// Is a machine that is laid out with ways found before the same, and do only graphs that have the
// same ways share them?
#include "host/timing/machine/shared_ways.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/timing/machine/lay_out.h"
#include "host/timing/machine/shapes/shapes.h"
#include "tests/machine/streams.h"

namespace nearwarp::sim {
namespace {

struct Machine {
  config::MachineConfig config;
  ImageTables image;
  Graph graph;

  explicit Machine(const std::string& name, const std::vector<std::string>& keys = {})
      : config(config::load_machine(name, keys)),
        image(build_image(testing::workload("vector-add", 10'000), config)),
        graph(make_graph({config, image})) {}
};

/// The routing tables, by component; empty for components that packets do not pass through.
std::vector<std::vector<uint16_t>> tables_of(System& s) {
  using kernels::ComponentKind;
  std::vector<std::vector<uint16_t>> tables;
  for (uint32_t i = 0; i < s.table.count; ++i) {
    const ComponentKind kind = s.component(i).kind;
    Ref<uint16_t> of;
    if (kind == ComponentKind::kSwitch) of = s.state<SwitchState>(i).routes;
    if (kind == ComponentKind::kLinkPort) of = s.state<LinkPortState>(i).ports.routes;
    if (kind == ComponentKind::kCrossbar) of = s.state<noc::CrossbarState>(i).routes;
    if (kind == ComponentKind::kRouterNetwork) of = s.state<noc::ChannelNetworkState>(i).routes;
    const uint16_t* const at = s.arena.get(of);
    tables.emplace_back(at, at + of.count);
  }
  return tables;
}

/// Whether two systems are equal in all that depends on routes. (Their arenas' bytes may differ in
/// the padding of a crossbar's parameters, which is never set.)
bool same(System& a, System& b) {
  return a.arena.size_bytes() == b.arena.size_bytes() && a.window == b.window &&
         tables_of(a) == tables_of(b);
}

/// Two vaults behind a switch that an SM has its homes at.
struct Small {
  Graph g;
  NodeId sm, sw, first, second;

  Small() {
    const uint16_t sms = g.add_class("sm", SmSpec{}), ends = g.add_class("end", VaultSpec{});
    sm = g.add(sms, "the SM");
    sw = g.add(g.add_class("switch", SwitchSpec{}), "the switch");
    first = g.add(ends, "the first vault");
    second = g.add(ends, "the second vault");
    g.set_home(g.add_homes(1, 1), 0, 0, first);
    for (const NodeId n : {sm, first, second}) {
      link(n, sw);
      link(sw, n);
    }
  }
  void link(NodeId from, NodeId to) {
    g.link(g.next_out(from), g.next_in(to), ChannelClass::kOnChip, kRequests | kReplies,
           {10, 4, 0});
  }
};

TEST(SharedWays, LayOutTheSameMachines) {
  for (const char* machine :
       {"tom", "coda", "gtx480", "mpu", "opportunistic", "qv100", "discrete16"}) {
    const Machine m(machine);
    SharedWays ways;
    System cold = lay_out(m.graph, ways);
    ASSERT_EQ(ways.graphs(), 1u);
    System warm = lay_out(m.graph, ways);
    EXPECT_EQ(ways.graphs(), 1u);
    EXPECT_TRUE(same(cold, warm)) << machine;
    size_t routes = 0;
    for (const std::vector<uint16_t>& table : tables_of(warm))
      routes += table.size() - static_cast<size_t>(std::ranges::count(table, kNoRoute));
    EXPECT_GT(routes, 0u) << machine;
  }
}

TEST(SharedWays, LayOutTheSameBytes) {
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{}, {"gpu.sms=192", "near_bank.processors=12"}}) {
    const Machine m("mpu", keys);
    SharedWays ways;
    const System cold = lay_out(m.graph, ways), warm = lay_out(m.graph, ways);
    ASSERT_EQ(cold.arena.size_bytes(), warm.arena.size_bytes());
    EXPECT_EQ(std::memcmp(cold.arena.base(), warm.arena.base(), cold.arena.size_bytes()), 0);
  }
}

TEST(SharedWays, OfMachinesThatDifferInTimeAreOne) {
  SharedWays ways;
  const auto found = ways.of(Machine("mpu").graph);
  for (const char* key : {"sm.branch_latency_cycles=7", "interconnect.router_latency_cycles=3",
                          "sm.warps=8", "dram.tRCD=20", "links.memory_to_memory_mbps=1000"}) {
    const Machine other("mpu", {key});
    EXPECT_EQ(ways.of(other.graph), found) << key;
    SharedWays none;
    System warm = lay_out(other.graph, ways), cold = lay_out(other.graph, none);
    EXPECT_TRUE(same(warm, cold)) << key;
  }
}

TEST(SharedWays, EverythingThatTheyDependOnTellsGraphsApart) {
  SharedWays ways;
  const Small plain;
  const auto found = ways.of(plain.g);
  EXPECT_EQ(ways.of(Small().g), found);
  const auto apart = [&](auto&& change) {
    Small s;
    change(s);
    const auto other = ways.of(s.g);
    EXPECT_EQ(ways.of(s.g), other);
    return other != found;
  };
  EXPECT_TRUE(apart([](Small& s) { std::swap(s.g.links[3].from, s.g.links[5].from); }));
  EXPECT_TRUE(apart([](Small& s) { s.g.links[3].carries = kRequests; }));
  EXPECT_TRUE(apart([](Small& s) { s.link(s.sw, s.first); }));
  EXPECT_TRUE(apart([](Small& s) { s.g.add(s.g.class_named("end"), "a third vault"); }));
  EXPECT_TRUE(apart([](Small& s) { s.g.set_home(0, 0, 0, s.second); }));
  EXPECT_TRUE(apart([](Small& s) { s.g.classes[1].spec = HostMemorySpec{}; }));
  EXPECT_FALSE(apart([](Small& s) { s.g.links[3].wire.latency = 11; }));
  EXPECT_FALSE(apart([](Small& s) { s.g.nodes[s.first].name = "another name"; }));
}

TEST(SharedWays, WhatIsWrongIsToldAgain) {
  SharedWays ways;
  Small s;
  s.g.links[2].carries = kRequests;
  for (int i = 0; i < 2; ++i) EXPECT_THROW(ways.of(s.g), Error);
  EXPECT_EQ(ways.graphs(), 0u);
  EXPECT_NO_THROW(ways.of(Small().g));
}

TEST(SharedWays, TheOneAskedForLongestAgoGoes) {
  SharedWays ways({3, size_t{1} << 20});
  std::vector<Small> graphs(5);
  for (size_t i = 0; i < graphs.size(); ++i)
    for (size_t k = 0; k < i; ++k) graphs[i].link(graphs[i].sw, graphs[i].first);
  const auto first = ways.of(graphs[0].g), second = ways.of(graphs[1].g);
  for (size_t i = 2; i < graphs.size(); ++i) {
    ways.of(graphs[i].g);
    EXPECT_EQ(ways.of(graphs[0].g), first);
  }
  EXPECT_EQ(ways.graphs(), 3u);
  EXPECT_NE(ways.of(graphs[1].g), second);
}

TEST(SharedWays, TakeNoMoreMemoryThanTheyMay) {
  const Small small;
  SharedWays plenty;
  plenty.of(small.g);
  const size_t bytes = plenty.bytes();
  ASSERT_GT(bytes, 0u);
  SharedWays one({8, bytes});
  one.of(small.g);
  EXPECT_EQ(one.bytes(), bytes);
  Small larger;  // alone it is too large
  larger.link(larger.sw, larger.first);
  EXPECT_NE(one.of(larger.g), nullptr);
  EXPECT_EQ(one.bytes(), bytes);
  Small moved;  // as large as the first: there is room for one of the two
  moved.g.set_home(0, 0, 0, moved.second);
  one.of(moved.g);
  EXPECT_EQ(one.graphs(), 1u);
  EXPECT_EQ(one.bytes(), bytes);
  SharedWays none({8, bytes - 1});
  none.of(small.g);
  EXPECT_EQ(none.graphs(), 0u);
}

TEST(SharedWays, ThreadsLayOutTheSameMachines) {
  SharedWays ways;
  const Machine machines[] = {Machine("tom"), Machine("discrete16"), Machine("gtx480")};
  std::vector<System> alone;
  for (const Machine& m : machines) {
    SharedWays none;
    alone.push_back(lay_out(m.graph, none));
  }
  std::vector<uint8_t> are_same(12);
  Workers(are_same.size(), 4).run([&](size_t i, unsigned) {
    System laid_out = lay_out(machines[i % 3].graph, ways);
    are_same[i] = same(laid_out, alone[i % 3]) ? 1 : 0;
  });
  for (size_t i = 0; i < are_same.size(); ++i) EXPECT_EQ(are_same[i], 1) << i;
  EXPECT_EQ(ways.graphs(), 3u);
}

}  // namespace
}  // namespace nearwarp::sim
