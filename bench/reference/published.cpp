// Reads published measurements, and makes the same measurements of a machine.
#include "bench/reference/published.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "bench/probes/programs.h"
#include "bench/reference/programs.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/timing/probe/measure.h"
#include "host/timing/run/cpu_replay.h"

namespace nearwarp::reference {
namespace {

constexpr size_t kColumns = 8;

template <class T>
bool parse(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end;
}

Published parse_line(const std::string& where, const std::string& text) {
  std::vector<std::string> cells;
  std::istringstream in(text);
  for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
  if (cells.size() != kColumns)
    throw Error(fmt::format("{} cells ({}) - a line has {}", cells.size(), where, kColumns));
  Published p{cells[0], cells[1], cells[2], cells[3] == "set", 0, cells[5], cells[6], cells[7]};
  if (cells[3] != "set" && cells[3] != "check")
    throw Error(fmt::format("role '{}' ({}) - set or check", cells[3], where));
  if (!parse(cells[4], p.value) || p.value <= 0)
    throw Error(fmt::format("'{}' is no positive number ({})", cells[4], where));
  if (p.unit != "cycles" && p.unit != "GB/s" && p.unit != "bytes/cycle/SM")
    throw Error(fmt::format("unit '{}' ({}) - cycles, GB/s or bytes/cycle/SM", p.unit, where));
  return p;
}

/// Measures probes and programs on one machine; each is measured once, however many lines name it.
class Measurements {
 public:
  Measurements(const config::MachineConfig& machine, unsigned threads)
      : machine_(machine), threads_(threads) {}

  double of(const Published& p) {
    const auto [at, is_new] = known_.try_emplace(p.measured);
    if (is_new) at->second = p.measured.starts_with("probe ") ? probe(p) : program(p);
    if (p.unit == "bytes/cycle/SM")
      return at->second * 1e3 / machine_.clocks.core_mhz / machine_.gpu.sms;
    return at->second;
  }

 private:
  [[noreturn]] static void refuse(const Published& p, const std::string& why) {
    throw Error(
        fmt::format("'{}' of {}: '{}' {} - 'probe SECTION:ROW' as nearwarp probe has them, "
                    "or 'program NAME ARGUMENTS: BYTES'",
                    p.what, p.machine, p.measured, why));
  }

  /// Cycles of a latency, else GB/s. The row is simulated alone.
  double probe(const Published& p) const {
    const std::string text = p.measured.substr(6);
    const size_t colon = text.find(':');
    if (colon == std::string::npos) refuse(p, "names no section");
    const std::string section = text.substr(0, colon), row = text.substr(colon + 1);
    for (probe::Section s : probe::plan(machine_)) {
      if (s.latencies != (section == "latencies")) continue;
      std::erase_if(s.probes, [&](const probe::Probe& one) { return one.name != row; });
      if (s.probes.empty()) continue;
      const auto found = probe::measure(machine_, {s}, probe::record, threads_,
                                        [](size_t, size_t) { return true; });
      const probe::Finding& f = found.at(0).at(0).value();
      return s.latencies ? f.latency() : f.gigabytes_per_second(machine_.clocks.core_mhz);
    }
    refuse(p, "is no row of this machine");
  }

  /// GB/s of a program, by the number of bytes that the line says it moves.
  double program(const Published& p) const {
    std::istringstream in(p.measured);
    std::string word, name;
    std::vector<int> arguments;
    double bytes = 0;
    in >> word >> name;
    if (word != "program" || name.empty()) refuse(p, "is neither a probe nor a program");
    while (bytes == 0 && in >> word) {
      const bool last = word.back() == ':';
      if (last) word.pop_back();
      if (!parse(word, arguments.emplace_back())) refuse(p, "has an argument that is no number");
      if (last && !(in >> bytes)) refuse(p, "does not say how many bytes it moves");
    }
    if (bytes <= 0) refuse(p, "does not say how many bytes it moves");
    runtime::VirtualDevice device;
    if (!run_program(device, name, arguments)) throw Error(name + ": a wrong result");
    sim::SimOptions options;
    options.threads = threads_;
    const report::RunResult result = sim::replay_on_cpu(device.take_recording(name), machine_,
                                                        config::load_policy("baseline"), options);
    return bytes / static_cast<double>(result.cycles) * machine_.clocks.core_mhz / 1e3;
  }

  const config::MachineConfig& machine_;
  unsigned threads_;
  std::map<std::string, double> known_;
};

}  // namespace

std::vector<Published> read_published(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("cannot open " + path + " - it lies in the source tree");
  std::vector<Published> all;
  int number = 0;
  bool head = true;  // the names of the columns
  for (std::string text; std::getline(file, text);) {
    ++number;
    if (text.empty() || text.front() == '#') continue;
    if (!head) all.push_back(parse_line(fmt::format("{}:{}", path, number), text));
    head = false;
  }
  return all;
}

std::vector<PublishedRow> measure_published(const std::vector<Published>& all,
                                            const std::string& machine, const std::string& instead,
                                            const std::vector<std::string>& set, unsigned threads) {
  const config::MachineConfig config =
      config::load_machine(instead.empty() ? machine : instead, set);
  Measurements measurements(config, threads);
  std::vector<PublishedRow> rows;
  for (const Published& p : all)
    if (p.machine == machine) rows.push_back({p, measurements.of(p)});
  return rows;
}

}  // namespace nearwarp::reference
