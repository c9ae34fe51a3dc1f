#include <map>
#include <mutex>
#include <string_view>

#include "bench/workloads/common/check.h"
#include "bench/workloads/embedded.h"
#include "bench/workloads/graphs/graph_workload.h"
#include "bench/workloads/workload.h"
#include "bench/workloads/workloads.h"
#include "host/core/error.h"

namespace nearwarp::workloads {
namespace {

/// PTX that was compiled without unrolling loops, by the name of the other.
struct RolledPtx {
  std::string_view of;
  const char* const& text;
};
// PTX without unrolled loops; sources without loops have none.
constexpr RolledPtx kRolled[] = {
    {"libor.ptx", embedded::libor_rolled_ptx},
    {"kmeans.ptx", embedded::kmeans_rolled_ptx},
    {"bfs.ptx", embedded::bfs_rolled_ptx},
    {"reduction.ptx", embedded::reduction_rolled_ptx},
    {"scalarprod.ptx", embedded::scalarprod_rolled_ptx},
    {"fwt.ptx", embedded::fwt_rolled_ptx},
    {"backprop.ptx", embedded::backprop_rolled_ptx},
    {"ray.ptx", embedded::ray_rolled_ptx},
    {"heartwall.ptx", embedded::heartwall_rolled_ptx},
    {"fma.ptx", embedded::fma_rolled_ptx},
    {"row_sum.ptx", embedded::row_sum_rolled_ptx},
    {"libor_original.ptx", embedded::libor_original_rolled_ptx},
    {"kmeans_original.ptx", embedded::kmeans_original_rolled_ptx},
    {"bfs_original.ptx", embedded::bfs_original_rolled_ptx},
    {"reduction_original.ptx", embedded::reduction_original_rolled_ptx},
    {"fwt_original.ptx", embedded::fwt_original_rolled_ptx},
    {"backprop_original.ptx", embedded::backprop_original_rolled_ptx},
    {"ray_original.ptx", embedded::ray_original_rolled_ptx},
    {"heartwall_original.ptx", embedded::heartwall_original_rolled_ptx},
    {"atax.ptx", embedded::atax_rolled_ptx},
    {"atax_in_order.ptx", embedded::atax_in_order_rolled_ptx},
    {"atax_restructured.ptx", embedded::atax_restructured_rolled_ptx},
    {"mvt.ptx", embedded::mvt_rolled_ptx},
    {"mvt_in_order.ptx", embedded::mvt_in_order_rolled_ptx},
    {"mvt_restructured.ptx", embedded::mvt_restructured_rolled_ptx},
    {"corr.ptx", embedded::corr_rolled_ptx},
    {"corr_restructured.ptx", embedded::corr_restructured_rolled_ptx},
    {"hist.ptx", embedded::hist_rolled_ptx},
    {"hist_restructured.ptx", embedded::hist_restructured_rolled_ptx},
    {"md.ptx", embedded::md_rolled_ptx},
    {"md_restructured.ptx", embedded::md_restructured_rolled_ptx},
    {"sgemm.ptx", embedded::sgemm_rolled_ptx},
    {"sgemm_restructured.ptx", embedded::sgemm_restructured_rolled_ptx},
    {"hotspot.ptx", embedded::hotspot_rolled_ptx},
    {"transpose.ptx", embedded::transpose_rolled_ptx},
    {"monte_carlo.ptx", embedded::monte_carlo_rolled_ptx},
    {"monte_carlo_restructured.ptx", embedded::monte_carlo_restructured_rolled_ptx},
    {"kmeans_restructured.ptx", embedded::kmeans_restructured_rolled_ptx},
    {"fwt_restructured.ptx", embedded::fwt_restructured_rolled_ptx},
    {"scalarprod_restructured.ptx", embedded::scalarprod_restructured_rolled_ptx},
    {"reduction_restructured.ptx", embedded::reduction_restructured_rolled_ptx},
    {"pagerank.ptx", embedded::pagerank_rolled_ptx},
    {"degree_centrality.ptx", embedded::degree_centrality_rolled_ptx},
    {"sssp.ptx", embedded::sssp_rolled_ptx},
    {"betweenness.ptx", embedded::betweenness_rolled_ptx},
    {"graph_colouring.ptx", embedded::graph_colouring_rolled_ptx},
    {"connected_components.ptx", embedded::connected_components_rolled_ptx},
    {"triangle_count.ptx", embedded::triangle_count_rolled_ptx},
    {"needleman_wunsch.ptx", embedded::needleman_wunsch_rolled_ptx},
    {"spmv.ptx", embedded::spmv_rolled_ptx},
    {"sad.ptx", embedded::sad_rolled_ptx},
    {"hotspot3d.ptx", embedded::hotspot3d_rolled_ptx},
    {"hybridsort.ptx", embedded::hybridsort_rolled_ptx},
    {"mummer.ptx", embedded::mummer_rolled_ptx},
    {"srad.ptx", embedded::srad_rolled_ptx},
    {"streamcluster.ptx", embedded::streamcluster_rolled_ptx},
    {"streamcluster_global.ptx", embedded::streamcluster_global_rolled_ptx},
    {"reduction_global.ptx", embedded::reduction_global_rolled_ptx},
    {"gemv.ptx", embedded::gemv_rolled_ptx},
    {"decode.ptx", embedded::decode_rolled_ptx},
    {"experts.ptx", embedded::experts_rolled_ptx},
};

/// A workload with the other PTX.
class Rolled final : public Workload {
 public:
  Rolled(const Workload& unrolled, const char* ptx) : unrolled_(unrolled), ptx_(ptx) {}
  std::string name() const override { return name_.empty() ? unrolled_.name() + "-rolled" : name_; }
  std::string description() const override {
    return unrolled_.description() + "; compiled without unrolling loops";
  }
  std::string source() const override { return unrolled_.source(); }
  std::string ptx() const override { return ptx_; }
  std::string ptx_name() const override {
    const std::string name = unrolled_.ptx_name();
    return name.substr(0, name.rfind('.')) + ".rolled.ptx";
  }
  std::string variant_of() const override { return unrolled_.name(); }
  bool rolled() const override { return true; }
  std::vector<Parameter> parameters() const override { return unrolled_.parameters(); }
  std::unique_ptr<Workload> with(std::string name, Values values) const override {
    auto rolled = std::make_unique<Rolled>(unrolled_, ptx_);
    rolled->other_ = unrolled_.with(name, std::move(values));
    rolled->name_ = std::move(name);
    return rolled;
  }
  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    return (other_ ? *other_ : unrolled_).drive(device, module, size);
  }

