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

// With launches, layouts and sizes of the originals.
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

}  // namespace nearwarp::workloads
