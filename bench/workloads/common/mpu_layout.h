// Launches and layouts of the variants for cores below banks of their own ("-mpu").
//
// All of them have a launch of as many blocks as four of each core's, which go on through
// all data in strides of the grid. So block b finds its data in steps of 128 words that are as many
// apart as all blocks have: where each core has 512 bytes after the other (128 words), and block b
// runs on core b modulo 128, that is its own core. Warp w of a block has the words of unit w.
// Source: the style of listing 1 of X. Xie et al., "MPU: Towards Bandwidth-abundant SIMT Processor
// via Near-bank Computing"; the layouts are ours.
#pragma once

#include <cstdint>

#include "bench/workloads/workload.h"

namespace nearwarp::workloads {

inline constexpr uint32_t kMpuBlocks = 512, kMpuThreads = 128;
inline constexpr const char* kMpuSource = "the shape of MPU's listing 1 (Xie et al.)";

/// Values that a program reads: a multiple of 512 tiles.
inline int mpu_values(Size size) {
  switch (size) {
    case Size::kSmall:
      return 1 << 19;
    case Size::kMedium:
      return 1 << 20;
    case Size::kLarge:
      return 1 << 22;
    case Size::kPaper:
      return 1 << 24;  // 4096 x 4096
  }
  return 0;
}

/// Tiles of 32 x 32 values lie in slices of four rows: the first slice of each tile, then the
/// second of each, so that all slices of a tile lie behind one core.
inline constexpr int kMpuTile = 32, kMpuSliceRows = 4;
inline int mpu_tiles(Size size) { return mpu_values(size) / (kMpuTile * kMpuTile); }
inline size_t mpu_tile_index(int tiles, int tile, int row, int column) {
  return (size_t(row / kMpuSliceRows) * tiles + tile) * kMpuThreads +
         row % kMpuSliceRows * kMpuTile + column;
}

}  // namespace nearwarp::workloads
