// nearwarp noc: a network by itself, latency against load.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "host/cli/backend.h"
#include "host/cli/commands.h"
#include "host/core/error.h"
#include "host/noc/print.h"
#include "host/report/file.h"

namespace nearwarp::cli {
namespace {

constexpr size_t kMaxRates = 1000;
constexpr double kSaturationStep = 0.005;

double real(const std::string& option, const std::string& text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(value >= least && value <= most)) {
    throw UsageError(fmt::format("--{} '{}' - a number from {} to {}", option, text, least, most));
  }
  return value;
}

/// "0.1,0.2" or "0.05:0.4:0.05" (from, to, step), or both, in ascending order as written.
std::vector<double> parse_rates(const std::string& text) {
  constexpr double kLeast = 1e-6;
  std::vector<double> rates;
  for (const std::string& word : split_commas(text)) {
    const size_t first = word.find(':');
    if (first == std::string::npos) {
      rates.push_back(real("rate", word, kLeast, 1));
      continue;
    }
    const size_t second = word.find(':', first + 1);
    if (second == std::string::npos)
      throw UsageError(fmt::format("--rate '{}' - a range is written FROM:TO:STEP", word));
    const double from = real("rate", word.substr(0, first), kLeast, 1);
    const double to = real("rate", word.substr(first + 1, second - first - 1), from, 1);
    const double step = real("rate", word.substr(second + 1), kLeast, 1);
    const auto count = static_cast<size_t>((to - from) / step + 1e-9) + 1;
    if (count > kMaxRates)
      throw UsageError(
          fmt::format("--rate '{}' has {} loads - at most {}", word, count, kMaxRates));
    for (size_t i = 0; i < count; ++i) rates.push_back(from + static_cast<double>(i) * step);
  }
  if (rates.empty()) throw UsageError("--rate names no load - for example 0.1,0.2");
  return rates;
}

void declare(CommandLine& line) {
  line.value("topology", "mesh, crossbar, butterfly, or full", "NAME", "mesh");
  line.value("size", "mesh WxH, crossbar N or INxOUT, butterfly KxN (k-ary n-fly), full N", "SIZE");
  line.value("routing", "of a mesh: xy or yx", "NAME", "xy");
  line.value("vcs", "virtual channels per port", "N", "8");
  line.value("vnets", "virtual networks that share the channels", "N", "1");
  line.value("buffers", "flits that a virtual channel holds", "N", "8");
  line.value("traffic", "uniform, hotspot, transpose, or many-to-few", "NAME", "uniform");
  line.value("hot-nodes", "destinations of hotspot and many-to-few, e.g. 7,15", "N,N...");
  line.value("hot-share", "of hotspot traffic that goes to them; the rest is uniform", "X", "1");
  line.value("rate", "flits per node and cycle: 0.1,0.2 or FROM:TO:STEP", "RATES");
  line.value("flits", "flits per packet", "N", "1");
  line.value("routing-delay", "cycles; 0: routes are known ahead", "N", "1");
  line.value("vc-alloc-delay", "cycles of VC allocation", "N", "1");
  line.value("sw-alloc-delay", "cycles of switch allocation", "N", "1");
  line.value("traversal-delay", "cycles through the switch", "N", "1");
  line.value("credit-delay", "cycles from a credit's arrival to its use", "N", "0");
  line.value("speedup", "allocations and traversals of a router per cycle, 1 or 2", "N", "1");
  line.value("link-latency", "cycles on wires between routers", "N", "1");
  line.value("seed", "of the random numbers", "N", "1");
  line.value("period", "cycles of a sample", "N", "1000");
  line.value("max-periods", "samples measured at most", "N", "50");
  line.value("latency-limit", "mean cycles beyond which a load is unstable", "N", "500");
  line.flag("saturation", "search for the load at which the network saturates");
  line.value("links", "list the N busiest links", "N", "0");
  line.value("threads", "loads measured at a time; default: all processors", "N");
  line.value("backend", "cpu, cuda (all loads at a time), or auto; results are the same", "NAME",
             "cpu");
  line.value("device", "the CUDA device to use, as numbered by 'nearwarp devices'", "N", "0");
  line.value("json", "write everything to this file (docs/networks.md)", "FILE");
}

/// Numbers are checked by the network, which knows what they mean; here only that they are some.
uint32_t count(const CommandLine& line, const char* name) {
  return static_cast<uint32_t>(line.number(name, 0, 1000000));
}

std::string default_size(const std::string& topology) {
  if (topology == "butterfly") return "4x3";
  return topology == "mesh" ? "8x8" : "16";
}

noc::NocConfig network_of(const CommandLine& line) {
  noc::NocConfig c;
  c.topology = line.text("topology");
  c.size = line.given("size") ? line.text("size") : default_size(c.topology);
  c.routing = line.text("routing");
  c.vcs = count(line, "vcs");
  c.vnets = count(line, "vnets");
  c.buffers = count(line, "buffers");
  c.traffic = line.text("traffic");
  c.packet_flits = count(line, "flits");
  c.routing_delay = count(line, "routing-delay");
  c.vc_alloc_delay = count(line, "vc-alloc-delay");
  c.sw_alloc_delay = count(line, "sw-alloc-delay");
  c.traversal_delay = count(line, "traversal-delay");
  c.credit_delay = count(line, "credit-delay");
  c.speedup = count(line, "speedup");
  c.link_latency = count(line, "link-latency");
  c.seed = line.number("seed", 0, UINT64_MAX);
  c.hot_share = real("hot-share", line.text("hot-share"), 0, 1);
  for (const std::string& word : split_commas(line.text("hot-nodes"))) {
    uint32_t node = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), node);
    if (error != std::errc() || end != word.data() + word.size())
      throw UsageError(fmt::format("--hot-nodes '{}' - numbers of nodes", word));
    c.hot_nodes.push_back(node);
  }
  const bool hot = c.traffic == "hotspot" || c.traffic == "many-to-few";
  if (line.given("hot-nodes") && !hot)
    throw UsageError("--hot-nodes is for --traffic hotspot or many-to-few");
  if (line.given("hot-share") && c.traffic != "hotspot")
    throw UsageError("--hot-share is for --traffic hotspot");
  return c;
}

