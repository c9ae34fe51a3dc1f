// measure_network(): a network by itself.
#include <fmt/format.h>

#include <algorithm>

#include "host/api/backend.h"
#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/nearwarp/parts.h"
#include "host/api/observers.h"
#include "host/core/workers.h"
#include "host/timing/noc/print.h"

namespace nearwarp {

struct NetworkReport::Whole {
  noc::NocReport report;
};

namespace {

constexpr double kSaturationStep = 0.005;  // flits per node and cycle

std::string usual_size(const std::string& topology) {
  if (topology == "butterfly") return "4x3";
  return topology == "mesh" ? "8x8" : "16";
}

noc::NocConfig network_of(const NetworkOptions& o) {
  noc::NocConfig c;
  c.topology = o.topology;
  c.size = o.size.empty() ? usual_size(o.topology) : o.size;
  c.routing = o.routing;
  c.vcs = o.vcs;
  c.vnets = o.vnets.value_or(o.reply_flits == 0 ? 1 : 2);
  c.buffers = o.buffers;
  c.routing_delay = o.routing_delay;
  c.vc_alloc_delay = o.vc_alloc_delay;
  c.sw_alloc_delay = o.sw_alloc_delay;
  c.traversal_delay = o.traversal_delay;
  c.credit_delay = o.credit_delay;
  c.speedup = o.speedup;
  c.input_speedup = o.input_speedup;
  c.wait_for_tail_credit = o.wait_for_tail_credit;
  c.link_latency = o.link_latency;
  c.traffic = o.traffic;
  c.hot_nodes = o.hot_nodes;
  c.hot_share = o.hot_share;
  c.packet_flits = o.packet_flits;
  c.reply_flits = o.reply_flits;
  c.seed = o.seed;
  return c;
}

void check_number(const char* option, double value, double least, double most) {
  if (value >= least && value <= most) return;
  throw UsageError(fmt::format("{} {} - a number from {} to {}", option, value, least, most));
}

void check_measure(const NetworkOptions& o) {
  check_number("period_cycles", o.period_cycles, 10, 1e6);
  check_number("max_periods", o.max_periods, 2, 1e4);
  check_number("latency_limit", o.latency_limit, 1, 1e6);
  check_number("hot_share", o.hot_share, 0, 1);
}

/// Ten loads, at equal distances up to the bound that the channels set.
std::vector<double> usual_loads(double bound) {
  std::vector<double> loads;
  for (int i = 1; i <= 10; ++i) loads.push_back(bound * i / 10);
  return loads;
}

NetworkLoad load_of(const noc::LoadPoint& p) {
  NetworkLoad load;
  load.load = p.rate;
  load.stable = p.stable;
  load.why = p.why;
  load.accepted = p.accepted;
  load.latency = p.latency;
  load.latency_error = p.latency_error;
  load.network_latency = p.network_latency;
  load.request_latency = p.request_latency;
  load.reply_latency = p.reply_latency;
  load.round_trip = p.round_trip;
  load.hops = p.hops;
  load.max_latency = p.max_latency;
  load.packets = p.packets;
  load.measured_cycles = p.measured_cycles;
  for (const noc::LinkUse& l : p.links)
    load.links.push_back({l.router, l.port, l.to_terminal, l.to, l.utilisation});
  return load;
}

/// Measures loads and passes the progress to the caller.
class LoadMeter {
 public:
  LoadMeter(const NetworkOptions& options, const noc::NocReport& report)
      : options_(options), report_(report) {}

  std::vector<noc::LoadPoint> measure(const std::string& what, std::span<const double> loads) {
    const noc::Watch watch = [&](size_t done, size_t all) {
      if (!options_.progress || stopped_) return !stopped_;
      if (done != told_ || pace_.is_due())
        stopped_ = !by_caller([&] { return options_.progress({what, done, all, "loads"}); });
      told_ = done;
      return !stopped_;
    };
    if (options_.backend == "cuda")
      return noc::measure_loads_on_cuda(report_.config, report_.measure, loads, options_.device,
                                        watch);
    return noc::measure_loads(report_.config, report_.measure, loads,
                              options_.threads == 0 ? processors() : options_.threads, watch);
  }
  bool stopped() const { return stopped_; }

 private:
  const NetworkOptions& options_;
  const noc::NocReport& report_;
  Pace pace_;
  size_t told_ = 0;  ///< loads that were done when progress() was last called
  bool stopped_ = false;
};

noc::NocReport measured(const NetworkOptions& options, size_t* wanted) {
  check_backend(options.backend, options.device);
  check_measure(options);
  noc::NocReport report;
  report.config = network_of(options);
  report.measure.period_cycles = options.period_cycles;
  report.measure.max_periods = options.max_periods;
  report.measure.min_periods = std::min(report.measure.min_periods, report.measure.max_periods);
  report.measure.latency_limit = options.latency_limit;
  const noc::Network network(report.config);
  report.mesh_width = network.topology().width;
  report.bounds = noc::bounds_of(network, report.config);
  const std::vector<double> loads =
      options.loads.empty() ? usual_loads(report.bounds.throughput) : options.loads;
  *wanted = loads.size();
  LoadMeter meter(options, report);
  report.points = meter.measure("measuring", loads);
  if (options.saturation && !meter.stopped())
    report.saturation = noc::find_saturation(
        [&](std::span<const double> some) { return meter.measure("searching", some); },
        kSaturationStep);
  report.partial =
      report.points.size() < loads.size() || (options.saturation && !report.saturation.has_value());
  return report;
}

}  // namespace

Expected<std::string> NetworkReport::text(size_t links, size_t width) const {
  return guarded([&] {
    if (whole == nullptr)
      throw UsageError("a report of nothing was used - take one of measure_network()");
    return noc::format_report(whole->report, links, width);
  });
}

Expected<Done> check(const NetworkOptions& options) {
  return guarded([&] {
    check_measure(options);
    const noc::Network network(network_of(options));
    return Done{};
  });
}

Expected<NetworkReport> measure_network(const NetworkOptions& options) {
  return guarded([&] {
    NetworkReport all;
    noc::NocReport report = measured(options, &all.wanted);
    all.zero_load_latency = report.bounds.zero_load_latency;
    all.throughput_bound = report.bounds.throughput;
    for (const noc::LoadPoint& p : report.points) all.loads.push_back(load_of(p));
    if (report.saturation.has_value())
      all.saturation = {report.saturation->stable_rate, report.saturation->unstable_rate,
                        report.saturation->accepted_at_full};
    all.stopped = report.partial;
    all.document = noc::report_json(report, version());
    all.whole =
        std::make_shared<const NetworkReport::Whole>(NetworkReport::Whole{std::move(report)});
    return all;
  });
}

}  // namespace nearwarp
