// Runs probe programs on a machine: what lies between a shorter and a longer run.
#include "host/timing/probe/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/timing/run/cpu_replay.h"

namespace nearwarp::probe {
namespace {

/// One of the two runs of a probe.
struct Run {
  const config::MachineConfig* machine;
  const Probe* probe;
  const Program* program;
  std::optional<report::RunResult> result;
};

class Runs {
 public:
  Runs(std::vector<Run>& runs, const Record& record, unsigned threads, const Watch& watch)
      : runs_(runs), record_(record), watch_(watch), workers_(runs.size(), threads) {}

  void work() {
    workers_.run([this](size_t run, unsigned) {
      if (!go_on()) return;
      simulate(runs_[run]);
      done_ += 1;
    });
    go_on();  // all is done
  }

 private:
  void simulate(Run& run) {
    const runtime::Recording recording = record_(*run.program);
    sim::SimOptions options;
    options.progress = [&](const sim::Progress&) { return go_on(); };
    report::RunResult result =
        sim::replay_on_cpu(recording, *run.machine, run.probe->policy, options);
    if (workers_.stopped()) return;
    if (result.partial)
      throw Error(
          fmt::format("'{}' did not come to its end: {}", run.probe->name, result.partial_reason));
    run.result = std::move(result);
  }

  bool go_on() {
    const std::unique_lock<std::mutex> lock(watching_, std::try_to_lock);
    if (lock.owns_lock() && !workers_.stopped() && !watch_(done_, runs_.size())) workers_.stop();
    return !workers_.stopped();
  }

  std::vector<Run>& runs_;
  const Record& record_;
  const Watch& watch_;
  Workers workers_;
  std::atomic<size_t> done_{0};
  std::mutex watching_;  ///< held while the watch is asked
};

/// The sum of the counters that the run has.
int64_t sum(const report::RunResult& result, const std::vector<std::string>& names) {
  int64_t all = 0;
  for (const report::Counter& c : result.counters)
    if (std::find(names.begin(), names.end(), c.name) != names.end())
      all += static_cast<int64_t>(c.value);
  return all;
}

double share_as_meant(const Probe& probe, const report::RunResult& shorter,
                      const report::RunResult& longer) {
  double least = 1;
  for (const Evidence& e : probe.evidence) {
    const int64_t meant = sum(longer, e.meant) - sum(shorter, e.meant);
    const int64_t other = sum(longer, e.other) - sum(shorter, e.other);
    if (meant + other > 0)
      least = std::min(least, static_cast<double>(std::max<int64_t>(0, meant)) /
                                  static_cast<double>(meant + other));
  }
  return least;
}

bool is_stream(const Program& program) { return std::holds_alternative<Stream>(program.what); }

Finding finding(const Run& shorter, const Run& longer) {
  const report::RunResult &a = *shorter.result, &b = *longer.result;
  if (b.cycles <= a.cycles)
    throw Error(
        fmt::format("'{}' takes {} cycles, and {} where it does more - the machine does "
                    "not let it be measured",
                    longer.probe->name, a.cycles, b.cycles));
  Finding f;
  f.cycles = b.cycles - a.cycles;
  f.work = work_of(*longer.program) - work_of(*shorter.program);
  // Sectors that have been written and not come to memory yet: they do not count as work.
  const int64_t kept = sum(b, {"l2.sectors_left_dirty"}) - sum(a, {"l2.sectors_left_dirty"});
  if (is_stream(*longer.program))
    f.work -= static_cast<uint64_t>(kept * longer.machine->packets.sector_bytes);
  f.as_meant = share_as_meant(*longer.probe, a, b);
  const Probe& probe = *longer.probe;
  if (!probe.cycles.empty()) {
    f.cycles = static_cast<uint64_t>(sum(b, {probe.cycles}) - sum(a, {probe.cycles}));
    f.work = static_cast<uint64_t>(sum(b, {probe.work}) - sum(a, {probe.work}));
    if (f.work == 0)
      throw Error(fmt::format("'{}' finds nothing to measure ({} is 0)", probe.name, probe.work));
  }
  return f;
}

}  // namespace

double Finding::latency() const { return static_cast<double>(cycles) / static_cast<double>(work); }
double Finding::gigabytes_per_second(uint32_t core_mhz) const {
  return static_cast<double>(work) * core_mhz / static_cast<double>(cycles) / 1e3;
}

Findings measure(const config::MachineConfig& machine, const std::vector<Section>& sections,
                 const Record& record, unsigned threads, const Watch& watch) {
  // One access in a hundred would meet a refresh, or come to a row that it has closed.
  config::MachineConfig without_refresh = machine;
  without_refresh.dram.tREFI = 0;
  std::vector<Run> runs;
  for (const Section& section : sections)
    for (const Probe& probe : section.probes)
      for (const Program* program : {&probe.shorter, &probe.longer})
        runs.push_back(
            {section.latencies ? &without_refresh : &machine, &probe, program, std::nullopt});
  Runs(runs, record, threads, watch).work();
  Findings findings;
  size_t at = 0;
  for (const Section& section : sections) {
    auto& of_section = findings.emplace_back();
    for (size_t i = 0; i < section.probes.size(); ++i, at += 2) {
      const bool ended = runs[at].result.has_value() && runs[at + 1].result.has_value();
      of_section.push_back(ended ? std::optional(finding(runs[at], runs[at + 1])) : std::nullopt);
    }
  }
  return findings;
}

}  // namespace nearwarp::probe
