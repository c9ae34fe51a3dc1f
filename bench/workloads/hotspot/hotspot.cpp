#include <algorithm>

#include "bench/workloads/common/check.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/workloads.h"

namespace nearwarp::workloads {
namespace {

constexpr uint32_t kTile = 16;  // in hotspot.cu
constexpr int kBorder = 2;      // steps of a launch: Rodinia's pyramid height

struct Shape {
  int side, steps;
};

Shape shape_of(Size size) {
  switch (size) {
    case Size::kSmall:
      return {128, 3};
    case Size::kMedium:
      return {512, 4};
    case Size::kLarge:
      return {1024, 8};
    case Size::kPaper:
      return {1024, 60};  // Rodinia's larger input; its default number of steps
  }
  return {};
}

struct Factors {  // HotspotFactors in hotspot.cu
  float step_per_capacity, per_rx, per_ry, per_rz, ambient;
};

/// Chip, material and time step of Rodinia's hotspot (after HotSpot, W. Huang et al., 2006).
Factors factors_of(int side) {
  constexpr double kThickness = 0.0005, kChipSide = 0.016;         // [m]
  constexpr double kHeatCapacity = 1.75e6, kConductivity = 100.0;  // [J/m^3 K], [W/m K]
  constexpr double kCapacityFit = 0.5, kMaxPower = 3.0e6;          // HotSpot's fit, [W/m^2]
  constexpr double kPrecision = 0.001;                             // [K] in a step at most
  const double cell = kChipSide / side;                            // [m]
  const double capacity = kCapacityFit * kHeatCapacity * kThickness * cell * cell;
  const double r_lateral = cell / (2.0 * kConductivity * kThickness * cell);
  const double r_vertical = kThickness / (kConductivity * cell * cell);
  const double max_slope = kMaxPower / (kCapacityFit * kThickness * kHeatCapacity);
  const auto per_r_lateral = static_cast<float>(1.0 / r_lateral);
  return {static_cast<float>(kPrecision / max_slope / capacity), per_r_lateral, per_r_lateral,
          static_cast<float>(1.0 / r_vertical), 80.0f};
}

void step(const Factors& f, int side, const std::vector<float>& power, std::vector<float>& t) {
  const std::vector<float> before = t;
  const auto at = [&](int x, int y) {
    return before[size_t(std::clamp(y, 0, side - 1)) * side + std::clamp(x, 0, side - 1)];
  };
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const float here = at(x, y);
      t[size_t(y) * side + x] =
          here + f.step_per_capacity * (power[size_t(y) * side + x] +
                                        (at(x, y + 1) + at(x, y - 1) - 2.0f * here) * f.per_ry +
                                        (at(x + 1, y) + at(x - 1, y) - 2.0f * here) * f.per_rx +
                                        (f.ambient - here) * f.per_rz);
    }
  }
}

class Hotspot final : public Workload {
 public:
  std::string name() const override { return "hotspot"; }
  std::string description() const override {
    return "heat on a chip over time, two steps a launch on tiles in shared memory";
  }
  std::string source() const override { return "Rodinia, hotspot"; }
  std::string ptx_name() const override { return "hotspot.ptx"; }

  CheckResult drive(runtime::VirtualDevice& device, uint32_t module, Size size) const override {
    const auto [side, steps] = shape_of(size);
    const Factors factors = factors_of(side);
    std::vector<float> temperature(size_t(side) * side), power(temperature.size());
    for (size_t i = 0; i < power.size(); ++i) {
      temperature[i] = 323.0f + 20.0f * random_unit(81, i);  // [K]
      power[i] = 1e-3f * random_unit(82, i);                 // [W]
    }
    const auto d_power = device.upload(power, "power");
    auto from = device.upload(temperature, "temperature");
    auto to = device.allocate(temperature.size() * sizeof(float), "temperature 2");
    const uint32_t inner = kTile - 2 * kBorder, blocks = blocks_for(side, inner).x;
    for (int done = 0; done < steps; done += kBorder) {
      device.launch(module, "hotspot_steps", {blocks, blocks}, {kTile, kTile}, 0,
                    runtime::KernelArgs(d_power, from, to, side, side, kBorder,
                                        std::min(kBorder, steps - done), factors));
      if (device.limit_reached()) return skipped_by_limit();
      std::swap(from, to);
    }
    for (int i = 0; i < steps; ++i) step(factors, side, power, temperature);
    return check_bits("temperature", device.download<float>(from, temperature.size()), temperature);
  }
};

}  // namespace

std::unique_ptr<Workload> make_hotspot() { return std::make_unique<Hotspot>(); }

}  // namespace nearwarp::workloads
