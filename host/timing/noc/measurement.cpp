// One load's measurement: warm-up, measured periods, drain.
#include "host/timing/noc/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/core/error.h"

namespace nearwarp::noc {

namespace {

constexpr double kWarmupChange = 0.05;            ///< relative change of latency and accepted load
constexpr double kLongestPeriod = 200000;         ///< cycles
constexpr uint64_t kOpenEnd = uint64_t{1} << 30;  ///< later than any packet of a measurement
constexpr double kNormal95 = 1.96;                ///< standard errors of a 95 % interval

double ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

double checked_rate(double rate) {
  if (!(rate > 0 && rate <= 1)) {
    throw UsageError(
        fmt::format("`loads` {} - flits per node and cycle, above 0 and at most 1", rate));
  }
  return rate;
}

}  // namespace

Measurement::Measurement(const NocConfig& config, const MeasureConfig& measure, double rate)
    : m_(measure), network_(config), begin_(std::chrono::steady_clock::now()) {
  point_.rate = checked_rate(rate);
  network_.set_rate(rate);
  network_.set_measured(0, kOpenEnd);
  const double packets_per_cycle = rate / (config.packet_flits + config.reply_flits) *
                                   static_cast<double>(network_.topology().senders.size());
  const double longest = std::max(1.0 * m_.period_cycles, kLongestPeriod);
  const double enough = m_.period_packets / packets_per_cycle;
  period_ = static_cast<uint64_t>(std::clamp(enough, 1.0 * m_.period_cycles, longest));
  is_sparse_ = enough > longest;
  wanted_ = period_;
}

void Measurement::stepped() {
  probe();
  periods_ += 1;
  switch (phase_) {
    case Phase::kWarmUp:
      return warmed_up();
    case Phase::kMeasure:
      return measured();
    case Phase::kDrain:
      return drained();
  }
}

/// Takes the accepted load and the latency since the last call, and how long sources are behind.
void Measurement::probe() {
  const TrafficTotals now = network_.totals();
  const auto senders = static_cast<double>(network_.topology().senders.size());
  accepted_ = static_cast<double>(now.received_flits - totals_.received_flits) /
              (static_cast<double>(wanted_) * senders);
  const uint64_t received = now.measured_received - totals_.measured_received;
  has_latency_ = received != 0 || !is_sparse_;
  latency_ = ratio(now.latency - totals_.latency, received);
  waiting_ = static_cast<double>(now.waiting) / (senders * network_.drawing_vnets());
  totals_ = now;
}

void Measurement::unstable(const std::string& why) {
  if (point_.why.empty()) point_.why = why;
}

/// Has the load left the network behind?
void Measurement::check_limit() {
  const double limit = m_.latency_limit;
  if (latency_ > limit || waiting_ > limit)
    unstable(fmt::format("mean latency above {} cycles", m_.latency_limit));
}

void Measurement::warmed_up() {
  const double latency_before = point_.latency, accepted_before = point_.accepted;
  check_limit();
  // Latency and load of few packets change by chance.
  const bool same =
      is_sparse_ || (std::abs(latency_ - latency_before) <= kWarmupChange * latency_ &&
                     std::abs(accepted_ - accepted_before) <= kWarmupChange * accepted_);
  settled_ = same && periods_ >= m_.warmup_periods ? settled_ + 1 : 0;
  point_.latency = latency_;
  point_.accepted = accepted_;
  const bool long_enough = periods_ >= m_.warmup_periods;
  if (settled_ < 2 && periods_ >= std::max(m_.max_periods, m_.warmup_periods))
    unstable("latency did not settle while warming up");
  if (settled_ >= 2 || (is_unstable() && long_enough)) begin_measuring();
}

void Measurement::begin_measuring() {
  phase_ = Phase::kMeasure;
  periods_ = 0;
  point_.warmup_cycles = measure_begin_ = network_.now();
  network_.set_measured(measure_begin_, measure_begin_ + kOpenEnd);
  before_ = totals_;
  sent_before_ = network_.flits_sent();
  received_before_ = network_.received_flits();
}

void Measurement::measured() {
  if (has_latency_) {
    sum_ += latency_;
    squares_ += latency_ * latency_;
    latencies_ += 1;
  }
  const uint32_t least = std::max(m_.min_periods, 2u);
  if (periods_ < least) return;
  bool narrow = false;
  if (latencies_ >= 2) {
    const double mean = sum_ / latencies_;
    const double variance = std::max(0.0, squares_ / latencies_ - mean * mean) / (latencies_ - 1.0);
    point_.latency_error = kNormal95 * std::sqrt(variance);
    narrow = point_.latency_error <= m_.tolerance * mean;
  }
  check_limit();
  if (!is_unstable() && !narrow && periods_ < std::max(m_.max_periods, least)) return;
  measure_end_ = network_.now();
  point_.measured_cycles = measure_end_ - measure_begin_;
  network_.end_measured(measure_end_);
  collect_rates();
  phase_ = Phase::kDrain;
  wanted_ = m_.period_cycles / 10 + 1;
  if (is_unstable() || (outstanding() == 0 && network_.decided_until(measure_end_))) finish();
}

void Measurement::collect_rates() {
  const Topology& t = network_.topology();
  const auto cycles = static_cast<double>(point_.measured_cycles);
  const std::vector<uint64_t> sent = network_.flits_sent();
  const std::vector<uint64_t> received = network_.received_flits();
  const auto use = [&](uint32_t router, uint32_t port) {
    const size_t at = size_t{router} * t.outputs + port;
    return static_cast<double>(sent[at] - sent_before_[at]) / cycles;
  };
  for (const Wire& w : t.wires)
    point_.links.push_back({w.from, w.from_port, false, w.to, use(w.from, w.from_port)});
  double all = 0;
  for (const uint32_t n : t.receivers) {
    const Attachment& a = t.terminals[n];
    point_.links.push_back({a.out_router, a.out_port, true, n, use(a.out_router, a.out_port)});
    all += static_cast<double>(received[n] - received_before_[n]) / cycles;
  }
  point_.accepted = all / static_cast<double>(t.senders.size());
}

/// Measured packets that are not there yet.
uint64_t Measurement::outstanding() const {
  return (totals_.measured_created - before_.measured_created) -
         (totals_.measured_received - before_.measured_received);
}

void Measurement::drained() {
  if (outstanding() == 0 && network_.decided_until(measure_end_)) return finish();
  if (network_.now() - measure_end_ <= m_.max_periods * period_) return;
  unstable("measured packets did not drain");
  finish();
}

void Measurement::finish() {
  wanted_ = 0;
  point_.drain_cycles = network_.now() - measure_end_;
  point_.packets = totals_.measured_received - before_.measured_received;
  point_.latency = ratio(totals_.latency - before_.latency, point_.packets);
  const uint64_t replies = totals_.replies_received - before_.replies_received;
  const uint64_t reply_latency = totals_.reply_latency - before_.reply_latency;
  const uint64_t latency = totals_.latency - before_.latency;
  point_.network_latency =
      ratio(totals_.network_latency - before_.network_latency, point_.packets - replies);
  point_.request_latency = ratio(latency - reply_latency, point_.packets - replies);
  point_.reply_latency = ratio(reply_latency, replies);
  point_.round_trip = ratio(totals_.round_trip - before_.round_trip, replies);
  point_.hops = ratio(totals_.hops - before_.hops, point_.packets);
  point_.max_latency = totals_.max_latency;
  if (point_.latency > m_.latency_limit) check_limit();
  point_.stable = !is_unstable();
  point_.router_cycles = network_.now() * network_.params().routers;
  point_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

}  // namespace nearwarp::noc
