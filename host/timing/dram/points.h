// Several runs of memory channels side by side.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/timing/dram/channel_run.h"
#include "kernels/device.h"

namespace nearwarp::dram {

/// One run: a standard under a load.
struct Point {
  const config::DramConfig* standard = nullptr;
  Load load = Traffic{};
  std::string label;  ///< heads its column
};

/// Called now and then with the cycles that all points together have simulated, one call at a time;
/// false asks to stop.
using Watch = std::function<bool(uint64_t cycles)>;

/// The result of each point, in order; nothing for those not over when `watch` asked to stop.
using RunResults = std::vector<std::optional<RunResult>>;

/// Run all points, `threads` at a time.
RunResults run_points(std::span<const Point> points, const RunOptions& options, unsigned threads,
                      const Watch& watch = {});

/// Runs all points at once on a device. Throws nearwarp::Error if they do not fit its memory.
RunResults run_points_on(kernels::Device& device, std::span<const Point> points,
                         const RunOptions& options, const Watch& watch = {});

/// Runs all points at once on CUDA device `index`.
RunResults run_points_on_cuda(int index, std::span<const Point> points, const RunOptions& options,
                              const Watch& watch = {});

/// Energy of a run in picojoules; a part is empty where the standard does not say what it costs.
struct Energy {
  std::optional<double> activation, read, write, io, refresh, background;
  bool complete() const;
  /// Sum of the parts that are known; empty if none is.
  std::optional<double> known() const;
};
Energy energy_of(const config::DramConfig& standard, const RunResult& result);

}  // namespace nearwarp::dram
