#include "bench/workloads/common/check.h"
#include "bench/workloads/common/mpu_layout.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr float kLatitude = 30.0f, kLongitude = 90.0f;  // those of Rodinia's example

class NearestNeighbourMpu final : public Workload {
 public:
  std::string name() const override { return "nearest-neighbour-mpu"; }
  std::string variant_of() const override { return "nearest-neighbour"; }
  std::string description() const override {
    return "squares of distances of places from one place, coordinates in planes";
  }
  std::string source() const override { return kMpuSource; }
  std::string ptx_name() const override { return "nearest_neighbour_mpu.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int n = mpu_values(size);
    std::vector<float> places(2 * size_t(n)), expected(n);
    for (int i = 0; i < n; ++i) {
      places[i] = 7.0f + 63.0f * random_unit(113, i);  // [degrees]
      places[n + i] = 358.0f * random_unit(114, i);
      const float north = kLatitude - places[i], east = kLongitude - places[n + i];
      expected[i] = north * north + east * east;
    }
    const auto d_places = device.upload(places, "places");
    const auto d_distance = device.allocate(n * sizeof(float), "distance");
    device.launch(module, "nearest_neighbour_mpu", {kMpuBlocks}, {kMpuThreads}, 0,
                  runtime::KernelArgs(d_places, d_distance, n, kLatitude, kLongitude));
    if (device.limit_reached()) return skipped_by_limit();
    return check_bits("distance", device.download<float>(d_distance, n), expected);
  }
};

}  // namespace

std::unique_ptr<Workload> make_nearest_neighbour_mpu() {
  return std::make_unique<NearestNeighbourMpu>();
}

}  // namespace nearwarp::workloads
