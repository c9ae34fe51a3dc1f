#include "bench/workloads/common/check.h"
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
      return ray_scene(2048, 1024, 2048);
    case Size::kPaper:
      return ray_scene(4096, 2048, 2048);
  }
  return {};
}

class Ray final : public Workload {
 public:
  std::string name() const override { return "ray"; }
  std::string description() const override {
    return "ray tracing of spheres over a textured floor, with shadows and up to four reflections";
  }
  std::string source() const override { return "GPGPU-Sim, RAY"; }
  std::string ptx_name() const override { return "ray.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const RayScene scene = scene_of(size);
    const int width = scene.width, height = scene.height;
    const int num_spheres = static_cast<int>(scene.spheres.size());
    const auto to_symbol = [&](const char* symbol, const auto& values) {
      device.copy_to_device(device.symbol(module, symbol), values.data(),
                            values.size() * sizeof(values[0]));
    };
    to_symbol("ray_spheres", scene.spheres);
    to_symbol("ray_colours", scene.colours);
    const auto d_texture = device.upload(scene.texture, "texture");
    const auto d_image = device.allocate(uint64_t(width) * height * sizeof(uint32_t), "image");
    const runtime::Dim3 grid = {(width + kBlockShape.x - 1) / kBlockShape.x,
                                (height + kBlockShape.y - 1) / kBlockShape.y};
    device.launch(
        module, "ray_trace", grid, kBlockShape, 0,
        runtime::KernelArgs(d_texture, d_image, width, height, num_spheres, scene.texture_size));
    if (device.limit_reached()) return skipped_by_limit();

    std::vector<int32_t> expected;
    for (int y = 0; y < height; ++y) {
      for (const RayColour& colour : ray_reference_row(scene, y))
        expected.push_back(static_cast<int32_t>(ray_packed(colour)));
    }
    return check_equal("image", device.download<int32_t>(d_image, expected.size()), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_ray() { return std::make_unique<Ray>(); }

}  // namespace nearwarp::workloads
