#include <algorithm>
#include <cmath>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockThreads = 256;                 // Rodinia's
constexpr float kLatitude = 30.0f, kLongitude = 90.0f;  // those of its example
constexpr int kWanted = 5;                              // and its number of neighbours

int num_places(Size size) {
  switch (size) {
    case Size::kSmall:
      return 200 * 1024;  // Rodinia's 42,764 hurricanes are over at once
    case Size::kMedium:
      return 2 << 20;
    case Size::kLarge:
      return 16 << 20;
    case Size::kPaper:
      return 32 << 20;
  }
  return 0;
}

struct Place {
  float latitude, longitude;
};

/// Indices of the nearest places, the nearest first, the lower index among equals.
std::vector<int32_t> nearest(const std::vector<float>& distance) {
  std::vector<int32_t> index(distance.size());
  for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int32_t>(i);
  std::partial_sort(index.begin(), index.begin() + kWanted, index.end(), [&](int a, int b) {
    return distance[a] < distance[b] || (distance[a] == distance[b] && a < b);
  });
  index.resize(kWanted);
  return index;
}

class NearestNeighbour final : public Workload {
 public:
  std::string name() const override { return "nearest-neighbour"; }
  std::string description() const override {
    return "distances of places from one place, of which the host takes the least";
  }
  std::string source() const override { return "Rodinia, nn"; }
  std::string ptx_name() const override { return "nearest_neighbour.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const int count = num_places(size);
    std::vector<Place> places(count);
    for (int i = 0; i < count; ++i)
      places[i] = {7.0f + 63.0f * random_unit(113, i), 358.0f * random_unit(114, i)};  // [degrees]
    const auto d_places = device.upload(places, "places");
    const auto d_distance = device.allocate(count * sizeof(float), "distance");
    device.launch(module, "nearest_neighbour", blocks_for(count, kBlockThreads), {kBlockThreads}, 0,
                  runtime::KernelArgs(d_places, d_distance, count, kLatitude, kLongitude));
    if (device.limit_reached()) return skipped_by_limit();
    std::vector<float> expected(count);
    for (int i = 0; i < count; ++i) {
      const float north = kLatitude - places[i].latitude, east = kLongitude - places[i].longitude;
      expected[i] = std::sqrt(north * north + east * east);
    }
    const auto distance = device.download<float>(d_distance, count);
    return both(check_bits("distance", distance, expected),
                check_equal("nearest", nearest(distance), nearest(expected)));
  }
};

}  // namespace

std::unique_ptr<Workload> make_nearest_neighbour() { return std::make_unique<NearestNeighbour>(); }

}  // namespace nearwarp::workloads
