// Uses of memory by launches before a moment of a program: lines of L2 slices, pages, and
// kernels' code, each with the order of its last use.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <set>
#include <unordered_map>
#include <vector>

#include "host/recording/chunk_touches.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

/// When something was used last: a walk of some thread blocks, later ones of which were before
/// and have lower numbers, and a count within it.
using Order = uint64_t;

/// A line in an L2 slice.
struct Use {
  Order order = 0;
  Order loaded_first = ~Order{0};  ///< its first load that is known: memory was asked for it then
  Order stored_last = 0;           ///< its last store past the slice, to memory
  uint32_t sectors = 0;
  uint32_t set = 0;     ///< of the slice, if it is there
  bool loaded = false;  ///< so that it is there; else it has only been written past the slice
};

inline uint64_t key_of(uint16_t slice, LineAddr line) { return uint64_t{slice} << 32 | line; }
inline uint16_t slice_of_key(uint64_t key) { return static_cast<uint16_t>(key >> 32); }
inline LineAddr line_of_key(uint64_t key) { return static_cast<LineAddr>(key); }

/// Lines, pages and code that launches used, from the last one on.
class Uses {
 public:
  Uses(const runtime::Recording& recording, const ImageTables& image, System& system);

  /// The slice that answers an SM for a physical line.
  uint16_t slice_of(uint32_t asker, LineAddr line) const {
    const auto& p = system_.params<sm::SmParams>(system_.sms[asker]);
    return node_of(p.homes.of(system_.map.of(line, base_), line, base_));
  }

  /// Thread blocks [begin, end) of a launch, before all that is known so far; it gets its first
  /// thread block at SM `at`.
  void add_blocks(uint32_t launch, uint32_t begin, uint32_t end, uint32_t at);
  /// Adds the code of launches before those known so far, [0, end): all of each kernel's, for
  /// without traces it is not known which of it was run.
  void add_code(uint32_t end);
  /// Have all sets as many lines as ways?
  bool is_full() const { return filled_ >= room_; }

  const std::pmr::unordered_map<uint64_t, Use>& lines() const { return lines_; }
  /// The pages that any SM used.
  std::unordered_map<uint32_t, Order> pages() const;
  /// The pages that an SM used, or the SMs of its group.
  std::unordered_map<uint32_t, Order> pages_of(uint32_t sm) const;
  /// Lines and pages that have been found so far.
  uint64_t found() const { return lines_.size() + pages_.size(); }
  const std::unordered_map<LineAddr, Order>& code() const { return code_; }
  /// The kernel whose code a line of code() is.
  uint32_t kernel_of(LineAddr line) const { return kernel_of_.at(line); }

 private:
  /// Orders of one walk have the same bits from this one on.
  static constexpr uint32_t kWalkShift = 40;

  void touch(Order order, LineAddr virtual_line, uint32_t sectors, uint32_t asker, bool store);
  struct ChunkKey {
    uint32_t identity = 0, kernel = 0, num_blocks = 0, row = 0;
    auto operator<=>(const ChunkKey&) const = default;
  };
  template <class AskerOf>
  void use_pages(const runtime::ChunkTouches& chunk, Order order, const AskerOf& asker_of);
  bool same_slices() const;
  void used_code(uint32_t kernel, uint32_t block, Order order);

  /// An access, and what it changes: most are to lines that were used shortly before.
  struct Recent {
    uint64_t key = ~uint64_t{0};
    Use* use = nullptr;
    Order* page = nullptr;
    bool is_kept = false;  ///< the line stays in the slice
  };
  static constexpr uint32_t kRecent = 1024;
  static constexpr Order kFirstWalk = (Order{1} << (64 - kWalkShift)) - 1;
  Recent looked_up(uint64_t key, LineAddr virtual_line, uint32_t asker, bool store);

  const runtime::Recording& recording_;
  const ImageTables& image_;
  System& system_;
  std::byte* base_;
  uint32_t line_shift_ = 0, page_shift_ = 0, code_shift_ = 0, groups_ = 1;
  std::vector<uint32_t> first_of_group_;
  bool knows_chunks_ = false;  ///< lines of a chunk lie in the same slices for all SMs
  std::pmr::monotonic_buffer_resource memory_;  // of maps with many entries
  std::pmr::unordered_map<uint64_t, Use> lines_{&memory_};
  std::pmr::unordered_map<uint64_t, Order> pages_{&memory_};  // by asker and page
  std::vector<Recent> recent_{kRecent};
  std::unordered_map<LineAddr, Order> code_;
  std::unordered_map<LineAddr, uint32_t> kernel_of_;
  std::shared_ptr<runtime::TouchesOfChunks> touches_;
  std::set<ChunkKey> seen_;  // whole chunks of launches that have been walked
  Order next_walk_ = kFirstWalk;
  std::vector<std::vector<uint32_t>> in_set_;  // lines, by slice (as a component) and set
  uint64_t filled_ = 0, room_ = 0;             // ways
};

}  // namespace nearwarp::sim
