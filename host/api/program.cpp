// Programs of the public interface: workloads and recordings.
#include "bench/workloads/execution.h"
#include "bench/workloads/workload.h"
#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/config/nearest.h"
#include "host/recording/recording_file.h"
#include "host/recording/repeats.h"

namespace nearwarp {
namespace {

Program program_of(runtime::Recording recording, const ProgramOptions& options) {
  if (options.max_repeats != 0) runtime::limit_repeats(recording, options.max_repeats);
  auto state = std::make_shared<Program::State>();
  state->recording = std::move(recording);
  return Access::make<Program>(std::move(state));
}

const workloads::Workload& workload_named(const std::string& name) {
  if (const workloads::Workload* found = workloads::find(name)) return *found;
  std::vector<std::string> names;
  for (const auto& w : workloads::all()) names.push_back(w->name());
  throw UsageError("unknown workload '" + name + "'" +
                   config::suggestion(name.substr(0, name.find(':')), names));
}

bool ask(uint64_t warp_instructions, void* context) {
  return static_cast<const ProgramOptions*>(context)->progress(warp_instructions);
}

}  // namespace

std::vector<WorkloadName> workload_names() {
  std::vector<WorkloadName> names;
  for (const auto& w : workloads::all()) names.push_back({w->name(), w->description()});
  return names;
}

Expected<Program> Program::workload(const std::string& name, const std::string& size,
                                    const ProgramOptions& options) {
  return guarded([&] {
    const workloads::Workload& workload = workload_named(name);
    const workloads::Size parsed = workloads::parse_size(size);
    runtime::VirtualDevice::Options device;
    ProgramOptions asked = options;
    if (options.progress) {
      device.progress = ask;
      device.progress_context = &asked;
    }
    runtime::Recording recording = workloads::execute(workload, parsed, std::move(device));
    workloads::limit_runs(parsed, recording);
    return program_of(std::move(recording), options);
  });
}

Expected<Program> Program::recording(const std::string& path, const ProgramOptions& options) {
  return guarded([&] { return program_of(runtime::load_recording(path), options); });
}

Expected<Done> Program::save(const std::string& path) const {
  return guarded([&] {
    runtime::save_recording(Access::of(*this).recording, path);
    return Done{};
  });
}

const std::string& Program::name() const { return Access::of(*this).recording.name; }
uint64_t Program::warp_instructions() const {
  return Access::of(*this).recording.warp_instructions;
}
uint64_t Program::thread_instructions() const {
  return Access::of(*this).recording.thread_instructions;
}

std::vector<Launch> Program::launches() const {
  const runtime::Recording& recording = Access::of(*this).recording;
  std::vector<Launch> launches;
  launches.reserve(recording.launches.size());
  for (const runtime::LaunchRecord& l : recording.launches)
    launches.push_back(
        {recording.kernels[l.kernel]->name, l.warp_instructions, l.thread_instructions});
  return launches;
}

}  // namespace nearwarp
