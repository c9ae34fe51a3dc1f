#include "bench/workloads/common/check.h"
#include "bench/workloads/embedded.h"
#include "bench/workloads/ray/reference.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr runtime::Dim3 kBlockShape = {16, 8};

RayScene scene_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return ray_scene(128, 64, 256);
    case Size::kMedium:
      return ray_scene(256, 256, 1024);
    case Size::kLarge:
      return ray_scene(1024, 512, 2048);
    case Size::kPaper:
      return ray_scene(1024, 1024, 2048);
  }
  return {};
}

class Ray final : public Workload {
 public:
  std::string name() const override { return "ray"; }
  std::string description() const override {
    return "ray tracing of spheres over a textured floor, with shadows and three reflections";
  }
  std::string source() const override { return "GPGPU-Sim, RAY"; }
  std::string ptx() const override { return embedded::ray_ptx; }
  std::string ptx_name() const override { return "ray.ptx"; }

  CheckResult run(runtime::VirtualDevice& device, Size size) const override {
    const RayScene scene = scene_of(size);
    const int width = scene.width, height = scene.height;
    const int num_spheres = static_cast<int>(scene.spheres.size());
    const uint32_t module = load_ptx(device, embedded::ray_ptx, ptx_name());
    const auto d_spheres = device.upload(scene.spheres, "spheres");
    const auto d_colours = device.upload(scene.colours, "colours");
    const auto d_texture = device.upload(scene.texture, "texture");
    const auto d_image = device.allocate(uint64_t(width) * height * sizeof(float), "image");
    const runtime::Dim3 grid = {(width + kBlockShape.x - 1) / kBlockShape.x,
                                (height + kBlockShape.y - 1) / kBlockShape.y};
    device.launch(module, "ray_trace", grid, kBlockShape, 0,
                  runtime::KernelArgs(d_spheres, d_colours, d_texture, d_image, width, height,
                                      num_spheres, scene.texture_size, scene.max_reflections));
    if (device.limit_reached()) return skipped_by_limit();

    const std::vector<float> image = device.download<float>(d_image, size_t(width) * height);
    std::vector<float> expected;
    for (int y = 0; y < height; ++y) {
      const std::vector<float> row = ray_reference_row(scene, y);
      expected.insert(expected.end(), row.begin(), row.end());
    }
    return check_bits("image", image, expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_ray() { return std::make_unique<Ray>(); }

}  // namespace nearwarp::workloads
