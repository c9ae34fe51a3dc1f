// Maps addresses of the traced GPU to the simulator's.
//
// Device memory of the traced GPU is mapped into the simulator's address range in pieces of a
// gibibyte, in the order in which the trace first uses them. A piece is mapped behind the one
// before it on the GPU, if that place is free. Offsets inside a piece stay the same.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/recording.h"

namespace nearwarp::sass {

class AddressSpace {
 public:
  explicit AddressSpace(const std::vector<CopyToDevice>& copies);

  /// The simulator's address of device memory. Throws nearwarp::Error if the trace uses too many
  /// pieces.
  uint64_t global(uint64_t address) {
    const uint64_t piece = address >> kPieceShift;
    if (piece != last_piece_) find(piece);
    return last_base_ + (address & (kPieceBytes - 1));
  }
  /// The simulator's address of byte `offset` of a thread's local memory. `warp` is a number of its
  /// warp. Words of the 32 lanes are neighbours, as a GPU lays them out.
  uint64_t local(uint64_t offset, uint32_t warp, uint32_t lane);
  /// Note that an access uses the simulator's addresses from `least` to `most`.
  void touch(uint64_t least, uint64_t most);
  /// Memory that copies to the device or accesses have used, in the simulator's addresses.
  std::vector<runtime::Allocation> allocations() const;

 private:
  static constexpr uint32_t kPieceShift = 30;
  static constexpr uint64_t kPieceBytes = uint64_t{1} << kPieceShift;
  /// The most pieces. Local memory lies behind them, and behind that the simulator's page tables
  /// (device/sm/tlb.h); with the shortest lines, of 32 bytes, there is no room for more pieces.
  static constexpr uint32_t kPieces = 112;
  static constexpr uint64_t kNone = ~uint64_t{0};

  void find(uint64_t piece);

  struct Used {
    uint64_t least = ~uint64_t{0}, most = 0;
  };
  std::map<uint64_t, uint32_t> place_of_;  ///< by piece of the traced GPU, its place here
  std::array<bool, kPieces> taken_ = {};
  std::array<Used, kPieces> used_ = {};
  std::unordered_map<uint64_t, uint32_t>
      local_page_;  ///< by page, its number in the order of first use
  std::vector<runtime::Allocation> copied_;
  uint64_t last_piece_ = kNone, last_base_ = 0;
};

}  // namespace nearwarp::sass
