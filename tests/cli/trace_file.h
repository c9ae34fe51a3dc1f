// Reads a timeline's trace as a viewer does, and refuses one that breaks the format.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nearwarp::testing {

struct TraceSpan {
  std::string name;
  uint64_t begin = 0, end = 0;  ///< core cycles
};

/// One series of a counter: (cycle, value), in the file's order.
using Series = std::vector<std::pair<uint64_t, double>>;

struct TraceFile {
  std::map<uint64_t, std::string> processes;
  std::map<std::pair<uint64_t, uint64_t>, std::vector<TraceSpan>> spans;  ///< by process and thread
  std::map<std::string, Series> series;  ///< "process/counter/series"
  size_t arrows = 0;

  /// The process of that name; throws std::out_of_range.
  uint64_t pid(const std::string& name) const {
    for (const auto& [pid, process] : processes)
      if (process == name) return pid;
    throw std::out_of_range("no process " + name);
  }
  /// The number of spans of that name.
  size_t count(const std::string& name) const {
    size_t n = 0;
    for (const auto& [thread, spans_of] : spans)
      for (const TraceSpan& s : spans_of) n += s.name == name ? 1 : 0;
    return n;
  }
  /// Whether any two spans of a thread are either disjoint or nested.
  bool nests() const {
    for (const auto& [thread, spans_of] : spans) {
      std::vector<TraceSpan> sorted = spans_of;
      std::sort(sorted.begin(), sorted.end(), [](const TraceSpan& a, const TraceSpan& b) {
        return std::pair{a.begin, ~a.end} < std::pair{b.begin, ~b.end};
      });
      std::vector<uint64_t> open;
      for (const TraceSpan& s : sorted) {
        while (!open.empty() && open.back() <= s.begin) open.pop_back();
        if (!open.empty() && s.end > open.back()) return false;
        open.push_back(s.end);
      }
    }
    return true;
  }
};

/// Reads a trace file. Throws if it breaks the format.
inline TraceFile read_trace(const std::string& path) {
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  TraceFile file;
  const auto cycle = [](const nlohmann::json& us) {
    return static_cast<uint64_t>(us.get<double>() * 1000 + 0.5);
  };
  for (const nlohmann::json& e : nlohmann::json::parse(text)) {
    const std::string ph = e.at("ph"), name = e.at("name");
    const uint64_t pid = e.at("pid");
    if (ph == "M") {
      if (name == "process_name") file.processes[pid] = e.at("args").at("name");
    } else if (ph == "X") {
      const uint64_t begin = cycle(e.at("ts"));
      file.spans[{pid, e.at("tid").get<uint64_t>()}].push_back(
          {name, begin, begin + cycle(e.at("dur"))});
    } else if (ph == "C") {
      for (const auto& [series, value] : e.at("args").items())
        file.series[file.processes.at(pid) + "/" + name + "/" + series].emplace_back(
            cycle(e.at("ts")), value.get<double>());
    } else if (ph == "s" || ph == "f") {
      e.at("id").get<uint64_t>();
      cycle(e.at("ts"));
      file.arrows += ph == "s" ? 1 : 0;
    } else {
      throw std::runtime_error("an event of phase " + ph);
    }
  }
  return file;
}

/// The sum of a series over the cycles before `end`; each value holds until the next one.
inline double integral(const Series& series, uint64_t end) {
  double sum = 0;
  for (size_t i = 0; i < series.size(); ++i) {
    const uint64_t until = i + 1 < series.size() ? series[i + 1].first : end;
    sum += series[i].second * static_cast<double>(until - series[i].first);
  }
  return sum;
}

}  // namespace nearwarp::testing
