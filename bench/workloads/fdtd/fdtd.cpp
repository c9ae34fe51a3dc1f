#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

struct Shape {
  int nx = 0, ny = 0, steps = 0;
};

Shape shape(Size size) {
  switch (size) {
    case Size::kSmall:
      return {256, 256, 2};
    case Size::kMedium:
      return {512, 512, 4};
    case Size::kLarge:
      return {2048, 2048, 4};
    case Size::kPaper:
      return {2048, 2048, 500};
  }
  return {};
}

struct Fields {
  std::vector<float> ex, ey, hz;
};

Fields initial(const Shape& s) {
  Fields f;
  for (int k = 0; k < s.nx * (s.ny + 1); ++k) f.ex.push_back(random_unit(1, k));
  for (int k = 0; k < (s.nx + 1) * s.ny; ++k) f.ey.push_back(random_unit(2, k));
  for (int k = 0; k < s.nx * s.ny; ++k) f.hz.push_back(random_unit(3, k));
  return f;
}

void step(const Shape& s, float source, Fields& f) {
  const int ny = s.ny;
  for (int j = 0; j < ny; ++j) f.ey[j] = source;
  for (int i = 1; i < s.nx; ++i)
    for (int j = 0; j < ny; ++j)
      f.ey[i * ny + j] -= 0.5f * (f.hz[i * ny + j] - f.hz[(i - 1) * ny + j]);
  for (int i = 0; i < s.nx; ++i)
    for (int j = 1; j < ny; ++j)
      f.ex[i * (ny + 1) + j] -= 0.5f * (f.hz[i * ny + j] - f.hz[i * ny + j - 1]);
  for (int i = 0; i < s.nx; ++i)
    for (int j = 0; j < ny; ++j)
      f.hz[i * ny + j] -= 0.7f * (f.ex[i * (ny + 1) + j + 1] - f.ex[i * (ny + 1) + j] +
                                  f.ey[(i + 1) * ny + j] - f.ey[i * ny + j]);
}

class Fdtd final : public Workload {
 public:
  std::string name() const override { return "fdtd"; }
  std::string description() const override {
    return "finite differences in time, two dimensions, three kernels per step";
  }
  std::string source() const override { return "PolyBench-GPU (FDTD-2D)"; }
  std::string ptx_name() const override { return "fdtd.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const Shape s = shape(size);
    Fields f = initial(s);
    std::vector<float> source(s.steps);
    for (int t = 0; t < s.steps; ++t) source[t] = static_cast<float>(t);
    const auto d_source = device.upload(source, "source"), d_ex = device.upload(f.ex, "ex"),
               d_ey = device.upload(f.ey, "ey"), d_hz = device.upload(f.hz, "hz");
    const runtime::Dim3 block{32, 8};
    const runtime::Dim3 grid{static_cast<uint32_t>((s.ny + 31) / 32),
                             static_cast<uint32_t>((s.nx + 7) / 8)};
    for (int t = 0; t < s.steps && !device.limit_reached(); ++t) {
      device.launch(module, "fdtd_ey", grid, block, 0,
                    runtime::KernelArgs(d_source, d_ey, d_hz, t, s.nx, s.ny));
      device.launch(module, "fdtd_ex", grid, block, 0, runtime::KernelArgs(d_ex, d_hz, s.nx, s.ny));
      device.launch(module, "fdtd_hz", grid, block, 0,
                    runtime::KernelArgs(d_ex, d_ey, d_hz, s.nx, s.ny));
    }
    if (device.limit_reached()) return skipped_by_limit();
    for (int t = 0; t < s.steps; ++t) step(s, source[t], f);
    return both(check_bits("ex", device.download<float>(d_ex, f.ex.size()), f.ex),
                both(check_bits("ey", device.download<float>(d_ey, f.ey.size()), f.ey),
                     check_bits("hz", device.download<float>(d_hz, f.hz.size()), f.hz)));
  }
};

}  // namespace

std::unique_ptr<Workload> make_fdtd() { return std::make_unique<Fdtd>(); }

}  // namespace nearwarp::workloads
