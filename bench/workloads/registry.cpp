#include "bench/workloads/embedded.h"
#include "bench/workloads/workload.h"
#include "bench/workloads/workloads.h"
#include "host/core/error.h"

namespace nearwarp::workloads {

const std::vector<std::unique_ptr<Workload>>& all() {
  static const std::vector<std::unique_ptr<Workload>> workloads = [] {
    std::vector<std::unique_ptr<Workload>> list;
    list.push_back(make_libor());
    list.push_back(make_kmeans());
    list.push_back(make_bfs_rmat());
    list.push_back(make_bfs_uniform());
    list.push_back(make_reduction());
    list.push_back(make_scalarprod());
    list.push_back(make_fwt());
    list.push_back(make_backprop());
    list.push_back(make_ray());
    list.push_back(make_heartwall());
    list.push_back(make_cfd());
    list.push_back(make_vector_add());
    list.push_back(make_fma());
    list.push_back(make_gather());
    return list;
  }();
  return workloads;
}

const Workload* find(const std::string& name) {
  for (const auto& workload : all()) {
    if (workload->name() == name) return workload.get();
  }
  return nullptr;
}

std::string drivers_hash() { return embedded::drivers_hash; }

Size parse_size(const std::string& text) {
  if (text == "small") return Size::kSmall;
  if (text == "medium") return Size::kMedium;
  if (text == "large") return Size::kLarge;
  if (text == "paper") return Size::kPaper;
  throw UsageError("unknown size '" + text + "' - sizes are small, medium, large, paper");
}

}  // namespace nearwarp::workloads
