// Whose count of a kernel's registers per thread is taken: option --registers.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::cudart {

struct RegisterChoice {
  enum class From : uint8_t {
    kAuto,   ///< the application's machine code, where it has some, else nearwarp's allocation
    kOwn,    ///< nearwarp's allocation
    kPtxas,  ///< machine code, where there is some, else what ptxas makes of the PTX
  };
  From from = From::kAuto;
  /// For kPtxas: makes machine code for this one in any case, e.g. "sm_90"; empty: the PTX's own.
  std::string architecture;
};

/// "auto" (or nothing), "own", "ptxas", "ptxas:sm_90". Throws nearwarp::Error for other texts.
RegisterChoice parse_registers(const std::string& text);

/// Path of the CUDA toolkit's assembler: on $PATH, else where the toolkit is installed by default;
/// empty if there is none.
std::string find_ptxas();

}  // namespace nearwarp::cudart
