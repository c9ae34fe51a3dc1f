// Latency against load, for many loads in threads, and the search for saturation.
#include "host/noc/measure.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "host/noc/measurement.h"

namespace nearwarp::noc {

LoadPoint measure_load(const NocConfig& config, const MeasureConfig& measure, double rate) {
  Measurement m(config, measure, rate);
  while (m.wanted() != 0) {
    m.network().run(m.wanted());
    m.stepped();
  }
  return m.point();
}

std::vector<LoadPoint> measure_loads(const NocConfig& config, const MeasureConfig& measure,
                                     std::span<const double> rates, unsigned threads) {
  std::vector<LoadPoint> points(rates.size());
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < rates.size();) {
      try {
        points[i] = measure_load(config, measure, rates[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = rates.size();
      }
    }
  };
  std::vector<std::thread> pool;
  for (unsigned k = 1; k < std::min<size_t>(threads, rates.size()); ++k) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();
  if (error) std::rethrow_exception(error);
  return points;
}

Saturation find_saturation(const MeasureLoads& measure_all, double step) {
  Saturation s;
  const LoadPoint top = measure_all(std::vector<double>{1.0})[0];
  s.accepted_at_full = top.accepted;
  if (top.stable) {
    s.stable_rate = 1;
    return s;
  }
  double low = 0, high = 1;
  while (high - low > step) {
    // Three loads at a time, evenly between the bounds.
    std::vector<double> rates;
    for (int k = 1; k <= 3; ++k) rates.push_back(low + (high - low) * k / 4);
    for (const LoadPoint& p : measure_all(rates)) {
      if (p.stable) {
        low = p.rate;
      } else {
        high = p.rate;
        break;
      }
    }
  }
  s.stable_rate = low;
  s.unstable_rate = high;
  return s;
}

}  // namespace nearwarp::noc
