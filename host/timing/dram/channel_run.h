// One memory channel by itself under generated or recorded traffic.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/timing/dram/channel_system.h"
#include "kernels/cpu_executor.h"

namespace nearwarp::dram {

struct RunOptions {
  uint64_t warm_up_cycles = 50'000;
  uint64_t cycles = 1'000'000;  ///< measured; a trace is measured from its beginning to its end
  // How it is stepped; results do not depend on it.
  uint32_t order_seed = 0;  ///< see kernels::ExecutorOptions
  kernels::StepOnCpu family = nullptr;
  Tick window_ticks = 0;  ///< 0: as long as possible
};

/// Accesses that were sent and served in the measured cycles.
struct Served {
  TrafficCounters traffic;
  std::vector<std::pair<uint64_t, uint64_t>> latencies;  ///< of reads: cycles from, number

  double mean_latency() const;
  /// Least latency that `permille` of the reads do not exceed; within 1 % above 255 cycles.
  uint64_t latency_quantile(uint32_t permille) const;
};

/// Results of the measured cycles, for all streams together and one by one.
struct RunResult : Served {
  uint64_t cycles = 0;
  VaultCounters commands;
  std::vector<Served> streams;
  uint32_t access_bytes = 0;
  double peak_bytes_per_cycle = 0, clock_mhz = 0;
  double wall_seconds = 0;        ///< warm-up and draining included,
  uint64_t simulated_cycles = 0;  ///< as here
  uint64_t simulated_requests = 0;

  double bytes() const;
  double share_of_peak() const;
  double gigabytes_per_second() const;
  double row_hit_rate() const;
  // Figures of one stream: reads whose data came, and writes that were sent.
  double share_of_peak(const Served& stream) const;
  double gigabytes_per_second(const Served& stream) const;
};

/// A run, the stepping of windows apart: warm-up, measurement, and what is left under way.
class ChannelRun {
 public:
  ChannelRun(const config::DramConfig& standard, const Load& load, const RunOptions& options);

  ChannelSystem& system() { return system_; }
  kernels::RunControl& control() { return control_; }
  uint64_t cycles() const { return control_.last / system_.period(); }
  std::span<kernels::Component> components();
  /// The run as a backend that works on the host's memory sees it.
  kernels::RunState state();

  /// After a stop: begin the next phase; false if there is none. Throws nearwarp::Error if
  /// something got lost.
  bool serve();
  RunResult finish();

 private:
  enum class Phase { kWarmUp, kMeasure, kDrain, kOver };

  VaultState& vault() { return *system_.arena.get(system_.vault); }
  TrafficState& source() { return *system_.arena.get(system_.source); }
  std::span<TrafficStream> streams();
  std::span<uint64_t> histogram(const TrafficStream& stream);
  void catch_up(Tick now);
  void begin_measuring();
  void end_measuring();
  void check() const;

  double data_mbps_ = 0, clock_mhz_ = 0;
  bool whole_ = false;  ///< a trace: measured from end to end
  RunOptions options_;
  ChannelSystem system_;
  kernels::RunControl control_;
  Phase phase_ = Phase::kWarmUp;
  Tick from_ = 0;
  VaultCounters before_;
  RunResult result_;
  std::chrono::steady_clock::time_point begun_;
};

/// Simulate on the CPU. Throws nearwarp::Error if something got lost.
RunResult run_channel(const config::DramConfig& standard, const Load& load,
                      const RunOptions& options);
/// As run_channel(), while `goes_on`, called now and then with the cycles simulated so far, says
/// so; nothing if it has stopped the run.
std::optional<RunResult> run_channel_while(const config::DramConfig& standard, const Load& load,
                                           const RunOptions& options,
                                           const std::function<bool(uint64_t cycles)>& goes_on);

}  // namespace nearwarp::dram
