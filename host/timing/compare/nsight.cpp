// Launches as Nsight Compute measured them on a device, beside those of a simulated run.
#include "host/timing/compare/nsight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "host/core/demangle.h"
#include "host/core/error.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/csv.h"

namespace nearwarp::compare {
namespace {

std::optional<size_t> place_of(const std::vector<std::string>& head, const std::string& name) {
  const auto at = std::find(head.begin(), head.end(), name);
  if (at == head.end()) return std::nullopt;
  return static_cast<size_t>(at - head.begin());
}

/// A number as ncu writes it, such as "1,234.5" with unit "Kbyte", in units without a prefix; 0 if
/// it is none (ncu writes "n/a" and "nan" for metrics that a device does not have).
double value_of(std::string text, const std::string& unit) {
  std::erase(text, ',');
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return 0;
  const double scale = unit.starts_with("K")   ? 1e3
                       : unit.starts_with("M") ? 1e6
                       : unit.starts_with("G") ? 1e9
                                               : 1;
  return value * scale;
}

/// The metrics of a launch that are used, gathered in whatever order they come.
class Metrics {
 public:
  void take(const std::string& metric, const std::string& text, const std::string& unit) {
    for (size_t i = 0; i < std::size(kNames); ++i)
      if (metric == kNames[i]) value_[i] = value_of(text, unit);
  }
  /// The first of the three metrics of cycles that was measured; 0 if none was.
  double cycles() const {
    return value_[0] != 0 ? value_[0] : value_[1] != 0 ? value_[1] : value_[2];
  }
  double dram_bytes() const { return value_[3] != 0 ? value_[3] : value_[4] + value_[5]; }

 private:
  static constexpr const char* kNames[] = {"gpc__cycles_elapsed.max", "Elapsed Cycles",
                                           "sm__cycles_elapsed.max",  "dram__bytes.sum",
                                           "dram__bytes_read.sum",    "dram__bytes_write.sum"};
  double value_[std::size(kNames)] = {};
};

/// A kernel's name, mangled or not, without return type, scopes, template arguments and parameters:
/// "f" for "void f<int>(float*)".
std::string base_name(const std::string& given) {
  std::string name = demangled(given);
  for (const std::string scope : {"(anonymous namespace)::", "<unnamed>::"})
    for (size_t at = 0; (at = name.find(scope, at)) != std::string::npos;)
      name.erase(at, scope.size());
  std::string outside;  // the text outside of angle brackets
  uint32_t depth = 0;
  for (const char c : name) {
    if (c == '(' && depth == 0) break;
    if (c == '<')
      ++depth;
    else if (c == '>')
      depth -= depth != 0;
    else if (depth == 0)
      outside += c;
  }
  while (outside.ends_with(' ')) outside.pop_back();
  const size_t before = outside.find_last_of(" :*&");
  return before == std::string::npos ? outside : outside.substr(before + 1);
}

bool is_head(const std::string& line) {
  return line.find("\"Kernel Name\"") != std::string::npos && line.starts_with("\"ID\"");
}

}  // namespace

bool is_nsight(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  for (int i = 0; i < 1000 && std::getline(file, line); ++i) {
    if (is_head(line)) return true;
    if (line.starts_with("{")) return false;
  }
  return false;
}

std::vector<MeasuredLaunch> read_nsight(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  uint64_t number = 0;
  const auto fail = [&](const std::string& what, const std::string& right) {
    throw Error(fmt::format("{} ({}:{}) - {}", what, path, number, right));
  };
  std::vector<std::string> head, units;
  std::vector<MeasuredLaunch> launches;
  std::vector<Metrics> metrics;
  std::map<std::string, size_t> of_id;
  while (std::getline(file, line)) {
    ++number;
    if (head.empty()) {  // output of the program and messages of ncu come before the table
      if (is_head(line)) head = report::csv_fields(line);
      continue;
    }
    if (line.empty()) continue;
    const std::vector<std::string> fields = report::csv_fields(line);
    if (fields.size() != head.size())
      fail(fmt::format("a line has {} fields of {}", fields.size(), head.size()),
           "write the file again with ncu --csv");
    const size_t name = *place_of(head, "Kernel Name");
    if (fields[0].empty()) {  // page "raw" has a line of units
      units = fields;
      continue;
    }
    const auto [at, is_new] = of_id.emplace(fields[0], launches.size());
    if (is_new) {
      metrics.emplace_back();
      launches.emplace_back().kernel = fields[name];
      if (const auto device = place_of(head, "Device")) launches.back().device = fields[*device];
      if (base_name(fields[name]).empty())
        fail(fmt::format("'{}' is no name of a kernel", fields[name]),
             "write the file again with ncu --csv");
    }
    Metrics& of_launch = metrics[at->second];
    const auto metric = place_of(head, "Metric Name"), value = place_of(head, "Metric Value");
    if (metric && value) {
      const auto unit = place_of(head, "Metric Unit");
      of_launch.take(fields[*metric], fields[*value], unit ? fields[*unit] : "");
    } else {
      for (size_t i = 0; i < head.size(); ++i)
        of_launch.take(head[i], fields[i], i < units.size() ? units[i] : "");
    }
  }
  if (launches.empty()) fail("the file has no launches", "write it with ncu --csv");
  for (size_t i = 0; i < launches.size(); ++i) {
    MeasuredLaunch& l = launches[i];
    l.cycles = metrics[i].cycles();
    l.dram_bytes = metrics[i].dram_bytes();
    if (l.cycles <= 0)
      throw Error(
          fmt::format("'{}' has no cycles of kernel {} - measure gpc__cycles_elapsed.max, or the "
                      "section SpeedOfLight",
                      path, l.kernel));
  }
  return launches;
}

std::vector<LaunchPair> launch_pairs(const std::vector<MeasuredLaunch>& measured,
                                     const Document& document) {
  if (document.runs.size() != 1)
    throw Error(
        fmt::format("'{}' has {} runs - give one of a single policy beside launches that "
                    "were measured",
                    document.path, document.runs.size()));
  const nlohmann::ordered_json& run = document.runs.front();
  if (!run.contains("kernels"))
    throw Error(
        fmt::format("'{}' does not have its launches - give the document of a run, not of a sweep",
                    document.path));
  const nlohmann::ordered_json& kernels = run.at("kernels");
  if (kernels.size() != measured.size())
    throw Error(
        fmt::format("'{}' has {} launches, and {} were measured - profile the whole "
                    "program, with the same input",
                    document.path, kernels.size(), measured.size()));
  std::vector<LaunchPair> pairs;
  for (size_t i = 0; i < measured.size(); ++i) {
    const auto name = kernels[i].at("kernel").get<std::string>();
    const std::string base = base_name(measured[i].kernel);
    if (base.empty() || base != base_name(name))
      throw Error(
          fmt::format("launch {} was measured of kernel {}, and simulated of {} - profile "
                      "the same program",
                      i + 1, measured[i].kernel, name));
    pairs.push_back({base, measured[i].cycles, kernels[i].at("cycles").get<double>()});
  }
  return pairs;
}

double mean_error(const std::vector<LaunchPair>& pairs) {
  double sum = 0;
  for (const LaunchPair& p : pairs) sum += std::abs(p.error());
  return pairs.empty() ? 0 : sum / static_cast<double>(pairs.size());
}

double correlation(const std::vector<LaunchPair>& pairs) {
  const auto n = static_cast<double>(pairs.size());
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const LaunchPair& p : pairs) x += p.measured / n, y += p.simulated / n;
  for (const LaunchPair& p : pairs) {
    xx += (p.measured - x) * (p.measured - x);
    yy += (p.simulated - y) * (p.simulated - y);
    xy += (p.measured - x) * (p.simulated - y);
  }
  return xx <= 0 || yy <= 0 ? 0 : xy / std::sqrt(xx * yy);
}

