// Where the traces of each thread block are: a table over all launches of a program, of which only
// the parts in use take memory.
#pragma once

#include <cstddef>

#include "device/sm/kernel_image.h"

namespace nearwarp::sim {

class TraceTable {
 public:
  /// A table of so many thread blocks, all without traces. Throws nearwarp::Error if the system has
  /// no address space for it.
  explicit TraceTable(size_t blocks);
  ~TraceTable();
  TraceTable(const TraceTable&) = delete;
  TraceTable& operator=(const TraceTable&) = delete;

  sm::TraceBlock* data() { return blocks_; }
  /// The entries [first, first + count) are not wanted any more.
  void release(size_t first, size_t count);

 private:
  sm::TraceBlock* blocks_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace nearwarp::sim
