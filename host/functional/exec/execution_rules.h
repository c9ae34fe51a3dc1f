// Rules of execution that CUDA leaves open, and limits at which a kernel is ended.
#pragma once

#include <cstdint>

namespace nearwarp::runtime {

struct ExecutionRules {
  /// With 0, each warp runs until it waits or ends, before the next one does. Otherwise the warps
  /// of a block take turns of so many warp-instructions, up to the end of a basic block.
  uint32_t interleave_instructions = 0;
  /// A kernel is considered endless when it has executed so many warp-instructions per resident
  /// block (of at most sixteen) without a store and without the end of a thread.
  uint64_t endless_instructions = uint64_t{1} << 32;  // a minute or two on one core
  /// Execution is interrupted after so many thread-instructions; 0: never.
  uint64_t max_thread_instructions = 0;
};

}  // namespace nearwarp::runtime
