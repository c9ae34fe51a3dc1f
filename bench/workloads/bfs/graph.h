// Generated graphs in compressed sparse rows, and breadth-first search on the CPU.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace nearwarp::workloads {

/// Edges of vertex v are edges[row_start[v] .. row_start[v + 1]).
struct Graph {
  int num_vertices = 0;
  std::vector<int32_t> row_start;  ///< num_vertices + 1 entries
  std::vector<int32_t> edges;
};

/// A graph of these pairs, each in both directions; rows keep the order of the pairs (counting
/// sort).
Graph graph_from_pairs(int num_vertices, const std::vector<std::pair<int32_t, int32_t>>& pairs);

/// Undirected graph with `pairs_per_vertex` random edges per vertex, ends uniformly distributed.
Graph uniform_graph(int num_vertices, int pairs_per_vertex);

/// Undirected R-MAT graph (Chakrabarti et al., SDM 2004) with the default probabilities of the
/// generator GTgraph (.45, .15, .15, .25) and permuted vertex numbers. `num_vertices` must be a
/// power of two. With those of Graph500 (.57, .19, .19, .05) the search is the loop of the one
/// thread that has the busiest vertex: a row a hundred times as long as here, on an otherwise idle
/// machine.
Graph rmat_graph(int num_vertices, int pairs_per_vertex);

/// A graph as Rodinia's generator makes it: each vertex draws 2 to 4 partners, so it has six edges
/// on average.
Graph rodinia_graph(int num_vertices);

/// The vertex with the most edges, the lowest among equals: it lies in the large component.
int busiest_vertex(const Graph& graph);

/// Distance of each vertex from `source` in edges, -1 where unreachable.
std::vector<int32_t> breadth_first(const Graph& graph, int source);

}  // namespace nearwarp::workloads
