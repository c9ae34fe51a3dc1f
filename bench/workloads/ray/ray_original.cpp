// GPGPU-Sim's RAY as it is launched: 256 x 256 pixels in blocks of 16 x 8.
#include "bench/workloads/common/check.h"
#include "bench/workloads/ray/reference_original.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr runtime::Dim3 kBlockShape = {16, 8};

class RayOriginal final : public Workload {
 public:
  std::string name() const override { return "ray-original"; }
  std::string variant_of() const override { return "ray"; }
  std::string description() const override {
    return "ray with the original's scene: nothing read from global memory; 256 x 256 pixels";
  }
  std::string source() const override { return "GPGPU-Sim, RAY"; }
  std::string ptx_name() const override { return "ray_original.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int side = size == Size::kSmall ? 128 : 256;
    const RayPicture picture = ray_picture(side, side);
    device.copy_to_device(device.symbol(module, "ray_objects"), picture.objects.data(),
                          picture.objects.size() * sizeof(RayObject));
    device.copy_to_device(device.symbol(module, "ray_view"), picture.view.data(),
                          picture.view.size() * sizeof(float));
    const auto d_image = device.allocate(uint64_t(side) * side * sizeof(uint32_t), "image");
    device.launch(module, "ray_original_render", {side / kBlockShape.x, side / kBlockShape.y},
                  kBlockShape, 0,
                  runtime::KernelArgs(d_image, side, side, picture.shift, picture.ahead));
    if (device.limit_reached()) return skipped_by_limit();
    return check_equal("image", device.download<int32_t>(d_image, uint64_t(side) * side),
                       ray_original_reference(picture));
  }
};

}  // namespace

std::unique_ptr<Workload> make_ray_original() { return std::make_unique<RayOriginal>(); }

}  // namespace nearwarp::workloads
