// Races, misuse and memory errors in programs and applications.
#include "host/api/nearwarp/checks.h"

#include <fmt/format.h>

#include "host/api/application.h"
#include "host/api/failure.h"
#include "host/api/observers.h"
#include "host/api/programs.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/racecheck/checker.h"
#include "host/functional/racecheck/report.h"
#include "host/programs/recordings.h"

namespace nearwarp {

struct CheckedProgram::Whole {
  racecheck::Findings findings;
};

static_assert(CheckReport::kMostFindings == racecheck::FindingTable::kMost);

namespace {

CheckedAccess access_of(const racecheck::Access& a) {
  return {a.kind,
          a.text,
          a.source,
          a.caller,
          a.ptx,
          {a.block[0], a.block[1], a.block[2]},
          {a.thread[0], a.thread[1], a.thread[2]}};
}

CheckedProgram program_of(racecheck::Findings found) {
  CheckedProgram p;
  p.name = found.program;
  p.launches = found.launches;
  p.accesses = found.accesses;
  p.same_value = found.same_value;
  p.forgotten = found.forgotten;
  p.left_out = found.left_out;
  p.errors = found.errors;
  for (const racecheck::Hazard& h : racecheck::in_order(found.hazards))
    p.findings.push_back({.kind = Finding::Kind::kHazard,
                          .what = racecheck::name_of(h.kind),
                          .distance = racecheck::name_of(h.distance),
                          .kernel = h.kernel,
                          .at = access_of(h.later),
                          .earlier = access_of(h.earlier),
                          .shared = h.shared,
                          .address = h.address,
                          .place = h.place,
                          .count = h.count,
                          .unchanged = h.unchanged});
  for (const racecheck::Misuse& m : found.misuses)
    p.findings.push_back({.kind = Finding::Kind::kMisuse,
                          .what = racecheck::name_of(m.kind),
                          .distance = "",
                          .kernel = m.kernel,
                          .at = access_of(m.at),
                          .place = m.detail,
                          .count = m.count});
  for (const racecheck::UnwrittenRead& r : found.unwritten)
    p.findings.push_back({.kind = Finding::Kind::kUnwritten,
                          .what = "memory that nobody wrote",
                          .distance = "",
                          .kernel = r.kernel,
                          .at = access_of(r.at),
                          .shared = r.shared,
                          .address = r.address,
                          .place = r.place,
                          .count = r.count});
  p.whole = std::make_shared<const CheckedProgram::Whole>(CheckedProgram::Whole{std::move(found)});
  return p;
}

CheckReport report_of(std::vector<racecheck::Findings> found) {
  CheckReport report;
  report.document = racecheck::format_json(found, version());
  for (racecheck::Findings& one : found) report.programs.push_back(program_of(std::move(one)));
  return report;
}

bool nothing_found(const std::vector<racecheck::Findings>& found) {
  for (const racecheck::Findings& one : found)
    if (!one.clean() || one.launches != 0) return false;
  return true;
}

std::string no_such_kernel(const std::string& kernels) {
  return fmt::format(
      "no kernel with a match of '{}' was launched - "
      "there is nothing to check",
      kernels);
}

}  // namespace

Expected<std::string> CheckedProgram::text(size_t most) const {
  return guarded([&] {
    if (whole == nullptr) throw UsageError("findings of nothing were used - take those of a check");
    return racecheck::format_text(whole->findings, most);
  });
}

Expected<CheckReport> check_workload(const std::string& name, const std::string& size,
                                     const CheckOptions& options) {
  return guarded([&] {
    const workloads::Workload& workload = workload_named(name);
    racecheck::Checker::Options own;
    own.kernels = options.kernels;
    own.misuse = options.misuse;
    own.unwritten = options.unwritten;
    racecheck::Checker checker(own);
    checker.findings().program = workload.name();
    runtime::VirtualDevice::Options device;
    device.record_traces = false;
    device.checker = &checker;
    Asked asked(options.progress);
    try {
      programs::execute_workload(workload, workloads::parse_size(size), std::move(device), asked);
    } catch (const runtime::DeviceFault& fault) {
      checker.findings().errors.push_back(fault.what());
    }
    checker.end_launch();
    std::vector<racecheck::Findings> found = {checker.findings()};
    if (nothing_found(found)) throw Error(no_such_kernel(options.kernels));
    return report_of(std::move(found));
  });
}

Expected<CheckReport> check_application(Texts command, const ApplicationOptions& run,
                                        const CheckOptions& options) {
  return guarded([&] {
    const Machine machine = machine_of(run);
    ApplicationOptions with_kernels = run;
    with_kernels.kernels = options.kernels;
    programs::ApplicationOptions own = own_options(with_kernels, Access::of(machine));
    own.registers.clear();  // execution is the same whatever the number of registers
    own.check = true;
    if (!options.misuse) own.check_without = "misuse";
    if (!options.unwritten)
      own.check_without += own.check_without.empty() ? "unwritten" : ",unwritten";
    AskedOfApplication asked(run);
    const programs::ApplicationRun done = programs::run_application(
        {command.begin(), command.end()}, Access::of(machine).config, own, asked);
    programs::tell_ending(done, asked);
    if (nothing_found(done.findings)) {
      const std::string why = done.findings.empty() ? programs::why_not_used(done)
                              : done.interrupted
                                  ? "no launch that was to be checked had ended - there is nothing "
                                    "to report"
                              : options.kernels.empty() ? programs::why_not_launched(done)
                                                        : no_such_kernel(options.kernels);
      if (done.interrupted)
        throw Interrupted(fmt::format("{}: {}", programs::kApplicationInterrupted, why));
      throw Error(why);
    }
    CheckReport report = report_of(done.findings);
    report.exit_status = done.exit_status;
    report.interrupted = done.interrupted;
    return report;
  });
}

}  // namespace nearwarp
