// Shadow memory: the last accesses of each word or byte of device or shared memory.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

namespace nearwarp::racecheck {

/// An access by lanes of a warp; without lanes, no access.
struct Stamp {
  uint32_t block = 0;
  uint32_t time = 0;  ///< the warp's time (warp_order.h)
  uint32_t lanes = 0;
  uint32_t instruction : 24 = 0;  ///< index into the kernel's instructions
  uint32_t warp : 5 = 0;
  uint32_t strong : 1 = 0;   ///< volatile, ordered or atomic
  uint32_t pending : 1 = 0;  ///< a cp.async that has not been waited for
  uint32_t atomic : 1 = 0;
  bool same_warp(const Stamp& s) const { return block == s.block && warp == s.warp; }
};
static_assert(sizeof(Stamp) == 16);

/// The last write and the last read of a word or byte. Second ones are accesses of other warps that
/// are not ordered before the first.
struct Cell {
  Stamp write[2], read[2];
};

/// Cells of one address range. A page holds a cell per word until an access narrower than a word
/// makes it hold a cell per byte. Beyond `most_bytes` the oldest page is forgotten.
class Shadow {
 public:
  static constexpr uint64_t kPageBytes = 1024;  ///< bytes of shadowed memory per page
  explicit Shadow(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Forget all accesses.
  void clear() {
    ++generation_;
    last_ = nullptr;
  }
  /// Forget the accesses to [address, address + bytes).
  void forget(uint64_t address, uint64_t bytes);
  /// Call visit(cell, address) for each cell of an aligned access of 1, 2, 4, 8 or 16 bytes.
  template <class Visit>
  void each(uint64_t address, uint32_t bytes, Visit&& visit) {
    Page& page = page_of(address, bytes);
    const uint64_t offset = address % kPageBytes;
    const uint32_t step = page.bytewise ? 1 : 4;
    for (uint64_t o = offset; o < offset + bytes; o += step)
      visit(page.cells[o / step], address + (o - offset));
  }
  /// Number of pages that were forgotten while their launch was running.
  uint64_t forgotten_pages() const { return forgotten_; }

 private:
  struct Page {
    std::unique_ptr<Cell[]> cells;
    uint64_t generation = 0;
    bool bytewise = false;
    uint64_t size() const { return kPageBytes / (bytewise ? 1 : 4) * sizeof(Cell); }
  };
  Page& page_of(uint64_t address, uint32_t bytes) {
    const uint64_t number = address / kPageBytes;
    if (last_ == nullptr || number != last_number_) {
      last_ = &find(number);
      last_number_ = number;
    }
    if (bytes < 4 && !last_->bytewise) split(*last_);
    return *last_;
  }
  Page& find(uint64_t number);
  void split(Page& page);
  void make_room(uint64_t bytes);

  std::unordered_map<uint64_t, Page> pages_;
  std::deque<uint64_t> order_;  // numbers of the pages, the oldest first
  uint64_t most_bytes_, bytes_ = 0, generation_ = 1, forgotten_ = 0;
  Page* last_ = nullptr;
  uint64_t last_number_ = 0;
};

}  // namespace nearwarp::racecheck
