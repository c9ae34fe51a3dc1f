// One memory channel by itself under generated or recorded traffic.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/dram/traffic_state.h"
#include "device/dram/vault_state.h"
#include "host/config/dram.h"

namespace nearwarp::dram {

/// What is asked of the memory.
struct Traffic {
  TrafficPattern pattern = TrafficPattern::kStrided;
  uint64_t stride_lines = 1;
  std::vector<TrafficAccess> trace;
  uint32_t writes_num = 0, writes_den = 1;  ///< share of writes; not for traces
  TrafficPacing pacing = TrafficPacing::kSaturated;
  uint32_t outstanding = 1;  ///< kWindow
  uint64_t rate_ppm = 0;     ///< kOpen, except traces: offered share of the peak bandwidth, 10^-6
  uint64_t seed = 1;
};

struct RunOptions {
  uint64_t warm_up_cycles = 50'000;
  uint64_t cycles = 1'000'000;  ///< measured; a trace is measured from its beginning to its end
  // How it is stepped; results do not depend on it.
  uint32_t order_seed = 0, shuffle_lanes = 0;
  Tick window_ticks = 0;  ///< 0: as long as possible
};

/// Of the measured cycles.
struct RunResult {
  uint64_t cycles = 0;
  VaultCounters commands;
  TrafficCounters traffic;
  std::vector<std::pair<uint64_t, uint64_t>> latencies;  ///< of reads: cycles from, number
  double peak_bytes_per_cycle = 0, clock_mhz = 0;
  double wall_seconds = 0;        ///< warm-up and draining included,
  uint64_t simulated_cycles = 0;  ///< as here
  uint64_t simulated_requests = 0;

  double bytes() const;
  double share_of_peak() const;
  double gigabytes_per_second() const;
  double row_hit_rate() const;
  double mean_latency() const;
  /// Least latency that `permille` of the reads do not exceed; within 1 % above 255 cycles.
  uint64_t latency_quantile(uint32_t permille) const;
};

/// The parameters of the model for a standard; in ticks of `*base_mhz`.
VaultParams vault_params(const config::DramConfig& standard, uint64_t* base_mhz = nullptr);

/// Simulate. Throws nearwarp::Error if something got lost.
RunResult run_channel(const config::DramConfig& standard, const Traffic& traffic,
                      const RunOptions& options);

}  // namespace nearwarp::dram
