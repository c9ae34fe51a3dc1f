// Launches and memory for CUDA's libraries here: all of them share this.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/functional/cudalibs/runtime_calls.h"

namespace nearwarp::cudalibs {

/// A failure below the library: of a launch, or of memory.
enum class Problem { kLaunch, kMemory };

/// Launch the kernel of that name, of the library's PTX, whose one parameter is `args`; `n` threads
/// have something to do. Throws Problem.
void launch(const char* name, int64_t n, const void* args, Stream stream);
/// Launches these thread blocks, of `threads` threads.
void launch_blocks(const char* name, Dim blocks, uint32_t threads, const void* args, Stream stream);

/// Device memory, as long as it lives. Throws Problem.
class Memory {
 public:
  Memory() = default;
  explicit Memory(size_t bytes);
  Memory(Memory&& other) noexcept : at_(other.at_) { other.at_ = nullptr; }
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();
  void* get() const { return at_; }

 private:
  void* at_ = nullptr;
};

}  // namespace nearwarp::cudalibs
