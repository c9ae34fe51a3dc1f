// Are dominators, post-dominators and loops right? Some graphs have known answers; random ones are
// checked by brute force.
#include "host/functional/compiler/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace nearwarp::compiler {
namespace {

using Nodes = std::vector<uint32_t>;

// Nodes that `from` reaches without stepping on `removed`.
std::vector<bool> reach(const Graph& graph, uint32_t from, uint32_t removed = kNone) {
  std::vector<bool> seen(graph.size(), false);
  Nodes work;
  if (from != removed) {
    seen[from] = true;
    work.push_back(from);
  }
  while (!work.empty()) {
    const uint32_t node = work.back();
    work.pop_back();
    for (const uint32_t s : graph[node]) {
      if (s == removed || seen[s]) continue;
      seen[s] = true;
      work.push_back(s);
    }
  }
  return seen;
}

// a dominates b if b cannot be reached once a is removed.
std::vector<std::set<uint32_t>> brute_dominators(const Graph& graph, uint32_t entry) {
  const auto n = static_cast<uint32_t>(graph.size());
  const std::vector<bool> all = reach(graph, entry);
  std::vector<std::set<uint32_t>> dominators(n);
  for (uint32_t a = 0; a < n; ++a) {
    const std::vector<bool> without = reach(graph, entry, a);
    for (uint32_t b = 0; b < n; ++b) {
      if (all[b] && !without[b]) dominators[b].insert(a);
    }
  }
  return dominators;
}

// The strict dominator that all other strict dominators dominate.
uint32_t brute_idom(const std::vector<std::set<uint32_t>>& dominators, uint32_t node) {
  for (const uint32_t candidate : dominators[node]) {
    if (candidate == node) continue;
    bool closest = true;
    for (const uint32_t other : dominators[node]) {
      if (other != node && !dominators[candidate].count(other)) closest = false;
    }
    if (closest) return candidate;
  }
  return kNone;
}

Graph random_graph(std::mt19937* random, std::vector<bool>* exits) {
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>((*random)() % n); };
  const uint32_t n = 1 + pick(14);
  Graph graph(n);
  exits->assign(n, false);
  for (uint32_t node = 0; node < n; ++node) {
    const uint32_t shape = pick(8);
    (*exits)[node] = shape < 2;  // 0: an exit, 1: a guarded exit
    if (shape >= 1) graph[node].push_back(pick(n));
    if (shape == 4) graph[node].insert(graph[node].end(), {pick(n), pick(n)});
    if (shape > 4) graph[node].push_back(std::min(node + 1, n - 1));
  }
  return graph;
}

TEST(Graph, DominatorsEqualBruteForce) {
  std::mt19937 random(1);
  std::vector<bool> exits;
  for (int round = 0; round < 3000; ++round) {
    const Graph graph = random_graph(&random, &exits);
    const Nodes idom = immediate_dominators(graph);
    const auto expected = brute_dominators(graph, 0);
    for (uint32_t node = 0; node < graph.size(); ++node) {
      ASSERT_EQ(idom[node], brute_idom(expected, node)) << "round " << round << " node " << node;
      for (uint32_t other = 0; other < graph.size(); ++other) {
        if (expected[node].empty()) continue;
        ASSERT_EQ(dominates(idom, other, node), expected[node].count(other) == 1);
      }
    }
  }
}

TEST(Graph, PostDominatorsEqualBruteForce) {
  std::mt19937 random(2);
  std::vector<bool> exits;
  int infinite = 0;
  for (int round = 0; round < 3000; ++round) {
    const Graph graph = random_graph(&random, &exits);
    const auto n = static_cast<uint32_t>(graph.size());
    // The documented completion: the first node, in reverse postorder, of each set that cannot be
    // left gets an edge to the exit.
    Graph reversed(n + 1);
    for (uint32_t node = 0; node < n; ++node) {
      for (const uint32_t s : graph[node]) reversed[s].push_back(node);
      if (exits[node]) reversed[n].push_back(node);
    }
    for (const uint32_t node : reverse_postorder(graph)) {
      const std::vector<bool> after = reach(graph, node);
      bool closed = true;
      for (uint32_t other = 0; other < n; ++other) {
        if (after[other] && (exits[other] || !reach(graph, other)[node])) closed = false;
      }
      if (!closed || reach(reversed, n)[node]) continue;
      reversed[n].push_back(node);
      ++infinite;
    }
    const Nodes ipdom = immediate_postdominators(graph, exits);
    const auto expected = brute_dominators(reversed, n);
    const std::vector<bool> reachable = reach(graph, 0);
    for (uint32_t node = 0; node < n; ++node) {
      if (!reachable[node]) continue;
      const uint32_t want = brute_idom(expected, node);
      ASSERT_EQ(ipdom[node], want == n ? kNone : want) << "round " << round << " node " << node;
    }
  }
  EXPECT_GT(infinite, 100);
}

