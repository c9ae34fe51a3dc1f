// Computes orders, components, dominators, post-dominators and natural loops.
#include "host/functional/compiler/graph.h"

#include <algorithm>
#include <utility>

namespace nearwarp::compiler {
namespace {

Graph reverse(const Graph& graph) {
  Graph out(graph.size());
  for (uint32_t n = 0; n < graph.size(); ++n) {
    for (const uint32_t s : graph[n]) out[s].push_back(n);
  }
  return out;
}

}  // namespace

std::vector<uint32_t> reverse_postorder(const Graph& graph, uint32_t entry) {
  std::vector<uint32_t> order;
  if (entry >= graph.size()) return order;
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::pair<uint32_t, uint32_t>> stack = {{entry, 0}};  // node, next successor
  seen[entry] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == graph[node].size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const uint32_t s = graph[node][next++];
    if (!seen[s]) {
      seen[s] = true;
      stack.emplace_back(s, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<uint32_t> immediate_dominators(const Graph& graph, uint32_t entry) {
  const std::vector<uint32_t> order = reverse_postorder(graph, entry);
  const Graph predecessors = reverse(graph);
  std::vector<uint32_t> rank(graph.size(), kNone), idom(graph.size(), kNone);
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  if (order.empty()) return idom;
  idom[entry] = entry;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 1; i < order.size(); ++i) {
      const uint32_t node = order[i];
      uint32_t common = kNone;
      for (uint32_t p : predecessors[node]) {
        if (idom[p] == kNone) continue;
        if (common == kNone) {
          common = p;
          continue;
        }
        while (p != common) {
          while (rank[p] > rank[common]) p = idom[p];
          while (rank[common] > rank[p]) common = idom[common];
        }
      }
      if (idom[node] != common) {
        idom[node] = common;
        changed = true;
      }
    }
  }
  idom[entry] = kNone;
  return idom;
}

std::vector<uint32_t> strong_components(const Graph& graph, uint32_t* count) {
  // Tarjan's algorithm without recursion.
  const auto n = static_cast<uint32_t>(graph.size());
  std::vector<uint32_t> component(n, kNone), index(n, kNone), low(n, 0), open;
  std::vector<std::pair<uint32_t, uint32_t>> stack;
  uint32_t next_index = 0;
  *count = 0;
  for (uint32_t root = 0; root < n; ++root) {
    if (index[root] != kNone) continue;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == 0 && index[node] == kNone) {
        index[node] = low[node] = next_index++;
        open.push_back(node);
      }
      if (next < graph[node].size()) {
        const uint32_t s = graph[node][next++];
        if (index[s] == kNone) {
          stack.emplace_back(s, 0);
        } else if (component[s] == kNone) {
          low[node] = std::min(low[node], index[s]);
        }
        continue;
      }
      const uint32_t done = node;
      stack.pop_back();
      if (!stack.empty()) {
        low[stack.back().first] = std::min(low[stack.back().first], low[done]);
      }
      if (low[done] != index[done]) continue;
      for (uint32_t member = kNone; member != done;) {
        member = open.back();
        open.pop_back();
        component[member] = *count;
      }
      ++*count;
    }
  }
  return component;
}

std::vector<uint32_t> immediate_postdominators(const Graph& graph, const std::vector<bool>& exits) {
  const auto n = static_cast<uint32_t>(graph.size());
  // A component without an edge out of it and without an exit is an infinite loop or a dead end.
  uint32_t count = 0;
  const std::vector<uint32_t> component = strong_components(graph, &count);
  std::vector<bool> can_leave(count, false);
  for (uint32_t node = 0; node < n; ++node) {
    if (exits[node]) can_leave[component[node]] = true;
    for (const uint32_t s : graph[node]) {
      if (component[s] != component[node]) can_leave[component[node]] = true;
    }
  }
  Graph reversed(n + 1);
  for (uint32_t node = 0; node < n; ++node) {
    for (const uint32_t s : graph[node]) reversed[s].push_back(node);
    if (exits[node]) reversed[n].push_back(node);
  }
  for (const uint32_t node : reverse_postorder(graph)) {
    if (can_leave[component[node]]) continue;
    can_leave[component[node]] = true;
    reversed[n].push_back(node);
  }
  std::vector<uint32_t> ipdom = immediate_dominators(reversed, n);
  ipdom.resize(n);
  for (uint32_t& p : ipdom) {
    if (p == n) p = kNone;
  }
  return ipdom;
}

bool dominates(const std::vector<uint32_t>& idom, uint32_t a, uint32_t b) {
  while (b != a && b != kNone) b = idom[b];
  return b == a;
}

std::vector<Loop> natural_loops(const Graph& graph, const std::vector<uint32_t>& idom,
                                std::vector<uint32_t>* innermost) {
  const auto n = static_cast<uint32_t>(graph.size());
  innermost->assign(n, kNone);
  // Intervals of the dominator tree tell in constant time whether a dominates b.
  Graph tree(n);
  for (uint32_t node = 0; node < n; ++node) {
    if (idom[node] != kNone) tree[idom[node]].push_back(node);
  }
  std::vector<uint32_t> enter(n, kNone), leave(n, 0);
  uint32_t clock = 0;
  std::vector<std::pair<uint32_t, uint32_t>> stack;
  if (n > 0) stack.emplace_back(0, 0);
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == 0) enter[node] = clock++;
    if (next == tree[node].size()) {
      leave[node] = clock;
      stack.pop_back();
      continue;
    }
    const uint32_t child = tree[node][next++];
    stack.emplace_back(child, 0);
  }
  const auto is_above = [&](uint32_t a, uint32_t b) {
    return enter[a] <= enter[b] && enter[b] < leave[a];
  };
  std::vector<std::vector<uint32_t>> latches(n);
  for (uint32_t node = 0; node < n; ++node) {
    if (enter[node] == kNone) continue;
    for (const uint32_t s : graph[node]) {
      if (is_above(s, node) && (latches[s].empty() || latches[s].back() != node)) {
        latches[s].push_back(node);
      }
    }
  }
  const Graph predecessors = reverse(graph);
  std::vector<Loop> loops;
  std::vector<uint32_t> mark(n, kNone);
  for (uint32_t header = 0; header < n; ++header) {
    if (latches[header].empty()) continue;
    Loop loop;
    loop.header = header;
    loop.latches = latches[header];
    loop.blocks = {header};
    mark[header] = header;
    for (const uint32_t latch : loop.latches) {
      if (mark[latch] != header) {
        mark[latch] = header;
        loop.blocks.push_back(latch);
      }
    }
    for (size_t i = 1; i < loop.blocks.size(); ++i) {
      for (const uint32_t p : predecessors[loop.blocks[i]]) {
        if (mark[p] != header && enter[p] != kNone) {
          mark[p] = header;
          loop.blocks.push_back(p);
        }
      }
    }
    std::sort(loop.blocks.begin(), loop.blocks.end());
    loops.push_back(std::move(loop));
  }
  // Larger loops come first, so that an enclosing loop is numbered before the loops in it.
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return a.blocks.size() > b.blocks.size(); });
  for (uint32_t l = 0; l < loops.size(); ++l) {
    loops[l].parent = (*innermost)[loops[l].header];
    loops[l].depth = loops[l].parent == kNone ? 1 : loops[loops[l].parent].depth + 1;
    for (const uint32_t block : loops[l].blocks) (*innermost)[block] = l;
  }
  return loops;
}

}  // namespace nearwarp::compiler
