#include <string_view>

#include "bench/workloads/common/check.h"
#include "bench/workloads/embedded.h"
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
// Not there: sources without loops.
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
};

/// A workload with the other PTX.
class Rolled final : public Workload {
 public:
  Rolled(const Workload& unrolled, const char* ptx) : unrolled_(unrolled), ptx_(ptx) {}
  std::string name() const override { return unrolled_.name() + "-rolled"; }
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
  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    return unrolled_.drive(device, module, size);
  }

 private:
  const Workload& unrolled_;
  const char* ptx_;
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
    const size_t unrolled = list.size();
    for (size_t i = 0; i < unrolled; ++i) {
      for (const RolledPtx& rolled : kRolled) {
        if (rolled.of == list[i]->ptx_name())
          list.push_back(std::make_unique<Rolled>(*list[i], rolled.text));
      }
    }
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
