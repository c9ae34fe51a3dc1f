// Fat binaries: the containers in which nvcc embeds PTX and machine code into executables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nearwarp::cudart {

/// The PTX text of one translation unit.
struct PtxImage {
  std::string text;
  uint32_t architecture = 0;  ///< SM number, e.g. 75
};

/// What a fat binary has to offer.
struct FatBinary {
  /// One image per container (several with -rdc=true), each for the highest architecture up to the
  /// one asked for, else the lowest above.
  std::vector<PtxImage> images;
  uint32_t other_entries = 0;  ///< machine code and the like, which cannot be used
};

/// Read the fat binary behind a wrapper as nvcc's host code registers it (version 1 or 2). Throws
/// nearwarp::Error if it is damaged. `architecture`: SM number that the device claims.
FatBinary read_fat_wrapper(const void* wrapper, uint32_t architecture);

/// The same for one container of at most `limit` bytes.
FatBinary read_fat_container(const void* container, size_t limit, uint32_t architecture);

}  // namespace nearwarp::cudart