 private:
  const Workload& unrolled_;
  const char* ptx_;
  std::unique_ptr<Workload> other_;  ///< with values of its parameters
  std::string name_;                 ///< with these
};

}  // namespace

CheckResult Workload::run(runtime::VirtualDevice& device, Size size) const {
  return drive(device, load_ptx(device, ptx(), ptx_name()), size);
}

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
    list.push_back(make_row_sum());
    list.push_back(make_libor_original());
    list.push_back(make_kmeans_original());
    list.push_back(make_bfs_original());
    list.push_back(make_reduction_original());
    list.push_back(make_scalarprod_original());
    list.push_back(make_fwt_original());
    list.push_back(make_backprop_original());
    list.push_back(make_ray_original());
    list.push_back(make_heartwall_original());
    list.push_back(make_cfd_original());
    list.push_back(make_atax());
    list.push_back(make_atax_in_order());
    list.push_back(make_atax_restructured());
    list.push_back(make_mvt());
    list.push_back(make_mvt_in_order());
    list.push_back(make_mvt_restructured());
    list.push_back(make_corr());
    list.push_back(make_corr_restructured());
    list.push_back(make_hist());
    list.push_back(make_hist_restructured());
    list.push_back(make_md());
    list.push_back(make_md_restructured());
    list.push_back(make_sgemm());
    list.push_back(make_sgemm_tiled());
    list.push_back(make_sgemm_restructured());
    list.push_back(make_hotspot());
    list.push_back(make_transpose());
    list.push_back(make_monte_carlo());
    list.push_back(make_monte_carlo_restructured());
    list.push_back(make_kmeans_restructured());
    list.push_back(make_even_kmeans());
    list.push_back(make_fwt_restructured());
    list.push_back(make_scalarprod_restructured());
    list.push_back(make_reduction_restructured());
    list.push_back(make_cfd_restructured());
    // The shapes of a graph: regular, skewed, and for CODA's study of regularity all between.
    for (const auto make : {make_pagerank, make_degree_centrality, make_sssp, make_betweenness,
                            make_graph_colouring, make_connected_components, make_triangle_count}) {
      list.push_back(make(kRegular));
      list.push_back(make(kSkewed));
    }
    for (const int cv_percent : {30, 300}) list.push_back(make_pagerank(cv_percent));
    list.push_back(make_needleman_wunsch());
    list.push_back(make_nearest_neighbour());
    list.push_back(make_gaussian());
    list.push_back(make_spmv());
    list.push_back(make_sad());
    list.push_back(make_dwt2d());
    list.push_back(make_hotspot3d());
    list.push_back(make_hybridsort());
    list.push_back(make_mummer());
    for (auto& stream : make_streams()) list.push_back(std::move(stream));
    list.push_back(make_fdtd());
    list.push_back(make_srad());
    list.push_back(make_streamcluster(false));
    list.push_back(make_streamcluster(true));
    list.push_back(make_reduction_global(false));
    list.push_back(make_reduction_global(true));
    list.push_back(make_axpy());
    list.push_back(make_gemv());
    list.push_back(make_blur());
    list.push_back(make_conv());
    list.push_back(make_max_pool());
    list.push_back(make_upsample());
    list.push_back(make_decode_gemv());
    list.push_back(make_decode_gemv_int4());
    list.push_back(make_decode_attention());
    list.push_back(make_decode_step());
    list.push_back(make_decode_experts());
    list.push_back(make_decode_between());
    list.push_back(make_axpy_mpu());
    list.push_back(make_reduction_mpu());
    list.push_back(make_transpose_mpu());
    list.push_back(make_blur_mpu());
    list.push_back(make_conv_mpu());
    list.push_back(make_max_pool_mpu());
    list.push_back(make_upsample_mpu());
    list.push_back(make_nearest_neighbour_mpu());
    list.push_back(make_gemv_mpu());
    list.push_back(make_hist_mpu());
    list.push_back(make_kmeans_mpu());
    list.push_back(make_needleman_wunsch_mpu());
    const size_t unrolled = list.size();
    for (size_t i = 0; i < unrolled; ++i) {
      for (const RolledPtx& rolled : kRolled) {
        if (rolled.of == list[i]->ptx_name() && !list[i]->other_input())
          list.push_back(std::make_unique<Rolled>(*list[i], rolled.text));
      }
    }
    return list;
  }();
  return workloads;
}

std::unique_ptr<Workload> Workload::with(std::string, Values) const {
  throw Error("workload '" + name() + "' has no parameters");
}

const Workload* find(const std::string& name) {
  const size_t colon = name.find(':');
  const std::string plain = name.substr(0, colon);
  for (const auto& workload : all()) {
    if (workload->name() != plain) continue;
    if (colon == std::string::npos) return workload.get();
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<Workload>> with_values;
    const std::lock_guard lock(mutex);
    auto& kept = with_values[name];
    if (!kept)
      kept =
          workload->with(name, parse_values(plain, workload->parameters(), name.substr(colon + 1)));
    return kept.get();
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
