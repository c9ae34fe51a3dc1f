// The CUDA toolkit's assembler, asked how many registers it gives to the kernels of a PTX module.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace nearwarp::cudart {

struct Ptxas {
  std::string path;   ///< of the program
  std::string cache;  ///< folder that keeps its answers; empty: none
};

/// The target that the PTX's .target names, e.g. "sm_75"; empty if it names none.
std::string target_of(const std::string& ptx);

/// Registers per thread by mangled name, for an architecture such as "sm_75". Waits for the
/// program. Throws nearwarp::Error with what it said if it cannot assemble the module.
std::map<std::string, uint32_t> ptxas_registers(const Ptxas& ptxas, const std::string& ptx,
                                                const std::string& architecture);

}  // namespace nearwarp::cudart
