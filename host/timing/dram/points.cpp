// Runs several memory channels in threads, and computes the energy of a run.
#include "host/timing/dram/points.h"

#include <mutex>
#include <utility>

#include "host/config/constraints.h"
#include "host/core/workers.h"

namespace nearwarp::dram {

RunResults run_points(std::span<const Point> points, const RunOptions& options, unsigned threads,
                      const Watch& watch) {
  RunResults results(points.size());
  Workers workers(points.size(), threads);
  std::mutex watching;
  uint64_t all_cycles = 0;
  const auto goes_on = [&](uint64_t more) {
    const std::lock_guard lock(watching);
    all_cycles += more;
    if (watch && !watch(all_cycles)) workers.stop();
    return !workers.stopped();
  };
  workers.run([&](size_t i, unsigned) {
    uint64_t before = 0;
    results[i] = run_channel_while(*points[i].standard, points[i].load, options, [&](uint64_t now) {
      return goes_on(now - std::exchange(before, now));
    });
  });
  return results;
}

bool Energy::complete() const { return activation && read && write && io && refresh && background; }
std::optional<double> Energy::known() const {
  std::optional<double> sum;
  for (const auto& part : {activation, read, write, io, refresh, background}) {
    if (part) sum = sum.value_or(0) + *part;
  }
  return sum;
}

Energy energy_of(const config::DramConfig& standard, const RunResult& result) {
  const auto times = [](std::optional<uint64_t> femtojoules, double n) {
    return femtojoules ? std::optional(static_cast<double>(*femtojoules) * n / 1e3) : std::nullopt;
  };
  const VaultCounters& c = result.commands;
  const config::DramConfig::Energy& e = standard.energy;
  const double read_bits = 8 * static_cast<double>(c.data_bytes_read);
  const double written_bits = 8 * static_cast<double>(c.data_bytes_written);
  Energy energy;
  energy.activation = times(e.activation_fj, static_cast<double>(c.activates));
  energy.read = times(e.read_fj_per_bit, read_bits);
  energy.write = times(e.write_fj_per_bit, written_bits);
  energy.io = times(e.io_fj_per_bit, read_bits + written_bits);
  energy.refresh =
      times(e.refresh_fj, static_cast<double>(c.refreshes) / config::refreshes_of_all(standard));
  // Microwatts times microseconds are picojoules; `times` divides by 1000.
  energy.background =
      times(e.background_uw, 1e3 * static_cast<double>(result.cycles) / result.clock_mhz);
  return energy;
}

}  // namespace nearwarp::dram
