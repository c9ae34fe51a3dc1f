// A table of the places of all thread blocks' traces.
#include "host/timing/run/trace_table.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "host/core/error.h"

namespace nearwarp::sim {

TraceTable::TraceTable(size_t blocks)
    : bytes_(std::max<size_t>(blocks, 1) * sizeof(sm::TraceBlock)) {
  // The operating system allocates (zeroed) pages only where something is written.
  void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw Error(
        fmt::format("no address space for a table of {} thread blocks ({} bytes)", blocks, bytes_));
  blocks_ = static_cast<sm::TraceBlock*>(at);
}

TraceTable::~TraceTable() { munmap(blocks_, bytes_); }

void TraceTable::release(size_t first, size_t count) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t begin = (first * sizeof(sm::TraceBlock) + page - 1) / page * page;
  const size_t end = (first + count) * sizeof(sm::TraceBlock) / page * page;
  if (begin < end)
    madvise(reinterpret_cast<std::byte*>(blocks_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace nearwarp::sim
