// The internal state of the virtual CUDA device, shared by the files on modules, launches and
// textures.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/functional/decode/decoded_kernel.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/exec/device_runtime.h"
#include "host/functional/exec/executor.h"
#include "host/functional/memory/device_heap.h"
#include "host/functional/memory/device_memory.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::runtime {

/// The parameters of a launch.
struct VirtualDevice::Grid {
  uint32_t module = 0;
  const std::string& kernel;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;
  bool record = true, cooperative = false;
  uint32_t depth = 0;        ///< as in ChildGrid
  Dim3 cluster = {0, 0, 0};  ///< 0: the kernel's own cluster size, if it has one
};

struct VirtualDevice::Impl {
  struct LoadedKernel {
    const compiler::Kernel* kernel = nullptr;
    DecodedKernel decoded;                // set by kernel()
    std::string problem;                  // the reason why it cannot run; may be empty
    uint32_t recorded = compiler::kNone;  // index into Recording::kernels
    bool checked = false;                 // it was decoded for Options::checker
  };
  struct Module {
    std::shared_ptr<const compiler::Program> program;
    std::unordered_map<std::string, DevicePtr> variables;
    std::unordered_map<std::string, LoadedKernel> kernels;
    bool unloaded = false;  ///< its variables were freed
  };

  explicit Impl(Options o)
      : options(std::move(o)),
        memory(options.memory_bytes, options.same_addresses, options.mapped_bytes) {
    recording.traces = TraceStore(options.traces);
    if (options.checker != nullptr && options.checker->wants_writes()) memory.track_writes();
  }

  DevicePtr allocate(uint64_t bytes, std::string label);
  void check_image(const TextureImage& image, const ChannelFormat& format) const;
  void load_variables(Module& module);
  void initialise(const Module& module);
  const Module& module(uint32_t handle) const;
  /// Does the kernel call malloc or free? If so, the heap is made if need be.
  bool uses_heap(const DecodedKernel& k);
  /// Does the kernel call the CUDA runtime? If so, `runtime` is made if need be.
  bool uses_runtime(const DecodedKernel& k);
  LoadedKernel& kernel(uint32_t handle, const std::string& name);
  void check_dimensions(const compiler::Kernel& k, Dim3 grid, Dim3 block, uint64_t shared,
                        uint64_t parameter_bytes) const;
  [[noreturn]] void fail(const DeviceFault& f);
  std::optional<ChildGrid> next_child();
  void append(TraceChunk chunk);
  void add_launch(LaunchRecord& launch, const ExecutorResult& counted, double seconds);
  void end_recording(const std::string& kernel, TraceCut why);
  void truncate();

  Options options;
  DeviceMemory memory;
  std::vector<Module> modules;
  Recording recording;
  uint64_t warp_instructions = 0, thread_instructions = 0;
  ExecutorResult recorded;     // sums over all recorded launches
  uint32_t sunk_chunks = 0;    // number of chunks passed to Options::sink
  bool limit_reached = false;  // no more launches are recorded
  TextureTable textures;
  uint64_t grid_workspace = 0;  // device address, for barriers of cooperative launches
  uint32_t stack_bytes = compiler::kStackBytes;
  DevicePtr heap_address = 0;
  std::optional<DeviceHeap> heap;        // made for the first kernel that calls malloc or free
  std::optional<DeviceRuntime> runtime;  // made for the first kernel that calls it
  std::optional<DeviceFault> fault;      // thrown by an earlier launch
  bool taken = false;
};

}  // namespace nearwarp::runtime
