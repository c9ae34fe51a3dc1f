// The CUDA runtime as device code calls it: kernels launched by kernels, and what goes with them.
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
  uint32_t depth = 0;       ///< grids above it; 0: launched by the host
  std::string launched_by;  ///< name of a kernel
};

/// Work that kernels ask for is done after the grid that asked has ended, in the order in which it
/// was asked for: a launch with all that it launches itself, then the next; what is in the tail
/// stream after all others. That is an order that CUDA allows: streams keep theirs, and a grid's
/// tail launches come when all of its other work is complete.
class DeviceRuntime {
 public:
  static constexpr uint64_t kBufferBytes = uint64_t{8} << 20;  ///< of parameters being written
  static constexpr uint32_t kMaxDepth = 24;  ///< of nested grids, from the CUDA programming guide

  /// The thread that calls.
  struct Thread {
    uint64_t id = 0;  ///< unique within its grid
    /// Host address of a range of its generic address space; nullptr if it has no such.
    std::function<uint8_t*(uint64_t address, uint64_t bytes)> memory;
  };

  /// `buffers`: device address of kBufferBytes. `services` may be nullptr.
  DeviceRuntime(DeviceMemory& memory, uint64_t buffers, DeviceServices* services);

  /// A grid of `program`, loaded as `module`, is about to run; `depth` as in ChildGrid.
  void begin_grid(uint32_t module, const compiler::Program& program, const compiler::Kernel& kernel,
                  uint32_t depth);
  /// Ends the running grid, so that its work can follow.
  void end_grid();
  /// The next grid to run; copies and fills that come before it have then been done. Throws
  /// DeviceFault for those that go wrong.
  std::optional<ChildGrid> next();
  /// Forget all work, after a fault.
  void clear();

  /// A call by a thread of the running grid; returns the result, a status or an address. `heap`
  /// serves cudaMalloc. Throws DeviceFault for pointers that are none.
  uint64_t call(ptx::DeviceCall call, std::span<const uint64_t> args, const Thread& thread,
                DeviceHeap* heap);
  /// Size of a buffer for parameters that a call has returned.
  uint64_t buffer_bytes(uint64_t address) const { return buffers_.live_bytes(address); }

 private:
  /// A copy or a fill of a box of bytes.
  struct Transfer {
    bool fill = false;
    uint8_t value = 0;
    uint64_t dst = 0, dst_pitch = 0, dst_slice = 0;
    uint64_t src = 0, src_pitch = 0, src_slice = 0;
    uint64_t width = 0, height = 1, depth = 1;
    std::string asked_by;  ///< name of a kernel
  };
  using Work = std::variant<ChildGrid, Transfer>;

  int fail(const Thread& thread, int status);
  bool is_stream(uint64_t stream) const;
  int enqueue(Work work, uint64_t stream);
  int transfer(Transfer work, uint64_t stream);
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
  // of the running grid
  uint32_t module_ = 0, depth_ = 0;
  const compiler::Program* program_ = nullptr;
  const compiler::Kernel* kernel_ = nullptr;
  std::vector<Work> asked_, tail_;
  std::map<uint64_t, GridConfig> configs_;  ///< by address of the parameters
  std::unordered_map<uint64_t, int> errors_;
  std::set<uint64_t> streams_, events_;
  // of all
  std::vector<Work> work_;  ///< the last is next
  uint64_t next_handle_ = 0;
  std::map<std::pair<int, bool>, uint64_t> strings_;
};

}  // namespace nearwarp::runtime
