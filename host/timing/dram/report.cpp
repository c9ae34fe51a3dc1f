// Results of memory runs, for people and for programs.
#include "host/timing/dram/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "host/config/config.h"
#include "host/core/json_as_text.h"
#include "host/timing/report/columns.h"

namespace nearwarp::dram {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kNotKnown = "not known";

struct Row {
  std::string name;
  std::function<std::string(const Point&, const RunResult&)> cell;
};

std::string count(uint64_t value) { return report::grouped(value); }
std::string picojoules(std::optional<double> value) {
  return value ? fmt::format("{:.2f}", *value / 1e6) : kNotKnown;
}

// Latencies of reads; "-" where there was none.
std::string mean(const Served& s) {
  return s.traffic.reads_done == 0 ? "-" : fmt::format("{:.1f}", s.mean_latency());
}
std::string quantile(const Served& s, uint32_t permille) {
  return s.traffic.reads_done == 0 ? "-" : count(s.latency_quantile(permille));
}
std::string largest(const Served& s) {
  return s.traffic.reads_done == 0 ? "-" : count(s.traffic.latency_max);
}

const std::vector<Row>& rows() {
  using P = const Point&;
  using R = const RunResult&;
  static const std::vector<Row> all = {
      {"bandwidth [GB/s]", [](P, R r) { return fmt::format("{:.2f}", r.gigabytes_per_second()); }},
      {"share of peak [%]", [](P, R r) { return fmt::format("{:.2f}", 100 * r.share_of_peak()); }},
      {"read latency: mean", [](P, R r) { return mean(r); }},
      {"  median", [](P, R r) { return quantile(r, 500); }},
      {"  95 %", [](P, R r) { return quantile(r, 950); }},
      {"  99 %", [](P, R r) { return quantile(r, 990); }},
      {"  largest", [](P, R r) { return largest(r); }},
      {"row hits [%]", [](P, R r) { return fmt::format("{:.2f}", 100 * r.row_hit_rate()); }},
      {"reads", [](P, R r) { return count(r.commands.read_commands); }},
      {"writes", [](P, R r) { return count(r.commands.write_commands); }},
      {"reads forwarded", [](P, R r) { return count(r.commands.forwarded_reads); }},
      {"activations", [](P, R r) { return count(r.commands.activates); }},
      {"precharges", [](P, R r) { return count(r.commands.precharges); }},
      {"refreshes", [](P, R r) { return count(r.commands.refreshes); }},
      {"read/write changes", [](P, R r) { return count(r.commands.turnarounds); }},
      {"energy, known [uJ]",
       [](P p, R r) { return picojoules(energy_of(*p.standard, r).known()); }},
      {"  activation", [](P p, R r) { return picojoules(energy_of(*p.standard, r).activation); }},
      {"  read", [](P p, R r) { return picojoules(energy_of(*p.standard, r).read); }},
      {"  write", [](P p, R r) { return picojoules(energy_of(*p.standard, r).write); }},
      {"  interface", [](P p, R r) { return picojoules(energy_of(*p.standard, r).io); }},
      {"  refresh", [](P p, R r) { return picojoules(energy_of(*p.standard, r).refresh); }},
      {"  background", [](P p, R r) { return picojoules(energy_of(*p.standard, r).background); }},
      {"  per bit [pJ]",
       [](P p, R r) {
         const auto total = energy_of(*p.standard, r).known();
         return total && r.bytes() != 0 ? fmt::format("{:.2f}", *total / r.bytes() / 8) : kNotKnown;
       }},
      {"cycles", [](P, R r) { return count(r.cycles); }},
      {"simulated [Mcycles/s]",
       [](P, R r) {
         return fmt::format("{:.2f}",
                            static_cast<double>(r.simulated_cycles) / r.wall_seconds / 1e6);
       }},
      {"simulated [Mreq/s]",
       [](P, R r) {
         return fmt::format("{:.2f}",
                            static_cast<double>(r.simulated_requests) / r.wall_seconds / 1e6);
       }},
  };
  return all;
}

const char* name_of(TrafficPattern pattern) {
  switch (pattern) {
    case TrafficPattern::kStrided:
      return "strided";
    case TrafficPattern::kRandom:
      return "random";
    case TrafficPattern::kConflict:
      return "conflict";
    case TrafficPattern::kTrace:
      break;
  }
  return "trace";
}

Json traffic_json(const Traffic& t) {
  Json json;
  json["pattern"] = name_of(t.pattern);
  if (t.pattern == TrafficPattern::kStrided) {
    json["stride_accesses"] = t.stride_lines;
    json["first_access"] = t.first_line;
  }
  if (t.pattern != TrafficPattern::kTrace) {
    json["share_of_writes"] = static_cast<double>(t.writes_num) / t.writes_den;
    json["seed"] = t.seed;
  } else {
    json["accesses"] = t.trace.size();
  }
  switch (t.pacing) {
    case TrafficPacing::kSaturated:
      json["pacing"] = "saturated";
      break;
    case TrafficPacing::kWindow:
      json["pacing"] = "window";
      json["outstanding"] = t.outstanding;
      break;
    case TrafficPacing::kOpen:
      json["pacing"] = "open";
      if (t.pattern != TrafficPattern::kTrace)
        json["offered_share_of_peak"] = static_cast<double>(t.rate_ppm) / 1e6;
      break;
  }
  return json;
}

Json latency_json(const Served& r) {
  Json json;
  json["reads"] = r.traffic.reads_done;
  if (r.traffic.reads_done != 0) {
    json["mean"] = r.mean_latency();
    json["min"] = r.traffic.latency_min;
    json["p50"] = r.latency_quantile(500);
    json["p95"] = r.latency_quantile(950);
    json["p99"] = r.latency_quantile(990);
    json["max"] = r.traffic.latency_max;
  }
  json["histogram"] = Json::array();
  for (const auto& [cycles, n] : r.latencies) json["histogram"].push_back({cycles, n});
  return json;
}

Json stream_json(const Traffic& t, const RunResult& r, const Served& s) {
  Json json;
  json["traffic"] = traffic_json(t);
  json["bandwidth"] = {{"gigabytes_per_second", r.gigabytes_per_second(s)},
                       {"share_of_peak", r.share_of_peak(s)}};
  json["reads"] = s.traffic.reads_done;
  json["writes"] = s.traffic.writes_sent;
  json["read_latency_cycles"] = latency_json(s);
  return json;
}

Json energy_json(const Energy& e) {
  const auto part = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  return {{"activation", part(e.activation)},
          {"read", part(e.read)},
          {"write", part(e.write)},
          {"interface", part(e.io)},
          {"refresh", part(e.refresh)},
          {"background", part(e.background)},
          {"total", e.complete() ? part(e.known()) : Json()},
          {"known", part(e.known())}};
}

Json run_json(const Point& p, const RunResult& r) {
  Json json;
  json["label"] = p.label;
  json["standard"] = p.standard->name;
  Json keys = Json::object();
  for (const config::KeyDescription& key : config::describe(*p.standard)) {
    Json value = Json::parse(key.value, nullptr, false);
    keys[key.key] = value.is_discarded() ? Json(key.value) : value;
  }
  json["keys"] = keys;
  if (p.load.streams.size() == 1) json["traffic"] = traffic_json(p.load.streams[0]);
  json["cycles"] = r.cycles;
  json["bandwidth"] = {{"gigabytes_per_second", r.gigabytes_per_second()},
                       {"share_of_peak", r.share_of_peak()}};
  json["read_latency_cycles"] = latency_json(r);
  if (p.load.streams.size() > 1) {
    json["streams"] = Json::array();
    for (size_t i = 0; i < r.streams.size(); ++i)
      json["streams"].push_back(stream_json(p.load.streams[i], r, r.streams[i]));
  }
  json["row_hit_rate"] = r.row_hit_rate();
  const VaultCounters& c = r.commands;
  json["commands"] = {{"reads", c.read_commands},
                      {"writes", c.write_commands},
                      {"activations", c.activates},
                      {"precharges", c.precharges},
                      {"refreshes", c.refreshes}};
  json["requests"] = {{"reads", c.reads},
                      {"writes", c.writes},
                      {"reads_forwarded", c.forwarded_reads},
                      {"row_hits", c.row_hits},
                      {"row_misses", c.row_misses},
                      {"row_conflicts", c.row_conflicts},
                      {"starved", c.starved},
                      {"turnarounds", c.turnarounds}};
  json["energy_pj"] = energy_json(energy_of(*p.standard, r));
  json["host"] = {{"wall_seconds", r.wall_seconds},
                  {"simulated_cycles", r.simulated_cycles},
                  {"simulated_requests", r.simulated_requests}};
  return json;
}

/// Names the parts of energy that the table leaves out.
std::string left_out(std::span<const Point> points) {
  std::string text;
  const auto add = [&](const char* name, auto part) {
    const bool missing = std::any_of(points.begin(), points.end(), [&](const Point& p) {
      return !(p.standard->energy.*part).has_value();
    });
    if (missing) text += std::string(text.empty() ? "" : ", ") + name;
  };
  using E = config::DramConfig::Energy;
  add("activation", &E::activation_fj);
  add("reads", &E::read_fj_per_bit);
  add("writes", &E::write_fj_per_bit);
  add("interface", &E::io_fj_per_bit);
  add("refresh", &E::refresh_fj);
  add("background", &E::background_uw);
  if (text.empty()) return "";
  return " Energy without what the standard's file says is unknown: " + text + ".";
}

std::string pacing_text(const Traffic& t) {
  if (t.pacing == TrafficPacing::kWindow) return fmt::format(", {} under way", t.outstanding);
  if (t.pacing == TrafficPacing::kOpen)
    return fmt::format(", rate {}", static_cast<double>(t.rate_ppm) / 1e6);
  return ", as fast as possible";
}

/// Describes each stream, for all points alike.
std::string streams_text(const Load& load) {
  std::string text;
  for (size_t i = 0; i < load.streams.size(); ++i) {
    const Traffic& t = load.streams[i];
    text += fmt::format("stream {}: {}", i + 1, name_of(t.pattern));
    if (t.pattern == TrafficPattern::kStrided)
      text += fmt::format(" by {} from {}", t.stride_lines, t.first_line);
    text += fmt::format(", {:g} % reads{}\n", 100.0 - 100.0 * t.writes_num / t.writes_den,
                        pacing_text(t));
  }
  return text;
}

/// Rows of one of several streams.
std::vector<Row> stream_rows(size_t i) {
  using P = const Point&;
  using R = const RunResult&;
  const auto name = [i](const char* what) { return fmt::format("{}: {}", i + 1, what); };
  return {{name("bandwidth [GB/s]"),
           [i](P, R r) { return fmt::format("{:.2f}", r.gigabytes_per_second(r.streams[i])); }},
          {name("share of peak [%]"),
           [i](P, R r) { return fmt::format("{:.2f}", 100 * r.share_of_peak(r.streams[i])); }},
          {name("read latency: mean"), [i](P, R r) { return mean(r.streams[i]); }},
          {name("  median"), [i](P, R r) { return quantile(r.streams[i], 500); }},
          {name("  95 %"), [i](P, R r) { return quantile(r.streams[i], 950); }},
          {name("  99 %"), [i](P, R r) { return quantile(r.streams[i], 990); }},
          {name("  largest"), [i](P, R r) { return largest(r.streams[i]); }},
          {name("reads"), [i](P, R r) { return count(r.streams[i].traffic.reads_done); }},
          {name("writes"), [i](P, R r) { return count(r.streams[i].traffic.writes_sent); }}};
}

}  // namespace

