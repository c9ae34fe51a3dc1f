// The CUDA runtime that device code calls: launches of kernels by kernels (dynamic parallelism),
// and the streams, events, copies and queries that device code may use.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "host/functional/exec/device_services.h"
#include "host/functional/memory/device_heap.h"
#include "host/functional/memory/device_memory.h"
#include "host/functional/ptx/device_calls.h"

namespace nearwarp::runtime {

/// A grid that a kernel launched, with a copy of its parameters.
struct ChildGrid {
  GridConfig config;
  std::vector<std::byte> parameters;
  uint32_t depth = 0;       ///< number of its ancestors; 0: launched by the host
  std::string launched_by;  ///< name of the launching kernel
};

/// Work that a kernel requests is executed after its grid has ended, in the order of the requests:
/// a launch together with all its descendants, then the next; work in the tail stream comes last.
/// CUDA allows this order: it keeps that of each stream, and a grid's tail launches begin after all
/// of its other work is complete.
class DeviceRuntime {
 public:
  static constexpr uint64_t kBufferBytes = uint64_t{8} << 20;  ///< space for parameters of launches
  /// The deepest nesting of grids. Source: CUDA C++ programming guide, dynamic parallelism.
  static constexpr uint32_t kMaxDepth = 24;

  /// A thread that calls the runtime.
  struct Thread {
    uint64_t id = 0;  ///< unique within its grid
    /// Host address of a range in the thread's generic address space; nullptr if the range has no
    /// memory.
    std::function<uint8_t*(uint64_t address, uint64_t bytes)> memory;
  };

  /// `buffers` is the device address of kBufferBytes bytes. `services` may be nullptr.
  DeviceRuntime(DeviceMemory& memory, uint64_t buffers, DeviceServices* services);

  /// Begins a grid of a kernel of `program`, which is loaded as `module`. `depth` is as in
  /// ChildGrid.
  void begin_grid(uint32_t module, const compiler::Program& program, const compiler::Kernel& kernel,
                  uint32_t depth);
  /// Ends the running grid and queues the work that it has requested.
  void end_grid();
  /// Executes copies and fills up to the next grid, and returns that; nothing at the end of the
  /// queue. Throws DeviceFault for a copy or a fill outside of allocations.
  std::optional<ChildGrid> next();
  /// Drops all queued work after a fault.
  void clear();

  /// Executes a call by a thread of the running grid; returns its result, a status or an address.
  /// `heap` serves cudaMalloc. Throws DeviceFault if a result is to be stored where no memory is.
  uint64_t call(ptx::DeviceCall call, std::span<const uint64_t> args, const Thread& thread,
                DeviceHeap* heap);
  /// Size of the parameter buffer at an address that a call has returned.
  uint64_t buffer_bytes(uint64_t address) const { return buffers_.live_bytes(address); }

 private:
  /// A copy or a fill of a box of bytes, with pitches and slices in bytes.
  struct Transfer {
    bool fill = false;
    uint8_t value = 0;
    uint64_t dst = 0, dst_pitch = 0, dst_slice = 0;
    uint64_t src = 0, src_pitch = 0, src_slice = 0;
    uint64_t width = 0, height = 1, depth = 1;
    std::string asked_by;  ///< name of the requesting kernel
  };
  using Work = std::variant<ChildGrid, Transfer>;

  int fail(const Thread& thread, int status);
  bool is_stream(uint64_t stream) const;
  int enqueue(Work work, uint64_t stream);
  int transfer(Transfer work, uint64_t stream);
  void check_end(uint64_t start, uint64_t pitch, uint64_t slice, const Transfer& of) const;
  void perform(const Transfer& work) const;
  int check(const GridConfig& config);
  GridConfig kernel_at(uint64_t address) const;
  uint64_t parameter_buffer(const GridConfig& config, uint64_t bytes);
  int launch(const GridConfig& config, uint64_t buffer, uint64_t stream);
  uint64_t string(int status, bool name);
  template <class T>
  void store(const Thread& thread, uint64_t address, T value) const;
  int status_call(ptx::DeviceCall call, std::span<const uint64_t> args, const Thread& thread,
                  DeviceHeap* heap);
  int query(ptx::DeviceCall call, std::span<const uint64_t> args, const Thread& thread);
  int copy_3d(uint64_t parameters, uint64_t stream, const Thread& thread);

  DeviceMemory& memory_;
  DeviceHeap buffers_;
  DeviceServices* services_;
  DeviceServices no_services_;
  // State of the running grid:
  uint32_t module_ = 0, depth_ = 0;
  const compiler::Program* program_ = nullptr;
  const compiler::Kernel* kernel_ = nullptr;
  std::vector<Work> asked_, tail_;
  std::map<uint64_t, GridConfig> configs_;    ///< by address of the parameter buffer
  std::unordered_map<uint64_t, int> errors_;  ///< by thread, its last error
  std::set<uint64_t> streams_, events_;
  // State of all grids:
  std::vector<Work> work_;  ///< a stack: the last entry is executed next
  uint64_t next_handle_ = 0;
  std::map<std::pair<int, bool>, uint64_t> strings_;  ///< by status and "is it the name"
};

}  // namespace nearwarp::runtime
