// Runs the CUDA toolkit's assembler for the numbers of registers of a PTX module's kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace nearwarp::cudart {

struct Ptxas {
  std::string path;   ///< path of the program
  std::string cache;  ///< folder for its results; empty: they are not kept
};

/// The target in the PTX's .target directive, e.g. "sm_75"; empty if there is none.
std::string target_of(const std::string& ptx);

/// Numbers of registers per thread by mangled name, for an architecture such as "sm_75". Waits for
/// the program's end. Throws nearwarp::Error with its message if it cannot assemble the module.
std::map<std::string, uint32_t> ptxas_registers(const Ptxas& ptxas, const std::string& ptx,
                                                const std::string& architecture);

}  // namespace nearwarp::cudart
