// nearwarp noc: a network by itself, latency against load.
#include <fmt/format.h>

#include <charconv>
#include <span>

#include "host/api/nearwarp/parts.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/expected.h"
#include "host/cli/files/result_files.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/backend.h"
#include "host/cli/progress/notes.h"
#include "host/cli/terminal.h"
#include "host/config/nearest.h"
#include "host/core/error.h"

namespace nearwarp::cli {
namespace {

constexpr size_t kMaxRates = 1000;

double real(const std::string& option, const std::string& text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(value >= least && value <= most)) {
    throw UsageError(fmt::format("--{} '{}' - a number from {} to {}", option, text, least, most));
  }
  return value;
}

/// The loads of --rate, in the order written: numbers as in "0.1,0.2", ranges as in "0.05:0.4:0.05"
/// (from, to, step), or both. Throws UsageError.
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

/// An option with a number of the network. The command line checks only that it is a number; the
/// network knows which values are possible.
struct NumberOption {
  const char *name, *help, *fallback;
  uint32_t NetworkOptions::*to;
};
using Noc = NetworkOptions;
constexpr NumberOption kPackets[] = {
    {"flits", "flits per packet", "1", &Noc::packet_flits},
    {"reply-flits", "of request-reply traffic: flits per reply", "5", &Noc::reply_flits},
};
constexpr NumberOption kRouters[] = {
    {"routing-delay", "cycles; 0: routes are known ahead", "1", &Noc::routing_delay},
    {"vc-alloc-delay", "cycles of VC allocation", "1", &Noc::vc_alloc_delay},
    {"sw-alloc-delay", "cycles of switch allocation", "1", &Noc::sw_alloc_delay},
    {"traversal-delay", "cycles through the switch", "1", &Noc::traversal_delay},
    {"credit-delay", "cycles from a credit's arrival to its use", "0", &Noc::credit_delay},
    {"speedup", "rounds of a cycle inside a router, 1 or 2: a stage takes one", "1", &Noc::speedup},
    {"input-speedup", "flits of different VCs that a port hands to the switch in a round", "1",
     &Noc::input_speedup},
    {"link-latency", "cycles on wires between routers", "1", &Noc::link_latency},
};

void declare(CommandLine& line, std::span<const NumberOption> options) {
  for (const NumberOption& o : options) line.value(o.name, o.help, "N", o.fallback);
}
void store(const CommandLine& line, std::span<const NumberOption> options, NetworkOptions& c) {
  for (const NumberOption& o : options)
    c.*o.to = static_cast<uint32_t>(line.number(o.name, 0, 1000000));
}

void declare(CommandLine& line) {
  line.value("topology", "mesh, crossbar, butterfly, or full", "NAME", "mesh");
  line.value("size", "mesh WxH, crossbar N or INxOUT, butterfly KxN (k-ary n-fly), full N", "SIZE");
  line.value("routing", "of a mesh: xy or yx", "NAME", "xy");
  line.value("vcs", "virtual channels per port", "N", "8");
  line.value("vnets", "virtual networks that share the channels (request-reply: 2)", "N", "1");
  line.value("buffers", "flits that a virtual channel holds", "N", "8");
  line.value("traffic", "uniform, hotspot, transpose, or many-to-few", "NAME", "uniform");
  line.value("traffic-class", "one-way, or request-reply: every packet is answered", "NAME",
             "one-way");
  line.value("hot-nodes", "destinations of hotspot and many-to-few, e.g. 7,15", "N,N...");
  line.value("hot-share", "of hotspot traffic that goes to them; the rest is uniform", "X", "1");
  line.value("rate", "flits per node and cycle: 0.1,0.2 or FROM:TO:STEP", "RATES");
  declare(line, kPackets);
  declare(line, kRouters);
  line.flag("wait-for-tail-credit",
            "a VC is given away again when its tail's credit is back, not when the tail has gone");
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
  ResultFiles::declare(line, "docs/networks.md", "load");
  line.offer("topology", {"mesh", "crossbar", "butterfly", "full"});
  line.offer("routing", {"xy", "yx"});
  line.offer("traffic", {"uniform", "hotspot", "transpose", "many-to-few"});
  line.offer("traffic-class", {"one-way", "request-reply"});
  line.offer("backend", {"cpu", "cuda", "auto"});
}

/// Reads --traffic-class: one-way packets, or requests that are answered.
void choose_class(const CommandLine& line, NetworkOptions& c) {
  const std::string name = line.text("traffic-class");
  if (name == "one-way") {
    if (line.given("reply-flits"))
      throw UsageError("--reply-flits is for --traffic-class request-reply");
    c.reply_flits = 0;
  } else if (name != "request-reply") {
    throw UsageError(fmt::format("unknown traffic class '{}'{}", name,
                                 config::suggestion(name, {"one-way", "request-reply"})));
  } else {
    if (c.reply_flits == 0) throw UsageError("--reply-flits 0 - a reply has one flit at least");
  }
}

NetworkOptions network_of(const CommandLine& line) {
  const auto number = [&](const char* name) {
    return static_cast<uint32_t>(line.number(name, 0, 1000000));
  };
  NetworkOptions c;
  c.topology = line.text("topology");
  c.size = line.text("size");
  if (line.given("size") && c.size.empty())
    throw UsageError("--size cannot be '' - a size is written like 8x8");
  c.routing = line.text("routing");
  c.vcs = number("vcs");
  if (line.given("vnets")) c.vnets = number("vnets");
  c.buffers = number("buffers");
  store(line, kPackets, c);
  store(line, kRouters, c);
  c.wait_for_tail_credit = line.given("wait-for-tail-credit");
  c.traffic = line.text("traffic");
  choose_class(line, c);
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

CommandLine declare_noc() {
  CommandLine line("noc", "", "Measure a network by itself: latency against load");
  declare(line);
  return line;
}

int run_noc(const CommandLine& line, const Words& /*application*/) {
  NetworkOptions options = network_of(line);
  options.period_cycles = static_cast<uint32_t>(line.number("period", 10, 1000000));
  options.max_periods = static_cast<uint32_t>(line.number("max-periods", 2, 10000));
  options.latency_limit = static_cast<uint32_t>(line.number("latency-limit", 1, 1000000));
  options.saturation = line.given("saturation");
  const size_t links = line.number("links", 0, 1000000);
  if (line.given("threads"))
    options.threads = static_cast<unsigned>(line.number("threads", 1, 1024));
  taken(check(options));
  if (line.given("rate")) options.loads = parse_rates(line.text("rate"));
  const ResultFiles files = ResultFiles::of(line);
  const Backend backend = chosen_backend(line);
  if (backend.cuda) options.backend = "cuda";
  options.device = backend.device;
  catch_interrupts();
  NetworkReport report;
  {
    Notes notes;
    options.progress = notes.progress_function();
    report = taken(measure_network(options));
  }
  if (files.any()) files.write(report.document, "points");
  print(taken(report.text(links, output_width())));
  if (!report.stopped) return 0;
  throw Error(fmt::format("interrupted: {} of {} loads were measured{}", report.loads.size(),
                          report.wanted, options.saturation ? ", saturation was not found" : ""));
}

}  // namespace

Command noc_command() {
  return {.name = "noc",
          .uses = {{"[OPTION...]", "measure a network by itself"}},
          .declare = declare_noc,
          .least = 0,
          .most = 0,
          .run = run_noc};
}

}  // namespace nearwarp::cli
