// One load's measurement, a stretch of cycles at a time: the code that steps the network asks how
// many cycles the next stretch has.
//
// Time is cut into periods. Warm-up lasts until two periods in a row have nearly the same mean
// latency and accepted load. Then periods are measured, at least min_periods of them, until the
// mean's confidence interval is narrow enough. Packets created in measured periods are tagged; the
// sources go on while they drain. A load is unstable if the mean latency, or the mean time that
// sources are behind, exceeds the limit, or if latencies never settle; then no drain is waited for,
// and what is accepted is measured from the end of the shortest warm-up on.
#pragma once

#include <chrono>

#include "host/timing/noc/measure.h"
#include "host/timing/noc/network.h"

namespace nearwarp::noc {

class Measurement {
 public:
  /// Throws UsageError for a rate outside of (0, 1].
  Measurement(const NocConfig& config, const MeasureConfig& measure, double rate);

  Network& network() { return network_; }
  /// How many cycles the network is to be stepped now; 0: the measurement is over.
  uint64_t wanted() const { return wanted_; }
  /// Tells that wanted() cycles have been stepped.
  void stepped();
  /// The result, once the measurement is over.
  const LoadPoint& point() const { return point_; }

 private:
  enum class Phase { kWarmUp, kMeasure, kDrain };

  void probe();
  void warmed_up();
  void begin_measuring();
  void measured();
  void collect_rates();
  void drained();
  void finish();
  void unstable(const std::string& why);
  bool is_unstable() const { return !point_.why.empty(); }
  void check_limit();
  uint64_t outstanding() const;

  MeasureConfig m_;
  Network network_;
  LoadPoint point_;
  Phase phase_ = Phase::kWarmUp;
  uint64_t period_ = 0;     ///< cycles
  bool is_sparse_ = false;  ///< a period has fewer packets than MeasureConfig wants, perhaps none
  uint64_t wanted_ = 0;
  uint32_t periods_ = 0;  ///< of the phase so far
  std::chrono::steady_clock::time_point begin_;
  // The last period.
  TrafficTotals totals_;
  double latency_ = 0, accepted_ = 0;
  bool has_latency_ = false;  ///< some packet has arrived, or should have
  double waiting_ = 0;        ///< mean age of what the sources decide next
  // Warm-up.
  uint32_t settled_ = 0;
  // Measurement.
  uint64_t measure_begin_ = 0, measure_end_ = 0;
  TrafficTotals before_;
  std::vector<uint64_t> sent_before_, received_before_;
  double sum_ = 0, squares_ = 0;  ///< of periods' latencies
  uint32_t latencies_ = 0;        ///< periods that have one
};

}  // namespace nearwarp::noc
