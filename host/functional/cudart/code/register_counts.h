// Numbers of registers per thread of a module's kernels, from machine code.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "host/functional/compiler/kernel.h"
#include "host/functional/cudart/code/fat_binary.h"
#include "host/functional/cudart/code/register_choice.h"

namespace nearwarp::cudart {

/// The counts of a module's kernels; `source` is kOwn if machine code tells none.
struct RegisterCounts {
  compiler::RegisterSource source = compiler::RegisterSource::kOwn;
  uint32_t architecture = 0;
  std::map<std::string, uint32_t> per_thread;  ///< by kernel
  std::string problem;  ///< why nearwarp's own allocation is used against the user's choice
};

/// Reads the counts from the chosen source. `cache` is a folder for results of ptxas; it may be
/// empty.
RegisterCounts count_registers(const RegisterChoice& choice, const FatBinary& fat,
                               const std::string& cache);

/// Stores the counts in the program's kernels.
void set_registers(const RegisterCounts& counts, compiler::Program& program);

}  // namespace nearwarp::cudart