/// Ten loads up to what the channels carry.
std::vector<double> default_rates(double bound) {
  std::vector<double> rates;
  for (int i = 1; i <= 10; ++i) rates.push_back(bound * i / 10);
  return rates;
}

}  // namespace

int noc_command(const Words& words) {
  CommandLine line("noc", "", "Measure a network by itself: latency against load");
  declare(line);
  line.parse(words, 0, 0);
  if (line.help_wanted()) {
    print(line.help());
    return 0;
  }
  noc::NocReport report;
  report.config = network_of(line);
  report.measure.period_cycles = static_cast<uint32_t>(line.number("period", 10, 1000000));
  report.measure.max_periods = static_cast<uint32_t>(line.number("max-periods", 2, 10000));
  report.measure.min_periods = std::min(report.measure.min_periods, report.measure.max_periods);
  report.measure.latency_limit = static_cast<uint32_t>(line.number("latency-limit", 1, 1000000));
  const size_t links = line.number("links", 0, 1000000);
  const unsigned threads = line.given("threads")
                               ? static_cast<unsigned>(line.number("threads", 1, 1024))
                               : std::max(1u, std::thread::hardware_concurrency());
  const noc::Network network(report.config);
  report.mesh_width = network.topology().width;
  report.bounds = noc::bounds_of(network, report.config);
  const std::vector<double> rates =
      line.given("rate") ? parse_rates(line.text("rate")) : default_rates(report.bounds.throughput);
  if (line.given("json")) report::check_writable(line.text("json"));
  const Backend backend = chosen_backend(line);
  const noc::MeasureLoads measure_all = [&](std::span<const double> loads) {
    if (backend.cuda)
      return noc::measure_loads_on_cuda(report.config, report.measure, loads, backend.device);
    return noc::measure_loads(report.config, report.measure, loads, threads);
  };
  report.points = measure_all(rates);
  if (line.given("saturation"))
    report.saturation = noc::find_saturation(measure_all, kSaturationStep);
  if (line.given("json"))
    report::write_file(line.text("json"), noc::report_json(report, version()));
  print(noc::format_report(report, links));
  return 0;
}

}  // namespace nearwarp::cli
