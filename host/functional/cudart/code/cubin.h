// Machine code as fat binaries carry it: an ELF file (a "cubin") that says how many registers each
// kernel takes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace nearwarp::cudart {

struct Cubin {
  /// False for one of several translation units before they are linked: a kernel there counts
  /// nothing of what it calls in the others.
  bool linked = false;
  std::map<std::string, uint32_t> registers;  ///< per thread, by the function's mangled name
};

/// Read it. Throws nearwarp::Error for what is damaged, or no machine code of a GPU.
Cubin read_cubin(std::string_view elf);

}  // namespace nearwarp::cudart
