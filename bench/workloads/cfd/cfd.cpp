#include "bench/workloads/cfd/reference.h"
#include "bench/workloads/common/check.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 192;  // as in Rodinia

struct Shape {
  int columns, rows, iterations;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {64, 64, 1};
    case Size::kMedium:
      return {192, 128, 2};
    case Size::kLarge:
      return {512, 320, 3};
    case Size::kPaper:
      return {512, 379, 20};  // about the cells of Rodinia's fvcorr.domn.193K
  }
  return {};
}

class Cfd final : public Workload {
 public:
  explicit Cfd(bool restructured) : restructured_(restructured) {}
  std::string name() const override { return restructured_ ? "cfd-restructured" : "cfd"; }
  std::string variant_of() const override { return restructured_ ? "cfd" : ""; }
  std::string description() const override {
    return restructured_ ? "cfd with the mesh in panels of 32 cells"
                         : "Euler equations on an unstructured mesh: step factors, then three "
                           "stages of fluxes and time integration per iteration";
  }
  std::string source() const override {
    return restructured_ ? "Rodinia, cfd (euler3d); Wu et al. (ICS 2020)"
                         : "Rodinia, cfd (euler3d)";
  }
  std::string ptx_name() const override {
    return restructured_ ? "cfd_restructured.ptx" : "cfd.ptx";
  }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [columns, rows, iterations] = shape_of(size);
    const CfdMesh mesh = cfd_mesh(columns, rows);
    std::vector<float> variables = cfd_start(mesh);
    const int n = mesh.num_cells;
    const uint64_t bytes = variables.size() * sizeof(float);

    const auto d_neighbours = device.upload(mesh.neighbours, "neighbours");
    const auto d_normals = device.upload(mesh.normals, "normals");
    const auto d_areas = device.upload(mesh.areas, "areas");
    const auto d_far_field = device.upload(cfd_far_field(), "far field");
    const auto d_variables = device.upload(variables, "variables");
    const auto d_old = device.allocate(bytes, "old variables");
    const auto d_factors = device.allocate(n * sizeof(float), "step factors");
    const auto d_fluxes = device.allocate(bytes, "fluxes");
    const auto launch = [&](const char* kernel, const runtime::KernelArgs& args) {
      device.launch(module, kernel, blocks_for(n, kBlockThreads), {kBlockThreads}, 0, args);
    };
    runtime::DevicePtr d_mesh = 0;
    if (restructured_) {
      constexpr uint64_t kBytesOfCell = kCfdFaces * 4 * sizeof(float);
      d_mesh = device.allocate((uint64_t(n) + 31) / 32 * 32 * kBytesOfCell, "mesh");
      launch("cfd_panels", runtime::KernelArgs(d_neighbours, d_normals, d_mesh, n));
      if (device.limit_reached()) return skipped_by_limit();
    }
    for (int i = 0; i < iterations; ++i) {
      device.copy_on_device(d_old, d_variables, bytes);
      launch("cfd_step_factor", runtime::KernelArgs(d_variables, d_areas, d_factors, n));
      for (int stages_left = 3; stages_left > 0; --stages_left) {
        if (restructured_) {
          launch("cfd_flux_panels",
                 runtime::KernelArgs(d_mesh, d_variables, d_far_field, d_fluxes, n));
        } else {
          launch("cfd_flux", runtime::KernelArgs(d_neighbours, d_normals, d_variables, d_far_field,
                                                 d_fluxes, n));
        }
        launch("cfd_time_step",
               runtime::KernelArgs(d_old, d_variables, d_factors, d_fluxes, n, stages_left));
        if (device.limit_reached()) return skipped_by_limit();
      }
    }

    for (int i = 0; i < iterations; ++i) cfd_iterate(mesh, variables);
    return check_bits("variables", device.download<float>(d_variables, variables.size()),
                      variables);
  }

 private:
  bool restructured_;
};

}  // namespace

std::unique_ptr<Workload> make_cfd() { return std::make_unique<Cfd>(false); }
std::unique_ptr<Workload> make_cfd_restructured() { return std::make_unique<Cfd>(true); }

}  // namespace nearwarp::workloads