std::string format(const std::vector<LaunchPair>& pairs,
                   const std::vector<MeasuredLaunch>& measured, const Document& document) {
  constexpr size_t kMostName = 28;
  // The table has a line for each kernel, in the order of their first launches.
  std::vector<std::pair<std::string, std::vector<LaunchPair>>> kernels;
  for (const LaunchPair& p : pairs) {
    const auto at = std::find_if(kernels.begin(), kernels.end(),
                                 [&](const auto& k) { return k.first == p.kernel; });
    if (at == kernels.end())
      kernels.push_back({p.kernel, {p}});
    else
      at->second.push_back(p);
  }
  std::string text;
  if (!measured.front().device.empty())
    text += fmt::format("measured on device {} (as Nsight Compute numbers or names it)\n\n",
                        measured.front().device);
  text += fmt::format("{:<28} {:>8} {:>13} {:>13} {:>9}\n", "kernel", "launches", "measured",
                      "simulated", "error");
  for (const auto& [name, of_kernel] : kernels) {
    double before = 0, after = 0;
    for (const LaunchPair& p : of_kernel) before += p.measured, after += p.simulated;
    text += fmt::format("{:<28} {:>8} {:>13} {:>13} {:>+8.1f}%\n", name.substr(0, kMostName),
                        of_kernel.size(), report::grouped(static_cast<uint64_t>(before)),
                        report::grouped(static_cast<uint64_t>(after)), 100 * (after / before - 1));
  }
  text += fmt::format("\ncycles of {} launches: mean absolute error {:.1f} %", pairs.size(),
                      100 * mean_error(pairs));
  if (pairs.size() > 2) text += fmt::format(", correlation {:.3f}", correlation(pairs));
  text += '\n';
  double bytes = 0, simulated = 0;
  for (const MeasuredLaunch& l : measured) bytes += l.dram_bytes;
  const nlohmann::ordered_json& counters = document.runs.front().at("counters");
  for (const char* name : {"dram.bytes_read", "dram.bytes_written"})
    if (counters.contains(name)) simulated += counters.at(name).at("value").get<double>();
  if (bytes != 0)
    text += fmt::format("DRAM: {:.1f} MB measured, {:.1f} MB simulated\n", bytes / 1e6,
                        simulated / 1e6);
  return text;
}

}  // namespace nearwarp::compare
