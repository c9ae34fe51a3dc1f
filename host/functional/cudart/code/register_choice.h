// Option --registers: the source of the number of registers per thread of a kernel.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::cudart {

struct RegisterChoice {
  enum class From : uint8_t {
    kAuto,   ///< the application's machine code, where it has some, else nearwarp's allocation
    kOwn,    ///< nearwarp's allocation
    kPtxas,  ///< machine code, where there is some, else the result of ptxas for the PTX
  };
  From from = From::kAuto;
  /// For kPtxas: the architecture, e.g. "sm_90", for which ptxas compiles in any case; empty: that
  /// of the PTX.
  std::string architecture;
};

/// Parses "auto" (or nothing), "own", "ptxas" or "ptxas:sm_90". Throws nearwarp::Error for other
/// texts.
RegisterChoice parse_registers(const std::string& text);

/// Path of the CUDA toolkit's assembler: on $PATH, else where the toolkit is installed by default;
/// empty if there is none.
std::string find_ptxas();

}  // namespace nearwarp::cudart
