// Rodinia's euler3d on a generated mesh of as many cells as fvcorr.domn.097K.
#include "bench/workloads/cfd/reference_original.h"
#include "bench/workloads/common/check.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

struct Shape {
  int cells, columns, iterations;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {4'000, 63, 1};
    case Size::kMedium:
      return {24'000, 155, 2};
    case Size::kLarge:
      return {97'046, 311, 4};
    case Size::kPaper:
      return {97'046, 311, 2000};
  }
  return {};
}

class CfdOriginal final : public Workload {
 public:
  std::string name() const override { return "cfd-original"; }
  std::string variant_of() const override { return "cfd"; }
  std::string description() const override {
    return "cfd with the original's layout and kernels: 97,046 cells padded to blocks, far field "
           "in "
           "constant memory";
  }
  std::string source() const override { return "Rodinia, cfd (euler3d)"; }
  std::string ptx_name() const override { return "cfd_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [cells, columns, iterations] = shape_of(size);
    const CfdMesh mesh = cfd_original_mesh(cells, columns);
    const int n = mesh.num_cells;
    const auto to_symbol = [&](const char* symbol, const std::vector<float>& values) {
      device.copy_to_device(device.symbol(module, symbol), values.data(),
                            values.size() * sizeof(float));
    };
    to_symbol("cfd_far_field", cfd_far_field());
    to_symbol("cfd_far_fluxes", cfd_far_fluxes());
    const uint64_t bytes = uint64_t{kCfdVariables} * n * sizeof(float);
    const auto d_areas = device.upload(mesh.areas, "areas");
    const auto d_neighbours = device.upload(mesh.neighbours, "neighbours");
    const auto d_normals = device.upload(mesh.normals, "normals");
    const auto d_variables = device.allocate(bytes, "variables");
    const auto d_old = device.allocate(bytes, "old variables");
    const auto d_fluxes = device.allocate(bytes, "fluxes");
    const auto d_factors = device.allocate(n * sizeof(float), "step factors");
    const auto launch = [&](const char* kernel, const runtime::KernelArgs& args) {
      device.launch(module, kernel, blocks_for(n, kCfdBlock), {kCfdBlock}, 0, args);
    };
    for (const auto values : {d_variables, d_old, d_fluxes})
      launch("cfd_original_start", runtime::KernelArgs(n, values));
    for (int i = 0; i < iterations; ++i) {
      device.copy_on_device(d_old, d_variables, bytes);
      launch("cfd_original_step_factor", runtime::KernelArgs(n, d_variables, d_areas, d_factors));
      for (int stages_left = 3; stages_left > 0; --stages_left) {
        launch("cfd_original_flux",
               runtime::KernelArgs(n, d_neighbours, d_normals, d_variables, d_fluxes));
        launch("cfd_original_time_step",
               runtime::KernelArgs(stages_left, n, d_old, d_variables, d_factors, d_fluxes));
        if (device.limit_reached()) return skipped_by_limit();
      }
    }
    std::vector<float> variables = cfd_original_start(mesh);
    for (int i = 0; i < iterations; ++i) cfd_original_iterate(mesh, variables);
    return check_bits("variables", device.download<float>(d_variables, variables.size()),
                      variables);
  }
};

}  // namespace

std::unique_ptr<Workload> make_cfd_original() { return std::make_unique<CfdOriginal>(); }

}  // namespace nearwarp::workloads
