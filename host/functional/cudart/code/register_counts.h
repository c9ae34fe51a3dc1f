// How many registers per thread the kernels of a module take, by machine code.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "host/functional/compiler/kernel.h"
#include "host/functional/cudart/code/fat_binary.h"
#include "host/functional/cudart/code/register_choice.h"

namespace nearwarp::cudart {

/// The counts of a module's kernels; `source` is kOwn if none are known.
struct RegisterCounts {
  compiler::RegisterSource source = compiler::RegisterSource::kOwn;
  uint32_t architecture = 0;
  std::map<std::string, uint32_t> per_thread;  ///< by kernel
  std::string problem;  ///< why nearwarp's own allocation is taken, where the choice is another
};

/// As the choice says. `cache`: folder for ptxas' answers; may be empty.
RegisterCounts count_registers(const RegisterChoice& choice, const FatBinary& fat,
                               const std::string& cache);

/// Tell it to the kernels.
void set_registers(const RegisterCounts& counts, compiler::Program& program);

}  // namespace nearwarp::cudart
