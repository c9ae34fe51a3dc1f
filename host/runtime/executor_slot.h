// A resident thread block of the executor.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "host/core/error.h"
#include "host/runtime/executor.h"

namespace nearwarp::runtime {

struct AlignedFree {
  void operator()(void* p) const { std::free(p); }
};
using AlignedBytes = std::unique_ptr<uint8_t[], AlignedFree>;

inline AlignedBytes aligned_zeroed(uint64_t bytes) {
  const uint64_t size = (std::max<uint64_t>(bytes, 1) + 127) / 128 * 128;
  void* p = std::aligned_alloc(128, size);
  if (p == nullptr) throw Error(fmt::format("out of memory: {} bytes for a thread block", size));
  std::memset(p, 0, size);
  return AlignedBytes(static_cast<uint8_t*>(p));
}

/// A resident thread block and the storage it uses; reused by later blocks.
struct Executor::Slot {
  enum class State : uint8_t { kRunnable, kWaiting, kExited };
  uint64_t index = 0;
  uint32_t ctaid[3] = {};
  AlignedBytes rows, shared, local;
  std::vector<uint32_t> predicates;
  std::vector<exec::StackEntry> stacks;
  std::vector<exec::Warp> warps;
  std::vector<State> states;
  std::vector<char> split;       // lanes that should be together are not
  std::vector<uint32_t> parked;  // such lanes that have reached a barrier of the block,
  std::vector<uint32_t> held;    // or an instruction for which all lanes of the warp must be there
  std::vector<char> polling;     // the warp only polled in its last turn
  std::vector<std::vector<uint64_t>> traces;
  Barrier barriers[16];
  uint32_t live = 0;
  std::string printed;  // by its threads, until the earlier blocks have ended
  uint64_t warp_instructions = 0, thread_instructions = 0;
  bool filled = false;
};

}  // namespace nearwarp::runtime
