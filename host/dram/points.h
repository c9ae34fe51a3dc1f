// Several runs of memory channels side by side.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/dram/channel_run.h"
#include "kernels/device.h"

namespace nearwarp::dram {

/// One run: a standard under a load.
struct Point {
  const config::DramConfig* standard = nullptr;
  Traffic traffic;
  std::string label;  ///< heads its column
};

/// Run all points, `threads` at a time; results are in the order of the points.
std::vector<RunResult> run_points(std::span<const Point> points, const RunOptions& options,
                                  unsigned threads);

/// The same on a device, all at once. Throws nearwarp::Error if they do not fit its memory.
std::vector<RunResult> run_points_on(kernels::Device& device, std::span<const Point> points,
                                     const RunOptions& options);

/// The same on CUDA device `index`.
std::vector<RunResult> run_points_on_cuda(int index, std::span<const Point> points,
                                          const RunOptions& options);

/// Energy of a run in picojoules; a part is empty where the standard does not say what it costs.
struct Energy {
  std::optional<double> activation, read, write, io, refresh, background;
  bool complete() const;
  /// Sum of the parts that are known; empty if none is.
  std::optional<double> known() const;
};
Energy energy_of(const config::DramConfig& standard, const RunResult& result);

}  // namespace nearwarp::dram
