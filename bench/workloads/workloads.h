// The list of the built-in workloads, by their makers, in the order of `nearwarp list workloads`.
// A driver that defines a maker is named here, and nowhere else.
#pragma once

#include <memory>

#include "bench/workloads/workload.h"

/// ONE(x): make_x() makes a workload; SEVERAL(x): some that belong together.
// clang-format off
#define NW_EACH_WORKLOAD(ONE, SEVERAL) \
  ONE(libor) ONE(kmeans) ONE(bfs_rmat) ONE(bfs_uniform) ONE(reduction) ONE(scalarprod) \
  ONE(fwt) ONE(backprop) ONE(ray) ONE(heartwall) ONE(cfd) ONE(vector_add) ONE(fma) ONE(gather) \
  ONE(row_sum) \
  /* Variants with launches, layouts and sizes of the originals. */ \
  ONE(libor_original) ONE(kmeans_original) ONE(bfs_original) ONE(reduction_original) \
  ONE(scalarprod_original) ONE(fwt_original) ONE(backprop_original) ONE(ray_original) \
  ONE(heartwall_original) ONE(cfd_original) \
  /* Programs that the pim-tuning paper has besides, and variants restructured in its manner. */ \
  ONE(atax) ONE(atax_in_order) ONE(atax_restructured) ONE(mvt) ONE(mvt_in_order) \
  ONE(mvt_restructured) ONE(corr) ONE(corr_restructured) ONE(hist) ONE(hist_restructured) \
  ONE(md) ONE(md_restructured) ONE(sgemm) ONE(sgemm_tiled) ONE(sgemm_restructured) \
  ONE(hotspot) ONE(transpose) ONE(monte_carlo) ONE(monte_carlo_restructured) \
  ONE(kmeans_restructured) ONE(even_kmeans) ONE(fwt_restructured) ONE(scalarprod_restructured) \
  ONE(reduction_restructured) ONE(cfd_restructured) \
  /* Programs on graphs whose edges per thread block vary (graphs/generator.h). */ \
  SEVERAL(pagerank) SEVERAL(degree_centrality) SEVERAL(sssp) SEVERAL(betweenness) \
  SEVERAL(graph_colouring) SEVERAL(connected_components) SEVERAL(triangle_count) \
  SEVERAL(pagerank_between) \
  /* Programs that the CODA paper has besides. */ \
  ONE(needleman_wunsch) ONE(nearest_neighbour) ONE(gaussian) ONE(spmv) ONE(sad) ONE(dwt2d) \
  ONE(hotspot3d) ONE(hybridsort) ONE(mummer) \
  /* The micro-benchmarks of opportunistic computing and SHOC's triad; its other workloads. */ \
  SEVERAL(streams) ONE(fdtd) ONE(srad) ONE(streamcluster) ONE(streamcluster_global) \
  ONE(reduction_global) ONE(reduction_hybrid) \
  /* Programs that the MPU paper has besides. */ \
  ONE(axpy) ONE(gemv) ONE(blur) ONE(conv) ONE(max_pool) ONE(upsample) \
  /* Work of a language model for one more token (llm/decode.cu). */ \
  ONE(decode_gemv) ONE(decode_gemv_int4) ONE(decode_attention) ONE(decode_step) \
  ONE(decode_experts) ONE(decode_between) \
  /* In the shape that cores below banks of their own want (common/mpu_layout.h). */ \
  ONE(axpy_mpu) ONE(reduction_mpu) ONE(transpose_mpu) ONE(blur_mpu) ONE(conv_mpu) \
  ONE(max_pool_mpu) ONE(upsample_mpu) ONE(nearest_neighbour_mpu) ONE(gemv_mpu) ONE(hist_mpu) \
  ONE(kmeans_mpu) ONE(needleman_wunsch_mpu)
// clang-format on

namespace nearwarp::workloads {

#define NW_ONE(name) std::unique_ptr<Workload> make_##name();
#define NW_SEVERAL(name) Workloads make_##name();
NW_EACH_WORKLOAD(NW_ONE, NW_SEVERAL)
#undef NW_ONE
#undef NW_SEVERAL

}  // namespace nearwarp::workloads