std::string table_text(std::span<const Point> points, std::span<const RunResult> results,
                       size_t width) {
  const size_t streams = points.empty() ? 1 : points[0].load.streams.size();
  std::vector<Row> all = rows();
  for (size_t i = 0; streams > 1 && i < streams; ++i) {
    for (Row& row : stream_rows(i)) all.push_back(std::move(row));
  }
  std::vector<std::string> names;
  std::vector<report::Column> columns;
  for (const Point& point : points) columns.push_back({point.label, {}});
  for (const Row& row : all) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < points.size(); ++i) cells.push_back(row.cell(points[i], results[i]));
    const bool unknown =
        std::all_of(cells.begin(), cells.end(), [](const auto& c) { return c == kNotKnown; });
    if (unknown && row.name != "energy, known [uJ]") continue;
    names.emplace_back(row.name);
    for (size_t i = 0; i < points.size(); ++i) columns[i].cells.push_back(std::move(cells[i]));
  }
  return (streams > 1 ? streams_text(points[0].load) + "\n" : "") +
         report::columns_text(names, std::move(columns), width) + "\n" +
         report::wrapped(
             "latencies in cycles of the command clock, from entering the controller "
             "(with `rate_ppm`: from the time offered) to the last data." +
                 left_out(points),
             width);
}

std::string json_text(std::span<const Point> points, std::span<const RunResult> results,
                      const RunOptions& options, const std::string& version) {
  Json document;
  document["schema"] = kDramSchema;
  document["nearwarp_version"] = version;
  document["warm_up_cycles"] = options.warm_up_cycles;
  document["runs"] = Json::array();
  for (size_t i = 0; i < points.size(); ++i) {
    document["runs"].push_back(run_json(points[i], results[i]));
  }
  return json_as_text(document, 2) + "\n";
}

}  // namespace nearwarp::dram
