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

extern const char* const drivers_hash;  ///< SHA-256 of all sources in bench/workloads

}  // namespace nearwarp::workloads::embedded
