// Latency against load: warm-up, measurement, drain, for one load or many.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/timing/noc/config.h"

namespace nearwarp::kernels {
class Device;
}

namespace nearwarp::noc {

/// How busy a link between two routers, or to a terminal, was while it was measured.
struct LinkUse {
  uint32_t router = 0, port = 0;
  bool to_terminal = false;
  uint32_t to = 0;         ///< router, or terminal
  double utilisation = 0;  ///< flits per cycle
};

/// One load. Rates in flits per sending node and cycle, times in cycles.
struct LoadPoint {
  double rate = 0;
  bool stable = false;
  std::string why;             ///< unstable: how that was seen
  double accepted = 0;         ///< received while it was measured
  double latency = 0;          ///< mean over measured packets, from creation to the tail's arrival
  double latency_error = 0;    ///< half width of its 95 % interval, from the periods' means
  double network_latency = 0;  ///< the same from the head's entering the network; requests only
  // Means of request-reply traffic: by kind, and from a request's creation to its
  // reply's.
  double request_latency = 0, reply_latency = 0, round_trip = 0;
  double hops = 0;  ///< routers passed, mean
  uint32_t max_latency = 0;
  uint64_t packets = 0;  ///< measured
  uint64_t warmup_cycles = 0, measured_cycles = 0, drain_cycles = 0;
  uint64_t router_cycles = 0;  ///< simulated in all
  double seconds = 0;
  std::vector<LinkUse> links;
};

/// Measure one load on a fresh network. Throws UsageError for a rate outside of (0, 1].
LoadPoint measure_load(const NocConfig& config, const MeasureConfig& measure, double rate);

/// Called now and then with the number of loads that are done, and of all, one call at a time;
/// false asks to stop.
using Watch = std::function<bool(size_t done, size_t all)>;

/// Measure several loads, `threads` at a time; results in the order of `rates`, whatever the
/// number of threads. Asked to stop, those that were done by then.
std::vector<LoadPoint> measure_loads(const NocConfig& config, const MeasureConfig& measure,
                                     std::span<const double> rates, unsigned threads,
                                     const Watch& watch = {});
/// Measures the loads on a device, all at a time; equal results.
std::vector<LoadPoint> measure_loads(const NocConfig& config, const MeasureConfig& measure,
                                     std::span<const double> rates, kernels::Device& device,
                                     const Watch& watch = {});

/// Measures loads on a CUDA device. Throws nearwarp::Error if it fails or has too little memory.
std::vector<LoadPoint> measure_loads_on_cuda(const NocConfig& config, const MeasureConfig& measure,
                                             std::span<const double> rates, int device,
                                             const Watch& watch = {});

/// Where a network saturates: between the two rates.
struct Saturation {
  double stable_rate = 0;       ///< the highest offered load seen to be stable
  double unstable_rate = 0;     ///< the lowest seen to be not; 0: none
  double accepted_at_full = 0;  ///< accepted when 1.0 is offered
};
/// One of the functions above, with all but the rates given.
using MeasureLoads = std::function<std::vector<LoadPoint>(std::span<const double>)>;
/// Finds it to within `step` flits per node and cycle. Nothing if a search was stopped: if
/// `measure_all` returned fewer loads than it was given.
std::optional<Saturation> find_saturation(const MeasureLoads& measure_all, double step);

}  // namespace nearwarp::noc
