// Graphs whose edges are distributed over thread blocks with a given unevenness, and its measure.
#pragma once

#include "bench/workloads/bfs/graph.h"

namespace nearwarp::workloads {

/// Vertices of a thread block in all workloads on these graphs.
inline constexpr int kGraphBlockVertices = 256;
/// Undirected edges for each vertex, each in two rows. A graph of 2^20 vertices then has as many
/// entries as GraphBIG's LDBC graph of a million vertices has edges, 28.8 million (L. Nai et al.,
/// SC 2015).
inline constexpr int kGraphPairsPerVertex = 14;

/// Undirected graph of `pairs_per_vertex` edges for each vertex, without loops and double edges,
/// rows in ascending order, in which the edges of blocks of kGraphBlockVertices consecutive
/// vertices have a coefficient of variation of `cv_percent` / 100 (standard deviation over mean;
/// CODA's measure of regularity). Half of the mean comes from partners, drawn uniformly, so no more
/// than half the square root of the number of blocks is possible; throws nearwarp::Error beyond.
/// Vertices of a block have rows alike. `num_vertices` must be a multiple of kGraphBlockVertices.
Graph graph_of_variation(int num_vertices, int pairs_per_vertex, int cv_percent);

/// Coefficient of variation of the edges of blocks of kGraphBlockVertices vertices.
double variation_of_blocks(const Graph& graph);

}  // namespace nearwarp::workloads
