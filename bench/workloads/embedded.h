// PTX of the workloads, embedded at build time, and what tells builds of their drivers apart.
#pragma once

namespace nearwarp::workloads::embedded {

extern const char* const libor_ptx;
extern const char* const kmeans_ptx;
extern const char* const bfs_ptx;
extern const char* const reduction_ptx;
extern const char* const vector_add_ptx;
extern const char* const fma_ptx;
extern const char* const scalarprod_ptx;
extern const char* const fwt_ptx;
extern const char* const backprop_ptx;
extern const char* const ray_ptx;
extern const char* const heartwall_ptx;
extern const char* const cfd_ptx;
extern const char* const gather_ptx;
extern const char* const row_sum_ptx;
extern const char* const libor_original_ptx;
extern const char* const kmeans_original_ptx;
extern const char* const bfs_original_ptx;
extern const char* const reduction_original_ptx;
extern const char* const fwt_original_ptx;
extern const char* const backprop_original_ptx;
extern const char* const ray_original_ptx;
extern const char* const heartwall_original_ptx;
extern const char* const cfd_original_ptx;
extern const char* const atax_ptx;
extern const char* const atax_restructured_ptx;
extern const char* const mvt_ptx;
extern const char* const mvt_restructured_ptx;
extern const char* const corr_ptx;
extern const char* const corr_restructured_ptx;
extern const char* const hist_ptx;
extern const char* const hist_restructured_ptx;
extern const char* const md_ptx;
extern const char* const md_restructured_ptx;
extern const char* const sgemm_ptx;
extern const char* const sgemm_restructured_ptx;
extern const char* const hotspot_ptx;
extern const char* const transpose_ptx;
extern const char* const monte_carlo_ptx;
extern const char* const monte_carlo_restructured_ptx;
extern const char* const kmeans_restructured_ptx;
extern const char* const fwt_restructured_ptx;
extern const char* const scalarprod_restructured_ptx;
extern const char* const reduction_restructured_ptx;
extern const char* const cfd_restructured_ptx;
extern const char* const pagerank_ptx;
extern const char* const degree_centrality_ptx;
extern const char* const sssp_ptx;
extern const char* const betweenness_ptx;
extern const char* const graph_colouring_ptx;
extern const char* const connected_components_ptx;
extern const char* const triangle_count_ptx;

// Without unrolled loops.
extern const char* const libor_rolled_ptx;
extern const char* const kmeans_rolled_ptx;
extern const char* const bfs_rolled_ptx;
extern const char* const reduction_rolled_ptx;
extern const char* const fma_rolled_ptx;
extern const char* const row_sum_rolled_ptx;
extern const char* const scalarprod_rolled_ptx;
extern const char* const fwt_rolled_ptx;
extern const char* const backprop_rolled_ptx;
extern const char* const ray_rolled_ptx;
extern const char* const heartwall_rolled_ptx;
extern const char* const libor_original_rolled_ptx;
extern const char* const kmeans_original_rolled_ptx;
extern const char* const bfs_original_rolled_ptx;
extern const char* const reduction_original_rolled_ptx;
extern const char* const fwt_original_rolled_ptx;
extern const char* const backprop_original_rolled_ptx;
extern const char* const ray_original_rolled_ptx;
extern const char* const heartwall_original_rolled_ptx;
extern const char* const atax_rolled_ptx;
extern const char* const atax_restructured_rolled_ptx;
extern const char* const mvt_rolled_ptx;
extern const char* const mvt_restructured_rolled_ptx;
extern const char* const corr_rolled_ptx;
extern const char* const corr_restructured_rolled_ptx;
extern const char* const hist_rolled_ptx;
extern const char* const hist_restructured_rolled_ptx;
extern const char* const md_rolled_ptx;
extern const char* const md_restructured_rolled_ptx;
extern const char* const sgemm_rolled_ptx;
extern const char* const sgemm_restructured_rolled_ptx;
extern const char* const hotspot_rolled_ptx;
extern const char* const transpose_rolled_ptx;
extern const char* const monte_carlo_rolled_ptx;
extern const char* const monte_carlo_restructured_rolled_ptx;
extern const char* const kmeans_restructured_rolled_ptx;
extern const char* const fwt_restructured_rolled_ptx;
extern const char* const scalarprod_restructured_rolled_ptx;
extern const char* const reduction_restructured_rolled_ptx;
extern const char* const pagerank_rolled_ptx;
extern const char* const degree_centrality_rolled_ptx;
extern const char* const sssp_rolled_ptx;
extern const char* const betweenness_rolled_ptx;
extern const char* const graph_colouring_rolled_ptx;
extern const char* const connected_components_rolled_ptx;
extern const char* const triangle_count_rolled_ptx;

extern const char* const drivers_hash;  ///< SHA-256 of all sources in bench/workloads

}  // namespace nearwarp::workloads::embedded
