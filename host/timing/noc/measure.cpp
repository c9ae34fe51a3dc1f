// Measures latency against load, for many loads in threads, and searches for saturation.
#include "host/timing/noc/measure.h"

#include <algorithm>
#include <mutex>

#include "host/core/workers.h"
#include "host/timing/noc/measurement.h"

namespace nearwarp::noc {

namespace {

/// Router-cycles, some milliseconds, between two calls of `goes_on`.
constexpr uint64_t kStride = 100'000;

/// Step as many cycles as the measurement wants. Returns false if goes_on() returned false before.
template <class F>
bool step(Measurement& m, F goes_on) {
  const uint64_t stride =
      std::max<uint64_t>(1, kStride / std::max(1u, m.network().topology().routers));
  for (uint64_t left = m.wanted(); left != 0;) {
    if (!goes_on()) return false;
    const uint64_t cycles = std::min(left, stride);
    m.network().run(cycles);
    left -= cycles;
  }
  m.stepped();
  return true;
}

}  // namespace

LoadPoint measure_load(const NocConfig& config, const MeasureConfig& measure, double rate) {
  Measurement m(config, measure, rate);
  while (m.wanted() != 0) step(m, [] { return true; });
  return m.point();
}

std::vector<LoadPoint> measure_loads(const NocConfig& config, const MeasureConfig& measure,
                                     std::span<const double> rates, unsigned threads,
                                     const Watch& watch) {
  std::vector<std::optional<LoadPoint>> measured(rates.size());
  Workers workers(rates.size(), threads);
  size_t done = 0;
  std::mutex watching;
  const auto goes_on = [&](size_t more) {
    const std::lock_guard lock(watching);
    done += more;
    if (watch && !watch(done, rates.size())) workers.stop();
    return !workers.stopped();
  };
  workers.run([&](size_t i, unsigned) {
    Measurement m(config, measure, rates[i]);
    while (m.wanted() != 0)
      if (!step(m, [&] { return goes_on(0); })) return;
    measured[i] = m.point();
    goes_on(1);
  });
  std::vector<LoadPoint> points;
  for (std::optional<LoadPoint>& p : measured)
    if (p) points.push_back(std::move(*p));
  return points;
}

std::optional<Saturation> find_saturation(const MeasureLoads& measure_all, double step) {
  Saturation s;
  const std::vector<LoadPoint> full = measure_all(std::vector<double>{1.0});
  if (full.empty()) return {};
  const LoadPoint& top = full[0];
  s.accepted_at_full = top.accepted;
  if (top.stable) {
    s.stable_rate = 1;
    return s;
  }
  double low = 0, high = 1;
  while (high - low > step) {
    // Three loads, evenly between the bounds, are measured at a time.
    std::vector<double> rates;
    for (int k = 1; k <= 3; ++k) rates.push_back(low + (high - low) * k / 4);
    const std::vector<LoadPoint> points = measure_all(rates);
    if (points.size() < rates.size()) return {};
    for (const LoadPoint& p : points) {
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
