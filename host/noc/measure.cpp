// Latency against load: warm-up, measurement, drain.
//
// Time is cut into periods. Warm-up lasts until two periods in a row have nearly the same mean
// latency and accepted load. Then periods are measured, at least min_periods of them, until the
// mean's confidence interval is narrow enough. Packets created in measured periods are tagged; the
// sources go on while they drain. A load is unstable if the mean latency, or the mean time that
// sources are behind, exceeds the limit, or if latencies never settle; then no drain is waited for,
// and what is accepted is measured from the end of the shortest warm-up on.
#include "host/noc/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "host/core/error.h"
#include "host/noc/network.h"

namespace nearwarp::noc {

namespace {

constexpr double kWarmupChange = 0.05;            ///< relative change of latency and accepted load
constexpr double kLongestPeriod = 200000;         ///< cycles
constexpr uint64_t kOpenEnd = uint64_t{1} << 30;  ///< later than any packet of a measurement
constexpr double kNormal95 = 1.96;                ///< standard errors of a 95 % interval

double ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

/// Differences of the totals over a period.
class Probe {
 public:
  explicit Probe(Network& network) : network_(network) {}
  void run(uint64_t cycles) {
    const TrafficTotals before = last_;
    network_.run(cycles);
    last_ = network_.totals();
    const double node_cycles =
        static_cast<double>(cycles) * static_cast<double>(network_.topology().senders.size());
    accepted = static_cast<double>(last_.received_flits - before.received_flits) / node_cycles;
    packets = last_.measured_received - before.measured_received;
    latency = ratio(last_.latency - before.latency, packets);
    waiting = static_cast<double>(last_.waiting) /
              static_cast<double>(network_.topology().senders.size() * network_.params().vnets);
  }
  const TrafficTotals& totals() const { return last_; }
  double accepted = 0, latency = 0;
  double waiting = 0;  ///< mean age of what the sources draw next
  uint64_t packets = 0;

 private:
  Network& network_;
  TrafficTotals last_;
};

class Measurement {
 public:
  Measurement(const NocConfig& config, const MeasureConfig& measure, double rate)
      : m_(measure), network_(config), probe_(network_) {
    point_.rate = rate;
    network_.set_rate(rate);
    const double packets_per_cycle =
        rate / config.packet_flits * static_cast<double>(network_.topology().senders.size());
    period_ = static_cast<uint64_t>(
        std::clamp(m_.period_packets / packets_per_cycle, 1.0 * m_.period_cycles, kLongestPeriod));
  }

  LoadPoint run() {
    const auto begin = std::chrono::steady_clock::now();
    warm_up();
    const uint64_t from = network_.now();
    const std::vector<uint64_t> sent = network_.flits_sent();
    const std::vector<uint64_t> received = network_.received_flits();
    measure();
    collect_rates(from, sent, received);
    drain();
    finish();
    point_.router_cycles = network_.now() * network_.params().routers;
    point_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return point_;
  }

 private:
  void unstable(std::string why) {
    if (point_.why.empty()) point_.why = std::move(why);
  }
  bool is_unstable() const { return !point_.why.empty(); }
  /// Has the load left the network behind?
  void check_limit() {
    const double limit = m_.latency_limit;
    if (probe_.latency > limit || probe_.waiting > limit)
      unstable(fmt::format("mean latency above {} cycles", m_.latency_limit));
  }

  void warm_up() {
    network_.set_measured(0, kOpenEnd);
    double latency = 0, accepted = 0;
    uint32_t settled = 0;
    for (uint32_t i = 1; settled < 2 && !(is_unstable() && i > m_.warmup_periods); ++i) {
      if (i > std::max(m_.max_periods, m_.warmup_periods)) {
        unstable("latency did not settle while warming up");
        break;
      }
      probe_.run(period_);
      check_limit();
      const bool same = std::abs(probe_.latency - latency) <= kWarmupChange * probe_.latency &&
                        std::abs(probe_.accepted - accepted) <= kWarmupChange * probe_.accepted;
      settled = same && i >= m_.warmup_periods ? settled + 1 : 0;
      latency = probe_.latency;
      accepted = probe_.accepted;
    }
    point_.warmup_cycles = network_.now();
  }

