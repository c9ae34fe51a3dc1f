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
  std::vector<CodeTarget> offered = {};  ///< targets of all PTX in its container, with this one
};

/// Machine code. It is not executed, only read for the number of registers that its kernels need.
struct MachineCode {
  std::string elf;            ///< see cubin.h
  uint32_t architecture = 0;  ///< SM number
  std::string problem;        ///< why it cannot be read; `elf` is empty then
};

/// The parts of a fat binary that can be used.
struct FatBinary {
  /// One image per container (several with -rdc=true): of those that the driver would compile for
  /// the device, the nearest, as the driver chooses.
  std::vector<PtxImage> images;
  /// PTX for the lowest architecture of each container whose PTX does not run on the device.
  std::vector<PtxImage> unsuitable;
  /// The target of machine code that a GPU of this capability would execute instead of PTX.
  std::optional<CodeTarget> native;
  /// Machine code, linked if there are several images: that for the architecture of `images`, else
  /// the nearest.
  std::optional<MachineCode> machine_code;
};

/// Read the fat binary of a wrapper that nvcc's host code registers (version 1 or 2). `capability`
/// is the device's compute capability times ten. Throws nearwarp::Error if the binary is damaged.
FatBinary read_fat_wrapper(const void* wrapper, uint32_t capability);

/// Reads one container of at most `limit` bytes.
FatBinary read_fat_container(const void* container, size_t limit, uint32_t capability);

}  // namespace nearwarp::cudart
