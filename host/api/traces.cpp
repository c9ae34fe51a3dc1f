// Profiles of programs, and Accel-Sim's traces.
#include "host/api/nearwarp/traces.h"

#include "host/api/by_caller.h"
#include "host/api/failure.h"
#include "host/api/observers.h"
#include "host/api/state.h"
#include "host/programs/recordings.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/accel_sim/trace_writer.h"
#include "host/timing/profile/count.h"

namespace nearwarp {

struct ProgramProfile::Whole {
  report::Profile profile;
};

namespace {

AccessProfile accesses_of(const report::AccessCounts& a) {
  return {a.accesses, a.lanes, a.sectors, a.lines, a.bytes};
}
ProfileCounts counts_of(const report::ProfileCounts& c) {
  return {c.warp_instructions,   c.thread_instructions,  accesses_of(c.loads),
          accesses_of(c.stores), accesses_of(c.atomics), accesses_of(c.local),
          accesses_of(c.shared), accesses_of(c.constant)};
}
const report::Profile& profile_in(const ProgramProfile& profile) {
  if (profile.whole == nullptr)
    throw UsageError("a profile of nothing was used - take one of profile_program()");
  return profile.whole->profile;
}

}  // namespace

Expected<std::string> ProgramProfile::text(size_t most_lines) const {
  return guarded([&] { return report::format_profile(profile_in(*this), most_lines); });
}

Expected<ProgramProfile> profile_program(const Program& program, const Machine& machine,
                                         const ProfileOptions& options) {
  return guarded([&] {
    profile::Options own;
    own.line_bytes = Access::of(machine).config.l1.line_bytes;
    own.threads = options.threads;
    const std::string what = "profiling " + program.name();
    if (options.progress)
      own.progress = [&](uint64_t done, uint64_t total) {
        return by_caller([&] { return options.progress({what, done, total, "Mwi/s"}); });
      };
    report::Profile found = profile::count(Access::of(program).recording, own);
    found.workload = program.name();
    found.size = program.size();
    ProgramProfile all;
    all.line_bytes = found.line_bytes;
    all.launches = found.launches;
    all.all = counts_of(found.all);
    for (const report::ProfileKernel& k : found.kernels)
      all.kernels.push_back({k.name, k.launches, counts_of(k.counts)});
    for (const report::ProfileLine& l : found.lines)
      all.lines.push_back(
          {found.kernels[l.kernel].name, l.file, l.line, l.ptx_line, counts_of(l.counts)});
    all.whole =
        std::make_shared<const ProgramProfile::Whole>(ProgramProfile::Whole{std::move(found)});
    return all;
  });
}

Expected<std::string> profile_document(std::span<const ProgramProfile> profiles,
                                       const Machine& machine, Texts changes) {
  return guarded([&] {
    std::vector<report::Profile> all;
    for (const ProgramProfile& profile : profiles) all.push_back(profile_in(profile));
    return report::profile_json(all, {version(), machine.name(), {changes.begin(), changes.end()}});
  });
}

Expected<TraceSummary> summarize_traces(const std::string& path, const ProgramOptions& options) {
  return guarded([&] {
    Asked asked(options);
    const sass::TraceProgram program = programs::read_traces(path, asked);
    TraceSummary all;
    all.warnings = program.warnings;
    for (const sass::KernelSummary& k : program.kernels) {
      TracedKernel& kernel = all.kernels.emplace_back();
      kernel.name = k.name;
      kernel.binary_version = k.binary_version;
      kernel.registers = k.registers;
      kernel.launches = k.launches;
      kernel.thread_blocks = k.thread_blocks;
      kernel.static_instructions = k.static_instructions;
      for (const sass::OpcodeCount& c : k.opcodes)
        kernel.opcodes.push_back({c.name, std::string(sass::class_name(c.opcode_class)),
                                  c.warp_instructions, c.thread_instructions});
      for (uint32_t c = 0; c < sass::kNumOpcodeClasses; ++c)
        kernel.groups.emplace_back(sass::class_name(static_cast<sass::OpcodeClass>(c)));
    }
    return all;
  });
}

std::string why_traces_do_without_code() { return sass::kNoOffloading; }

Expected<std::string> write_traces(const Program& program, const std::string& folder,
                                   const std::function<void(const std::string&)>& tell) {
  return guarded([&] {
    std::function<void(const std::string&)> told;
    if (tell) told = [&](const std::string& message) { by_caller([&] { tell(message); }); };
    return sass::write_traces(Access::of(program).recording, folder, sass::TraceForm::kIndexed,
                              told);
  });
}

}  // namespace nearwarp
