#include "bench/workloads/bfs/graph.h"

#include <algorithm>
#include <utility>

#include "bench/workloads/common/random.h"

namespace nearwarp::workloads {
namespace {

constexpr uint64_t kUniformStream = 10, kRmatStream = 11, kPermutationStream = 12;
constexpr uint64_t kDegreeStream = 13, kPartnerStream = 14;

}  // namespace

Graph graph_from_pairs(int num_vertices, const std::vector<std::pair<int32_t, int32_t>>& pairs) {
  Graph graph;
  graph.num_vertices = num_vertices;
  graph.row_start.assign(num_vertices + 1, 0);
  for (const auto& [a, b] : pairs) {
    ++graph.row_start[a + 1];
    ++graph.row_start[b + 1];
  }
  for (int v = 0; v < num_vertices; ++v) graph.row_start[v + 1] += graph.row_start[v];
  graph.edges.resize(pairs.size() * 2);
  std::vector<int32_t> next(graph.row_start.begin(), graph.row_start.end() - 1);
  for (const auto& [a, b] : pairs) {
    graph.edges[next[a]++] = b;
    graph.edges[next[b]++] = a;
  }
  return graph;
}

Graph uniform_graph(int num_vertices, int pairs_per_vertex) {
  std::vector<std::pair<int32_t, int32_t>> pairs(size_t(num_vertices) * pairs_per_vertex);
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = {static_cast<int32_t>(i / pairs_per_vertex),
                static_cast<int32_t>(random_below(kUniformStream, i, num_vertices))};
  }
  return graph_from_pairs(num_vertices, pairs);
}

Graph rmat_graph(int num_vertices, int pairs_per_vertex) {
  // Without permuted numbers the busy vertices would all share the first warps.
  std::vector<int32_t> number(num_vertices);
  for (int v = 0; v < num_vertices; ++v) {
    number[v] = v;
    std::swap(number[v], number[random_below(kPermutationStream, v, v + 1)]);
  }
  std::vector<std::pair<int32_t, int32_t>> pairs(size_t(num_vertices) * pairs_per_vertex);
  for (size_t i = 0; i < pairs.size(); ++i) {
    int32_t a = 0, b = 0;
    uint64_t draw = 0;
    for (int bit = 1; bit < num_vertices; bit *= 2, ++draw) {
      const uint32_t quadrant = random_below(kRmatStream, i * 32 + draw, 100);
      a = a * 2 + (quadrant >= 60);
      b = b * 2 + ((quadrant >= 45 && quadrant < 60) || quadrant >= 75);
    }
    pairs[i] = {number[a], number[b]};
  }
  return graph_from_pairs(num_vertices, pairs);
}

Graph rodinia_graph(int num_vertices) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int v = 0; v < num_vertices; ++v) {
    for (uint32_t left = 2 + random_below(kDegreeStream, v, 3); left > 0; --left) {
      pairs.emplace_back(
          v, static_cast<int32_t>(random_below(kPartnerStream, pairs.size(), num_vertices)));
    }
  }
  return graph_from_pairs(num_vertices, pairs);
}

int busiest_vertex(const Graph& graph) {
  int best = 0;
  const auto degree = [&](int v) { return graph.row_start[v + 1] - graph.row_start[v]; };
  for (int v = 1; v < graph.num_vertices; ++v) {
    if (degree(v) > degree(best)) best = v;
  }
  return best;
}

std::vector<int32_t> breadth_first(const Graph& graph, int source) {
  std::vector<int32_t> distance(graph.num_vertices, -1);
  std::vector<int32_t> queue{source};
  distance[source] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    const int32_t v = queue[head];
    for (int32_t e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) {
      const int32_t u = graph.edges[e];
      if (distance[u] >= 0) continue;
      distance[u] = distance[v] + 1;
      queue.push_back(u);
    }
  }
  return distance;
}

}  // namespace nearwarp::workloads
