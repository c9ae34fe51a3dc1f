// Programs by their names, for the sources of the public interface.
#pragma once

#include <string>
#include <vector>

#include "bench/workloads/workload.h"
#include "host/api/state.h"

namespace nearwarp {

/// The workload of this name. Throws UsageError, with the nearest names, if there is none.
const workloads::Workload& workload_named(const std::string& name);

/// As program_names(), but throws UsageError.
std::vector<ProgramName> names_in(const std::string& joined);

/// As Program::load(), but does not tell of truncated recordings. Throws nearwarp::Error.
Program::State loaded_program(const std::string& names, const std::string& size,
                              const ProgramOptions& options);

/// Throws UsageError if the machine lacks stacks that a program is bound to (as bits).
void check_stacks(const std::string& program, uint32_t stacks,
                  const config::MachineConfig& machine);

/// The program's recording. Throws UsageError for one made of traces, which has no code.
const runtime::Recording& recording_with_code(const Program& program);

/// As Program::check(), but throws UsageError.
void check_program(const std::string& names, const config::MachineConfig& machine,
                   const config::PolicyConfig& policy);

/// A text that two programs share only if their recordings are equal. Throws UsageError for
/// programs that do not exist, and for more than can run at the same time.
std::string program_key(const std::string& names, const std::string& size);

}  // namespace nearwarp
