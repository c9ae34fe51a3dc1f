// Fat binaries: the containers in which nvcc embeds PTX and machine code into executables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nearwarp::cudart {

/// The PTX text of one translation unit.
struct PtxImage {
  std::string text;
  uint32_t architecture = 0;  ///< SM number, e.g. 75
};

/// Machine code, which is not executed, but says how many registers its kernels take.
struct MachineCode {
  std::string elf;            ///< see cubin.h
  uint32_t architecture = 0;  ///< SM number
  std::string problem;        ///< why it cannot be read; then there is no ELF
};

/// What a fat binary has to offer.
struct FatBinary {
  /// One image per container (several with -rdc=true), each for the highest architecture up to the
  /// one asked for, else the lowest above.
  std::vector<PtxImage> images;
  /// Linked, if there are several images: for the architecture of the PTX above, else as that is
  /// chosen.
  std::optional<MachineCode> machine_code;
};

/// Read the fat binary behind a wrapper as nvcc's host code registers it (version 1 or 2). Throws
/// nearwarp::Error if it is damaged. `architecture`: SM number that the device claims.
FatBinary read_fat_wrapper(const void* wrapper, uint32_t architecture);

/// The same for one container of at most `limit` bytes.
FatBinary read_fat_container(const void* container, size_t limit, uint32_t architecture);

}  // namespace nearwarp::cudart
