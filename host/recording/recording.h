// Recordings, which functional execution leaves of a program: its kernels, launches and traces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/recording/studies.h"
#include "host/recording/trace_store.h"

namespace nearwarp::runtime {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

/// A range of device memory, as TOM's driver records it in the memory allocation table.
struct Allocation {
  uint64_t address = 0;  ///< device address
  uint64_t bytes = 0;
  std::string label;         ///< the program's name for it, for reports; may be empty
  uint32_t application = 0;  ///< whose it is, in a recording of several (combine.h)
};

/// One kernel launch and where its traces are.
struct LaunchRecord {
  uint32_t kernel = 0;  ///< index into Recording::kernels
  Dim3 grid, block;
  /// Thread blocks of a cluster, which divide the grid. Blocks are numbered cluster by cluster.
  Dim3 cluster;
  uint32_t shared_bytes = 0;        ///< static plus dynamic
  std::vector<uint8_t> parameters;  ///< the kernel's, as Kernel::params lays them out; may be empty
  uint32_t first_chunk = 0;         ///< index into the trace store
  uint32_t num_chunks = 0;       ///< chunks are consecutive and cover blocks [0, blocks_recorded)
  uint64_t blocks_recorded = 0;  ///< fewer than grid.count() only if an instruction limit was hit
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  /// Local memory in the traces: its device address, and bytes of a thread, rounded up to words. A
  /// warp's words follow each other, those of its lanes side by side. 0: not known.
  uint64_t local_base = 0;
  uint32_t local_bytes = 0;
  /// It begins when all launches of its program before it have ended; if not, when those of `after`
  /// have (indices into Recording::launches, each below its own, in ascending order).
  bool after_all = true;
  std::vector<uint32_t> after;
  uint32_t stream = 0;       ///< for reports: 0 is the default stream
  uint32_t application = 0;  ///< in a recording of several (combine.h); its address space
  // Members for a recording that repetitions were left out of (repeats.h):
  uint32_t stands_for = 1;   ///< launches: itself and repetitions
  uint32_t left_before = 0;  ///< launches before it that are left out
};

/// Can what a file says of the launch at `index` be waited for?
bool possible_order(const LaunchRecord& launch, size_t index);
/// Has it clusters of at most kMaxClusterBlocks thread blocks, that divide the grid?
bool possible_clusters(const LaunchRecord& launch);

/// A program, executed once; every timing run of it reads this.
struct Recording {
  std::string name;
  /// Kernels that were launched (pointers into programs that the recording keeps alive).
  std::vector<std::shared_ptr<const compiler::Kernel>> kernels;
  std::vector<LaunchRecord> launches;
  std::vector<Allocation> allocations;  ///< every range ever allocated, in order
  TraceStore traces;
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  double execution_seconds = 0;
  bool truncated = false;  ///< an instruction limit ended detailed recording
  /// Runs end when they have committed so many warp-instructions, with the machine as full as it
  /// was; 0: when all is done. Nothing of it is kept in files.
  uint64_t measured_warp_instructions = 0;
  /// Names of the programs of a recording of several that run together (combine.h); else empty.
  std::vector<std::string> applications;
  /// By application: the stacks that its thread blocks run in and its pages lie in, as bits; empty
  /// or 0: all (bind.h). Nothing of it is kept in files.
  std::vector<uint32_t> bound_stacks;
  /// Why no code of the program can be chosen for offloading; empty: it can.
  std::string no_offloading;
  /// Results that runs found out about it. Recordings of one program may share it; who changes the
  /// recording gives it a new one.
  std::shared_ptr<Studies> studies = std::make_shared<Studies>();
};

/// Takes a recording piece by piece, while its program runs.
class RecordingSink {
 public:
  virtual ~RecordingSink() = default;
  virtual void allocation(const Allocation& allocation) = 0;
  /// Kernels come in the order of their index, before their first launch.
  virtual void kernel(const compiler::Kernel& kernel) = 0;
  /// Chunks come in the order of their index.
  virtual void chunk(const TraceChunk& chunk) = 0;
  /// A launch has ended; its chunks came before.
  virtual void launch(const LaunchRecord& launch, double execution_seconds) = 0;
  /// Less than all was recorded (LaunchRecord::blocks_recorded, or launches left out).
  virtual void truncated() = 0;
};

}  // namespace nearwarp::runtime
