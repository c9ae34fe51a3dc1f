// Programs by their names, for what the public interface makes of them.
#pragma once

#include <string>
#include <vector>

#include "bench/workloads/workload.h"
#include "host/api/state.h"

namespace nearwarp {

/// Throws UsageError, which names the nearest, if there is none.
const workloads::Workload& workload_named(const std::string& name);

/// As program_names(); throws UsageError.
std::vector<ProgramName> names_in(const std::string& joined);

/// As Program::load(), without saying that of a program only a part was recorded. Throws
/// nearwarp::Error.
Program::State loaded_program(const std::string& names, const std::string& size,
                              const ProgramOptions& options);

/// Throws UsageError if the machine has not the stacks that a program is bound to.
void check_stacks(const std::string& program, uint32_t stacks,
                  const config::MachineConfig& machine);

/// Throws UsageError for traces, which have no code.
const runtime::Recording& recording_with_code(const Program& program);

/// As Program::check(); throws UsageError.
void check_program(const std::string& names, const config::MachineConfig& machine,
                   const config::PolicyConfig& policy);

/// All that determines such programs' recording. Throws UsageError for programs that there are not,
/// and for more than can run at the same time.
std::string program_key(const std::string& names, const std::string& size);

}  // namespace nearwarp
