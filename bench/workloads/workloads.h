// Makers of the built-in workloads, one per driver.
#pragma once

#include <memory>

#include "bench/workloads/workload.h"

namespace nearwarp::workloads {

std::unique_ptr<Workload> make_libor();
std::unique_ptr<Workload> make_kmeans();
std::unique_ptr<Workload> make_bfs_rmat();
std::unique_ptr<Workload> make_bfs_uniform();
std::unique_ptr<Workload> make_reduction();
std::unique_ptr<Workload> make_scalarprod();
std::unique_ptr<Workload> make_fwt();
std::unique_ptr<Workload> make_backprop();
std::unique_ptr<Workload> make_ray();
std::unique_ptr<Workload> make_heartwall();
std::unique_ptr<Workload> make_cfd();
std::unique_ptr<Workload> make_vector_add();
std::unique_ptr<Workload> make_fma();
std::unique_ptr<Workload> make_gather();
std::unique_ptr<Workload> make_row_sum();

// Variants with launches, layouts and sizes of the originals.
std::unique_ptr<Workload> make_libor_original();
std::unique_ptr<Workload> make_kmeans_original();
std::unique_ptr<Workload> make_bfs_original();
std::unique_ptr<Workload> make_reduction_original();
std::unique_ptr<Workload> make_scalarprod_original();
std::unique_ptr<Workload> make_fwt_original();
std::unique_ptr<Workload> make_backprop_original();
std::unique_ptr<Workload> make_ray_original();
std::unique_ptr<Workload> make_heartwall_original();
std::unique_ptr<Workload> make_cfd_original();

// Programs that the pim-tuning paper has besides, and variants restructured in its manner.
std::unique_ptr<Workload> make_atax();
std::unique_ptr<Workload> make_atax_in_order();
std::unique_ptr<Workload> make_atax_restructured();
std::unique_ptr<Workload> make_mvt();
std::unique_ptr<Workload> make_mvt_in_order();
std::unique_ptr<Workload> make_mvt_restructured();
std::unique_ptr<Workload> make_corr();
std::unique_ptr<Workload> make_corr_restructured();
std::unique_ptr<Workload> make_hist();
std::unique_ptr<Workload> make_hist_restructured();
std::unique_ptr<Workload> make_md();
std::unique_ptr<Workload> make_md_restructured();
std::unique_ptr<Workload> make_sgemm();
std::unique_ptr<Workload> make_sgemm_tiled();
std::unique_ptr<Workload> make_sgemm_restructured();
std::unique_ptr<Workload> make_hotspot();
std::unique_ptr<Workload> make_transpose();
std::unique_ptr<Workload> make_monte_carlo();
std::unique_ptr<Workload> make_monte_carlo_restructured();
std::unique_ptr<Workload> make_even_kmeans();
std::unique_ptr<Workload> make_kmeans_restructured();
std::unique_ptr<Workload> make_fwt_restructured();
std::unique_ptr<Workload> make_scalarprod_restructured();
std::unique_ptr<Workload> make_reduction_restructured();
std::unique_ptr<Workload> make_cfd_restructured();

// Programs on graphs whose edges per thread block vary by so many percent (graphs/generator.h).
std::unique_ptr<Workload> make_pagerank(int cv_percent);
std::unique_ptr<Workload> make_degree_centrality(int cv_percent);
std::unique_ptr<Workload> make_sssp(int cv_percent);
std::unique_ptr<Workload> make_betweenness(int cv_percent);
std::unique_ptr<Workload> make_graph_colouring(int cv_percent);
std::unique_ptr<Workload> make_connected_components(int cv_percent);
std::unique_ptr<Workload> make_triangle_count(int cv_percent);

// Programs that the CODA paper has besides.
std::unique_ptr<Workload> make_needleman_wunsch();
std::unique_ptr<Workload> make_nearest_neighbour();
std::unique_ptr<Workload> make_gaussian();
std::unique_ptr<Workload> make_spmv();
std::unique_ptr<Workload> make_sad();
std::unique_ptr<Workload> make_dwt2d();
std::unique_ptr<Workload> make_hotspot3d();
std::unique_ptr<Workload> make_hybridsort();
std::unique_ptr<Workload> make_mummer();

// The micro-benchmarks of opportunistic computing, and SHOC's triad.
std::vector<std::unique_ptr<Workload>> make_streams();
// Other workloads of the opportunistic computing paper.
std::unique_ptr<Workload> make_fdtd();
std::unique_ptr<Workload> make_srad();
std::unique_ptr<Workload> make_streamcluster(bool global);
std::unique_ptr<Workload> make_reduction_global(bool hybrid);

// Programs that the MPU paper has besides.
std::unique_ptr<Workload> make_axpy();
std::unique_ptr<Workload> make_gemv();
std::unique_ptr<Workload> make_blur();
std::unique_ptr<Workload> make_conv();
std::unique_ptr<Workload> make_max_pool();
std::unique_ptr<Workload> make_upsample();

// Work of a language model for one more token (llm/decode.cu).
std::unique_ptr<Workload> make_decode_gemv();
std::unique_ptr<Workload> make_decode_gemv_int4();
std::unique_ptr<Workload> make_decode_attention();
std::unique_ptr<Workload> make_decode_step();
std::unique_ptr<Workload> make_decode_experts();
std::unique_ptr<Workload> make_decode_between();

// In the shape that cores below banks of their own want (common/mpu_layout.h).
std::unique_ptr<Workload> make_axpy_mpu();
std::unique_ptr<Workload> make_reduction_mpu();
std::unique_ptr<Workload> make_transpose_mpu();
std::unique_ptr<Workload> make_blur_mpu();
std::unique_ptr<Workload> make_conv_mpu();
std::unique_ptr<Workload> make_max_pool_mpu();
std::unique_ptr<Workload> make_upsample_mpu();
std::unique_ptr<Workload> make_nearest_neighbour_mpu();
std::unique_ptr<Workload> make_gemv_mpu();
std::unique_ptr<Workload> make_hist_mpu();
std::unique_ptr<Workload> make_kmeans_mpu();
std::unique_ptr<Workload> make_needleman_wunsch_mpu();

}  // namespace nearwarp::workloads
