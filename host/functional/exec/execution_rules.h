// How kernels are executed, where CUDA leaves it open, and when they are given up.
#pragma once

#include <cstdint>

namespace nearwarp::runtime {

struct ExecutionRules {
  /// 0: each warp runs until it waits or ends, before the next one does. Else the warps of a block
  /// take turns, every so many warp-instructions (to the end of a basic block).
  uint32_t interleave_instructions = 0;
  /// A kernel that executes so many warp-instructions for each of its resident blocks (of sixteen
  /// at most) without a store, and without a thread's end, is taken for one that never ends.
  uint64_t endless_instructions = uint64_t{1} << 32;  // a minute or two on one core
  /// Execution is interrupted once so many thread-instructions have been executed; 0: never.
  uint64_t max_thread_instructions = 0;
};

}  // namespace nearwarp::runtime