  void measure() {
    const uint64_t begin = network_.now();
    network_.set_measured(begin, begin + kOpenEnd);
    before_ = probe_.totals();
    double sum = 0, squares = 0;
    for (uint32_t i = 1; i <= std::max(m_.max_periods, m_.min_periods); ++i) {
      probe_.run(period_);
      sum += probe_.latency;
      squares += probe_.latency * probe_.latency;
      if (i < std::max(m_.min_periods, 2u)) continue;
      const double mean = sum / i;
      const double variance = std::max(0.0, squares / i - mean * mean) / (i - 1.0);
      point_.latency_error = kNormal95 * std::sqrt(variance);
      check_limit();
      if (is_unstable() || point_.latency_error <= m_.tolerance * mean) break;
    }
    point_.measured_cycles = network_.now() - begin;
    network_.end_measured(network_.now());
  }

  void collect_rates(uint64_t from, const std::vector<uint64_t>& sent,
                     const std::vector<uint64_t>& received) {
    const Topology& t = network_.topology();
    const auto cycles = static_cast<double>(network_.now() - from);
    const std::vector<uint64_t> sent_now = network_.flits_sent();
    const std::vector<uint64_t> received_now = network_.received_flits();
    const auto use = [&](uint32_t router, uint32_t port) {
      const size_t at = size_t{router} * t.outputs + port;
      return static_cast<double>(sent_now[at] - sent[at]) / cycles;
    };
    for (const Wire& w : t.wires)
      point_.links.push_back({w.from, w.from_port, false, w.to, use(w.from, w.from_port)});
    double all = 0;
    for (const uint32_t n : t.receivers) {
      const Attachment& a = t.terminals[n];
      point_.links.push_back({a.out_router, a.out_port, true, n, use(a.out_router, a.out_port)});
      all += static_cast<double>(received_now[n] - received[n]) / cycles;
    }
    point_.accepted = all / static_cast<double>(t.senders.size());
  }

  /// Measured packets that are not there yet.
  uint64_t outstanding() const {
    const TrafficTotals& t = probe_.totals();
    return (t.measured_created - before_.measured_created) -
           (t.measured_received - before_.measured_received);
  }

  void drain() {
    const uint64_t end = network_.now();
    while (!is_unstable() && (!network_.decided_until(end) || outstanding() != 0)) {
      probe_.run(m_.period_cycles / 10 + 1);
      if (network_.now() - end > m_.max_periods * period_)
        unstable("measured packets did not drain");
    }
    point_.drain_cycles = network_.now() - end;
  }

  void finish() {
    const TrafficTotals& t = probe_.totals();
    point_.packets = t.measured_received - before_.measured_received;
    point_.latency = ratio(t.latency - before_.latency, point_.packets);
    point_.network_latency = ratio(t.network_latency - before_.network_latency, point_.packets);
    point_.hops = ratio(t.hops - before_.hops, point_.packets);
    point_.max_latency = t.max_latency;
    if (point_.latency > m_.latency_limit) check_limit();
    point_.stable = !is_unstable();
  }

  const MeasureConfig& m_;
  Network network_;
  Probe probe_;
  LoadPoint point_;
  TrafficTotals before_;
  uint64_t period_ = 0;  ///< cycles
};

}  // namespace

LoadPoint measure_load(const NocConfig& config, const MeasureConfig& measure, double rate) {
  if (!(rate > 0 && rate <= 1)) {
    throw UsageError(
        fmt::format("--rate {} - flits per node and cycle, above 0 and at most 1", rate));
  }
  return Measurement(config, measure, rate).run();
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

Saturation find_saturation(const NocConfig& config, const MeasureConfig& measure, double step,
                           unsigned threads) {
  Saturation s;
  const std::vector<double> full{1.0};
  const LoadPoint top = measure_loads(config, measure, full, 1)[0];
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
    const std::vector<LoadPoint> points = measure_loads(config, measure, rates, threads);
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
