// Finds the base clock, of which all clocks of a machine are whole fractions.
#include "host/config/base_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace nearwarp::config {

namespace {

constexpr uint64_t kMaxBaseMhz = 2'000'000;  // ticks stay far from the ends of their integers

using Clocks = std::array<std::pair<const char*, uint64_t>, 5>;

/// The machine's clocks in MHz, the core clock first. A clock of 0 (that of stack SMs) is the core
/// clock.
Clocks clocks_of(const MachineConfig& m) {
  return {{{"clocks.core_mhz", m.clocks.core_mhz},
           {"clocks.interconnect_mhz", m.clocks.interconnect_mhz},
           {"clocks.l2_mhz", m.clocks.l2_mhz},
           {"clocks.dram_mhz", m.clocks.dram_mhz},
           {"stack_sm.clock_mhz", m.stack_sm.clock_mhz}}};
}

uint64_t rounded_period(uint64_t base, uint64_t mhz) {
  return std::max<uint64_t>(1, (base + mhz / 2) / mhz);
}

/// The relative error of a clock whose period is a whole number of ticks of `base`, times 10^9.
uint64_t error_ppb(uint64_t base, uint64_t mhz) {
  const uint64_t product = rounded_period(base, mhz) * mhz;
  return (product > base ? product - base : base - product) * 1'000'000'000 / product;
}

/// The lowest multiple of the core clock with the least error of the worst clock.
uint64_t closest_base(const Clocks& clocks) {
  const uint64_t step = clocks[0].second;
  uint64_t best = step, least = ~uint64_t{0};
  for (uint64_t base = step; base <= kMaxBaseMhz && least != 0; base += step) {
    uint64_t worst = 0;
    for (const auto& [name, mhz] : clocks)
      if (mhz != 0) worst = std::max(worst, error_ppb(base, mhz));
    if (worst >= least) continue;
    least = worst;
    best = base;
  }
  return best;
}

}  // namespace

uint64_t base_mhz(const MachineConfig& machine) {
  const Clocks clocks = clocks_of(machine);
  uint64_t base = 1;
  for (const auto& [name, mhz] : clocks) {
    if (mhz != 0) base = std::lcm(base, mhz);
    if (base > kMaxBaseMhz) return closest_base(clocks);
  }
  return base;
}

std::string clock_note(const MachineConfig& machine) {
  const uint64_t base = base_mhz(machine);
  std::string text;
  for (const auto& [name, mhz] : clocks_of(machine)) {
    if (mhz == 0 || base % mhz == 0) continue;
    const double simulated =
        static_cast<double>(base) / static_cast<double>(rounded_period(base, mhz));
    text += fmt::format("{}{} is simulated as {:.4f} MHz, {:+.0f} ppm", text.empty() ? "" : "; ",
                        name, simulated, (simulated / static_cast<double>(mhz) - 1) * 1e6);
  }
  return text;
}

}  // namespace nearwarp::config
