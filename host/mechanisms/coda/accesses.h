// A recording's accesses to device memory, and the objects that they belong to.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/trace/format.h"
#include "host/recording/recording.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::coda {

inline constexpr uint32_t kNoObject = ~0u;

/// Where an application's addresses belong. Of allocations that overlap in time's course the last
/// one counts.
class AllocationsByAddress {
 public:
  AllocationsByAddress(const std::vector<runtime::Allocation>& all, uint32_t application) {
    for (uint32_t i = 0; i < all.size(); ++i)
      if (all[i].bytes != 0 && all[i].application == application)
        by_begin_[all[i].address] = {all[i].address + all[i].bytes, i};
  }
  uint32_t of(uint64_t address) {
    if (address - begin_ < bytes_) return last_;
    auto next = by_begin_.upper_bound(address);
    if (next == by_begin_.begin()) return kNoObject;
    const auto& [begin, rest] = *std::prev(next);
    const auto& [end, index] = rest;
    if (address >= end) return kNoObject;
    begin_ = begin;
    bytes_ = end - begin;
    last_ = index;
    return index;
  }

 private:
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> by_begin_;  ///< end and index
  uint64_t begin_ = 0, bytes_ = 0;  ///< the one found last: most accesses go there again
  uint32_t last_ = kNoObject;
};

/// f(block, warp of the block, access) for each access of a warp in the traces that `walk(visitor)`
/// goes through, of launches of `kernel`, to device memory; lanes may still be of shared memory.
/// `pause`, unless it is empty, is called before each warp, here as below.
template <class Walk, class F>
void each_warp_access_in(const compiler::Kernel& kernel, const Walk& walk, F&& f,
                         const std::function<void()>& pause = {}) {
  uint64_t block = 0;
  uint32_t warp = 0;
  runtime::TraceVisitor visitor;
  visitor.warp = [&](uint64_t b, uint32_t w) {
    block = b;
    warp = w;
    if (pause) pause();
  };
  visitor.access = [&](const runtime::MemoryAccess& a) {
    const ptx::Space space = kernel.instructions[a.instruction].mod.space;
    if (space == ptx::Space::kShared || space == ptx::Space::kConst ||
        space == ptx::Space::kParam || space == ptx::Space::kLocal)
      return;
    f(block, warp, a);
  };
  walk(visitor);
}

/// Calls f for each warp's access in a launch. Throws nearwarp::Error if the traces are malformed.
template <class F>
void each_warp_access(const runtime::Recording& recording, uint32_t launch, F&& f,
                      const std::function<void()>& pause = {}) {
  each_warp_access_in(
      *recording.kernels[recording.launches[launch].kernel],
      [&](const runtime::TraceVisitor& visitor) { runtime::replay(recording, launch, visitor); }, f,
      pause);
}

/// f(address) for each lane's access to device memory.
template <class F>
void each_lane(const runtime::MemoryAccess& a, F&& f) {
  for (uint32_t lanes = a.mask; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = a.address[std::countr_zero(lanes)];
    if ((address & trace::kSharedWindow) == 0) f(address);
  }
}

/// f(block, address) for each lane's access to device memory in a launch. Throws as above.
template <class F>
void each_access_of_launch(const runtime::Recording& recording, uint32_t launch, F&& f,
                           const std::function<void()>& pause = {}) {
  each_warp_access(
      recording, launch,
      [&](uint64_t block, uint32_t, const runtime::MemoryAccess& a) {
        each_lane(a, [&](uint64_t address) { f(block, address); });
      },
      pause);
}

/// f(block, address, times) for those in all launches of the kernel of `launch`, by the same
/// application: once for traces that are there several times. Throws as above.
template <class F>
void each_access(const runtime::Recording& recording, uint32_t launch, F&& f,
                 const std::function<void()>& pause = {}) {
  const runtime::LaunchRecord& first = recording.launches[launch];
  std::vector<uint32_t> chunks;                  // that differ, in their order
  std::unordered_map<uint32_t, uint64_t> times;  // by identity
  for (const runtime::LaunchRecord& l : recording.launches) {
    if (l.kernel != first.kernel || l.application != first.application) continue;
    for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c)
      if (times[recording.traces.identity(c)]++ == 0) chunks.push_back(c);
  }
  const compiler::Kernel& kernel = *recording.kernels[first.kernel];
  for (const uint32_t c : chunks) {
    const uint64_t n = times[recording.traces.identity(c)];
    each_warp_access_in(
        kernel,
        [&](const runtime::TraceVisitor& visitor) {
          runtime::ChunkReplay(kernel, visitor).walk(*recording.traces.chunk(c));
        },
        [&](uint64_t block, uint32_t, const runtime::MemoryAccess& a) {
          each_lane(a, [&](uint64_t address) { f(block, address, n); });
        },
        pause);
  }
}

}  // namespace nearwarp::coda
