// Fat binaries: the containers in which nvcc embeds PTX and machine code into executables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/functional/cudart/code/code_target.h"

namespace nearwarp::cudart {

/// The PTX text of one translation unit.
struct PtxImage {
  std::string text;
  CodeTarget target = {};
  std::vector<CodeTarget> offered = {};  ///< all that its container has PTX for, this one included
};

/// Machine code, which is not executed, but says how many registers its kernels take.
struct MachineCode {
  std::string elf;            ///< see cubin.h
  uint32_t architecture = 0;  ///< SM number
  std::string problem;        ///< why it cannot be read; then there is no ELF
};

/// The parts of a fat binary that can be used.
struct FatBinary {
  /// One image per container (several with -rdc=true): as the driver chooses for the device, the
  /// nearest of those that it would compile.
  std::vector<PtxImage> images;
  /// PTX for the lowest architecture of each container whose PTX does not run on the device.
  std::vector<PtxImage> unsuitable;
  /// The target of the machine code that a GPU would execute, which needs no PTX then.
  std::optional<CodeTarget> native;
  /// Linked, if there are several images: for the architecture of the PTX above, else as that is
  /// chosen.
  std::optional<MachineCode> machine_code;
};

/// Read the fat binary behind a wrapper as nvcc's host code registers it (version 1 or 2). Throws
/// nearwarp::Error if it is damaged. `capability` of the device, times ten.
FatBinary read_fat_wrapper(const void* wrapper, uint32_t capability);

/// Reads one container of at most `limit` bytes.
FatBinary read_fat_container(const void* container, size_t limit, uint32_t capability);

}  // namespace nearwarp::cudart
