// Machine code in fat binaries: an ELF file (a "cubin") with the number of registers of each
// kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace nearwarp::cudart {

struct Cubin {
  /// False for one of several translation units before they are linked: the counts of its kernels
  /// leave out functions of other units that they call.
  bool linked = false;
  std::map<std::string, uint32_t> registers;  ///< per thread, by the function's mangled name
};

/// Read a cubin. Throws nearwarp::Error if it is damaged, or not machine code of a GPU.
Cubin read_cubin(std::string_view elf);

}  // namespace nearwarp::cudart
