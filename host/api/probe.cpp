// The public interface for probing a machine: its latencies and bandwidths, as measured by small
// programs.
#include "bench/probes/programs.h"
#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/nearwarp/parts.h"
#include "host/api/state.h"
#include "host/core/workers.h"
#include "host/timing/probe/report.h"

namespace nearwarp {

struct ProbeReport::Whole {
  std::shared_ptr<const Machine::State> machine;
  std::vector<probe::Section> sections;
  probe::Findings findings;
};

namespace {

ProbeValue value_of(const config::MachineConfig& machine, const probe::Section& section,
                    const probe::Probe& probe, const std::optional<probe::Finding>& found) {
  ProbeValue v;
  v.name = probe.name;
  v.bound = section.latencies ? 0 : probe.bound.gigabytes_per_second;
  v.bound_by = section.latencies ? "" : probe.bound.part;
  if (!found.has_value()) return v;
  v.measured = true;
  v.as_meant = found->as_meant;
  if (section.latencies) {
    v.core_cycles = found->latency();
    v.nanoseconds = found->latency() * 1e3 / machine.clocks.core_mhz;
  } else {
    v.gigabytes_per_second = found->gigabytes_per_second(machine.clocks.core_mhz);
  }
  return v;
}

}  // namespace

Expected<std::string> ProbeReport::text(size_t width) const {
  return guarded([&] {
    if (whole == nullptr)
      throw UsageError("a report of nothing was used - take one of probe_machine()");
    return probe::table_text(whole->machine->config, whole->sections, whole->findings, width);
  });
}

Expected<ProbeReport> probe_machine(const Machine& machine, const ProbeOptions& options) {
  return guarded([&] {
    auto whole = std::make_shared<ProbeReport::Whole>();
    whole->machine = Access::shared(machine);
    const config::MachineConfig& config = whole->machine->config;
    whole->sections = probe::plan(config);
    ProbeReport all;
    all.machine = config.name;
    const std::string what = "probing";
    const probe::Watch watch = [&](size_t done, size_t of) {
      all.ended = done;
      all.runs = of;
      return !options.progress || by_caller([&] {
        return options.progress({what, done, of, "runs"});
      });
    };
    whole->findings = probe::measure(config, whole->sections, probe::record,
                                     options.threads == 0 ? processors() : options.threads, watch);
    for (size_t i = 0; i < whole->sections.size(); ++i) {
      const probe::Section& s = whole->sections[i];
      ProbeSection& section = all.sections.emplace_back();
      section.id = s.id;
      section.title = s.title;
      section.latencies = s.latencies;
      for (size_t k = 0; k < s.probes.size(); ++k)
        section.values.push_back(value_of(config, s, s.probes[k], whole->findings[i][k]));
    }
    all.document = probe::json_text(config, whole->sections, whole->findings, version());
    all.whole = std::move(whole);
    return all;
  });
}

}  // namespace nearwarp
