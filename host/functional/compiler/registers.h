// Who counted a kernel's registers per thread, and how many: what occupancy goes by.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::compiler {

enum class RegisterSource : uint8_t {
  kOwn,    ///< the allocation of this compiler (Kernel::num_physical)
  kCubin,  ///< machine code that the application carries
  kPtxas,  ///< ptxas, run on the kernel's PTX
  kTrace,  ///< the trace of a real GPU
};

/// A kernel's number of registers by machine code; no number, if its source is kOwn.
struct RegisterCount {
  RegisterSource source = RegisterSource::kOwn;
  uint32_t architecture = 0;  ///< SM number of the machine code, e.g. 75; 0: not known
  uint32_t per_thread = 0;    ///< 32-bit registers
};

/// "cubin sm_75", "ptxas sm_75", "trace", "own allocation".
std::string source_text(const RegisterCount& count);

}  // namespace nearwarp::compiler
