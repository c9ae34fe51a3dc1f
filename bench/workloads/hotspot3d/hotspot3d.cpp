#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kBlockX = 64, kBlockY = 4;  // Rodinia's
constexpr int kLayers = 8;

struct Shape {
  int side, steps;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {64, 6};
    case Size::kMedium:
      return {256, 6};
    case Size::kLarge:
      return {512, 10};
    case Size::kPaper:
      return {512, 100};  // Rodinia's larger input and number of steps
  }
  return {};
}

struct Factors {  // Hotspot3dFactors in hotspot3d.cu
  float centre, sideways_x, sideways_y, vertical, per_power, ambient;
};

/// Chip, material and time step of Rodinia's hotspot3D (after HotSpot, W. Huang et al., 2006).
Factors factors_of(int side) {
  constexpr double kThickness = 0.0005, kChipSide = 0.016;             // [m]
  constexpr double kHeatCapacity = 1.75e6, kConductivity = 100.0;      // [J/m^3 K], [W/m K]
  constexpr double kCapacityFit = 0.5, kMaxPower = 3.0e6;              // HotSpot's fit, [W/m^2]
  constexpr double kPrecision = 0.001;                                 // [K] in a step at most
  const double cell = kChipSide / side, layer = kThickness / kLayers;  // [m]
  const double capacity = kCapacityFit * kHeatCapacity * kThickness * cell * cell;
  const double r_lateral = cell / (2.0 * kConductivity * kThickness * cell);
  const double r_vertical = layer / (kConductivity * cell * cell);
  const double max_slope = kMaxPower / (kCapacityFit * kThickness * kHeatCapacity);
  const double per_capacity = kPrecision / max_slope / capacity;
  const double lateral = per_capacity / r_lateral, vertical = per_capacity / r_vertical;
  return {static_cast<float>(1.0 - (4.0 * lateral + 3.0 * vertical)),
          static_cast<float>(lateral),
          static_cast<float>(lateral),
          static_cast<float>(vertical),
          static_cast<float>(per_capacity),
          80.0f};
}

void step(const Factors& f, int side, const std::vector<float>& power, std::vector<float>& t) {
  const std::vector<float> before = t;
  const auto at = [&](int x, int y, int z) {
    const auto inside = [](int i, int end) {
      return static_cast<size_t>(std::clamp(i, 0, end - 1));
    };
    return before[(inside(z, kLayers) * side + inside(y, side)) * side + inside(x, side)];
  };
  size_t i = 0;
  for (int z = 0; z < kLayers; ++z) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x, ++i) {
        t[i] = f.centre * at(x, y, z) + f.sideways_y * (at(x, y - 1, z) + at(x, y + 1, z)) +
               f.sideways_x * (at(x - 1, y, z) + at(x + 1, y, z)) +
               f.vertical * (at(x, y, z + 1) + at(x, y, z - 1)) + f.per_power * power[i] +
               f.vertical * f.ambient;
      }
    }
  }
}

class Hotspot3d final : public Workload {
 public:
  std::string name() const override { return "hotspot3d"; }
  std::string description() const override {
    return "heat in a chip of eight layers over time, a thread per column of cells";
  }
  std::string source() const override { return "Rodinia, hotspot3D"; }
  std::string ptx_name() const override { return "hotspot3d.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [side, steps] = shape_of(size);
    const Factors factors = factors_of(side);
    std::vector<float> temperature(size_t(side) * side * kLayers), power(temperature.size());
    for (size_t i = 0; i < power.size(); ++i) {
      temperature[i] = 323.0f + 20.0f * random_unit(117, i);  // [K]
      power[i] = 1e-3f * random_unit(118, i);                 // [W]
    }
    const auto d_power = device.upload(power, "power");
    auto from = device.upload(temperature, "temperature");
    auto to = device.allocate(temperature.size() * sizeof(float), "temperature 2");
    const runtime::Dim3 grid = {blocks_for(side, kBlockX).x, blocks_for(side, kBlockY).x};
    for (int done = 0; done < steps; ++done) {
      device.launch(module, "hotspot3d_step", grid, {kBlockX, kBlockY}, 0,
                    runtime::KernelArgs(d_power, from, to, side, side, kLayers, factors));
      if (device.limit_reached()) return skipped_by_limit();
      std::swap(from, to);
    }
    for (int i = 0; i < steps; ++i) step(factors, side, power, temperature);
    return check_bits("temperature", device.download<float>(from, temperature.size()), temperature);
  }
};

}  // namespace

std::unique_ptr<Workload> make_hotspot3d() { return std::make_unique<Hotspot3d>(); }

}  // namespace nearwarp::workloads
