// Maps addresses of the traced GPU to the simulator's.
#include "host/recording/accel_sim/address_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/error.h"
#include "host/functional/instructions/decoded.h"

namespace nearwarp::sass {
namespace {

constexpr uint64_t kLocalPageBytes = 1024;  // page of a thread's local memory
constexpr uint32_t kLocalPages = 64;        // pages of a thread with addresses of their own: 64 KiB
constexpr uint32_t kMostPages = 1u << 16;   // pages that are numbered; a real stack has fewer
constexpr uint32_t kLocalWarps = 4096;      // warps with addresses of their own

}  // namespace

AddressSpace::AddressSpace(const std::vector<CopyToDevice>& copies) {
  std::vector<CopyToDevice> sorted = copies;
  std::stable_sort(sorted.begin(), sorted.end(), [](const CopyToDevice& a, const CopyToDevice& b) {
    return a.address < b.address;
  });
  for (const CopyToDevice& copy : sorted) {
    uint64_t address = copy.address, left = copy.bytes;
    while (left != 0) {  // pieces may be mapped apart from each other
      const uint64_t bytes = std::min(left, kPieceBytes - (address & (kPieceBytes - 1)));
      copied_.push_back({global(address), bytes, fmt::format("copied to {:#x}", copy.address)});
      address += bytes;
      left -= bytes;
    }
  }
}

void AddressSpace::find(uint64_t piece) {
  auto it = place_of_.find(piece);
  if (it == place_of_.end()) {
    const auto before = place_of_.find(piece - 1);
    uint32_t place = before == place_of_.end() ? kPieces : before->second + 1;
    if (place >= kPieces || taken_[place])
      place =
          static_cast<uint32_t>(std::find(taken_.begin(), taken_.end(), false) - taken_.begin());
    if (place == kPieces)
      throw Error(
          fmt::format("the trace's addresses lie in more than {} different gibibytes - its "
                      "addresses seem damaged; a GPU has less memory",
                      kPieces));
    taken_[place] = true;
    it = place_of_.emplace(piece, place).first;
  }
  last_piece_ = piece;
  last_base_ = exec::kDeviceBase + it->second * kPieceBytes;
}

uint64_t AddressSpace::local(uint64_t offset, uint32_t warp, uint32_t lane) {
  const auto next = static_cast<uint32_t>(local_page_.size());
  // A trace with more pages than a stack can have is damaged; its pages are no longer numbered.
  const uint32_t page = next < kMostPages
                            ? local_page_.emplace(offset / kLocalPageBytes, next).first->second
                            : static_cast<uint32_t>(offset / kLocalPageBytes);
  const uint64_t in_page = offset % kLocalPageBytes;
  const uint64_t frame = uint64_t{page % kLocalPages} * kLocalWarps + warp % kLocalWarps;
  return exec::kDeviceBase + kPieces * kPieceBytes + frame * kLocalPageBytes * 32 +
         in_page / 4 * 128 + lane * 4 + in_page % 4;
}

void AddressSpace::touch(uint64_t least, uint64_t most) {
  for (const uint64_t address : {least, most}) {
    const uint64_t place = (address - exec::kDeviceBase) >> kPieceShift;
    if (place >= kPieces) return;  // local memory
    used_[place].least = std::min(used_[place].least, address);
    used_[place].most = std::max(used_[place].most, address);
  }
}

std::vector<runtime::Allocation> AddressSpace::allocations() const {
  std::vector<runtime::Allocation> all = copied_;
  for (const Used& u : used_)
    if (u.least <= u.most) all.push_back({u.least, u.most - u.least + 1, "used"});
  return all;
}

}  // namespace nearwarp::sass