TEST(Graph, LoopsEqualTheirDefinition) {
  std::mt19937 random(3);
  std::vector<bool> exits;
  size_t nested = 0;
  for (int round = 0; round < 3000; ++round) {
    const Graph graph = random_graph(&random, &exits);
    const auto n = static_cast<uint32_t>(graph.size());
    const auto dominators = brute_dominators(graph, 0);
    Nodes innermost;
    const std::vector<Loop> loops = natural_loops(graph, immediate_dominators(graph), &innermost);
    std::set<uint32_t> headers;
    for (uint32_t node = 0; node < n; ++node) {
      for (const uint32_t s : graph[node]) {
        if (dominators[node].count(s)) headers.insert(s);
      }
    }
    ASSERT_EQ(loops.size(), headers.size());
    for (uint32_t l = 0; l < loops.size(); ++l) {
      const Loop& loop = loops[l];
      ASSERT_TRUE(headers.count(loop.header));
      Nodes latches, blocks;
      for (uint32_t node = 0; node < n; ++node) {
        const bool is_latch = std::count(graph[node].begin(), graph[node].end(), loop.header) > 0 &&
                              dominators[node].count(loop.header);
        if (is_latch) latches.push_back(node);
      }
      ASSERT_EQ(loop.latches, latches);
      // In the loop is what reaches a latch without passing the header.
      const std::vector<bool> reachable = reach(graph, 0);
      for (uint32_t node = 0; node < n; ++node) {
        const std::vector<bool> after = reach(graph, node, loop.header);
        bool inside = node == loop.header;
        for (const uint32_t latch : latches) inside = inside || (reachable[node] && after[latch]);
        if (inside) blocks.push_back(node);
      }
      ASSERT_EQ(loop.blocks, blocks) << "round " << round << " header " << loop.header;
      if (loop.parent != kNone) {
        ++nested;
        ASSERT_LT(loop.parent, l);
        ASSERT_EQ(loop.depth, loops[loop.parent].depth + 1);
        const Nodes& outer = loops[loop.parent].blocks;
        ASSERT_TRUE(std::includes(outer.begin(), outer.end(), blocks.begin(), blocks.end()));
      }
    }
    for (uint32_t node = 0; node < n; ++node) {
      size_t best = SIZE_MAX;
      uint32_t want = kNone;
      for (uint32_t l = 0; l < loops.size(); ++l) {
        const Nodes& blocks = loops[l].blocks;
        if (std::binary_search(blocks.begin(), blocks.end(), node) && blocks.size() < best) {
          best = blocks.size();
          want = l;
        }
      }
      ASSERT_EQ(innermost[node], want);
    }
  }
  EXPECT_GT(nested, 100u);
}

TEST(Graph, KnownAnswers) {
  // 0 -> 1 or 2 -> 3; 3 loops to 1's join, 4 is the exit; 5 spins for ever.
  const Graph graph = {{1, 2}, {3}, {3}, {0, 4, 5}, {}, {5}};
  EXPECT_EQ(immediate_dominators(graph), (Nodes{kNone, 0, 0, 0, 3, 3}));
  const std::vector<bool> exits = {false, false, false, false, true, false};
  EXPECT_EQ(immediate_postdominators(graph, exits), (Nodes{3, 3, 3, kNone, kNone, kNone}));
  Nodes innermost;
  const std::vector<Loop> loops = natural_loops(graph, immediate_dominators(graph), &innermost);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].blocks, (Nodes{0, 1, 2, 3}));
  EXPECT_EQ(loops[1].blocks, (Nodes{5}));
  EXPECT_EQ(innermost, (Nodes{0, 0, 0, 0, kNone, 1}));
}

TEST(Graph, LongChainsDoNotOverflowTheStack) {
  Graph graph(300000);
  for (uint32_t node = 0; node + 1 < graph.size(); ++node) graph[node] = {node + 1};
  std::vector<bool> exits(graph.size(), false);
  exits.back() = true;
  EXPECT_EQ(immediate_dominators(graph).back(), graph.size() - 2);
  EXPECT_EQ(immediate_postdominators(graph, exits).front(), 1u);
}

}  // namespace
}  // namespace nearwarp::compiler
