// The virtual CUDA device: memory, modules and launches, executed functionally.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/core/error.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/exec/device_fault.h"
#include "host/functional/exec/device_services.h"
#include "host/functional/exec/execution_rules.h"
#include "host/functional/instructions/texture.h"
#include "host/recording/recording.h"

namespace nearwarp::racecheck {
class Checker;
}

namespace nearwarp::exec {
struct Range;
}

namespace nearwarp::runtime {

using DevicePtr = uint64_t;

/// Bytes laid out as a kernel's parameter buffer: each argument aligned to its own size.
class KernelArgs {
 public:
  template <class... T>
  explicit KernelArgs(const T&... args) {
    (add(args), ...);
  }
  /// A whole parameter buffer.
  explicit KernelArgs(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// A CUDA device that exists in memory only. Allocations get the same real-looking addresses on
/// every run. Kernels run to completion inside launch(); their traces go to the recording.
/// Not thread-safe: one program drives one device.
class VirtualDevice {
 public:
  struct Options {
    bool record_traces = true;
    /// 0: no limit; else recording stops there, after a whole thread block.
    uint64_t max_thread_instructions = 0;
    /// Go on without traces instead of skipping launches; recording stops inside of a block that
    /// goes far beyond the limit (TraceLimit).
    bool execute_beyond_limit = false;
    /// Bytes of traces of thread blocks that run together; where more is needed, recording stops.
    uint64_t max_trace_bytes = ~uint64_t{0};
    bool same_addresses = false;  ///< device memory lies at its device addresses on the host, too
    uint64_t memory_bytes = uint64_t{16} << 30;  ///< size of the device's address range
    uint64_t mapped_bytes = 0;  ///< addresses for files besides, with same_addresses
    uint32_t chunk_blocks = 0;  ///< thread blocks per trace chunk; 0: by size
    TraceStore::Options traces;
    RecordingSink* sink = nullptr;  ///< takes the recording; take_recording() then lacks the traces
    /// Called now and then with the warp-instructions executed so far; return false to interrupt
    /// (launch() then throws Interrupted).
    bool (*progress)(uint64_t warp_instructions, void* context) = nullptr;
    void* progress_context = nullptr;
    /// Receives what kernels print, thread block after thread block; nullptr: discarded.
    std::function<void(std::string_view text)> print;
    uint64_t heap_bytes = uint64_t{8} << 20;  ///< of malloc in device code
    /// A DeviceFault ends the device, as it ends a CUDA context: later launches throw it again.
    bool sticky_faults = false;
    /// Looks for races and their like in the kernels that it wants, whose launches then leave no
    /// traces.
    racecheck::Checker* checker = nullptr;
    /// Lets accesses beside allocations pass that lie in their pages (2 MiB), as a GPU does; called
    /// with the kernel's name and a description of the first in a launch. nullptr: faults.
    std::function<void(const std::string& kernel, const std::string& message)> stray;
    /// Told, once, of the kernel whose traces needed more than max_trace_bytes.
    std::function<void(const std::string& kernel)> traces_too_long;
    ExecutionRules execution;
    /// Serves kernels that call the CUDA runtime; nullptr: they learn nothing of any machine.
    DeviceServices* services = nullptr;
  };
  VirtualDevice();
  explicit VirtualDevice(Options options);
  ~VirtualDevice();
  VirtualDevice(const VirtualDevice&) = delete;
  VirtualDevice& operator=(const VirtualDevice&) = delete;

  /// Allocate `bytes`; throws nearwarp::Error when the device's memory is exhausted.
  DevicePtr allocate(uint64_t bytes, std::string label = {});
  /// Throws nearwarp::Error unless `address` came from allocate() and has not been freed.
  void free(DevicePtr address);
  /// Files in the address range, and the memory as one (DeviceMemory's functions of these names).
  exec::Range mapped_addresses() const;
  void map_file(DevicePtr address, uint64_t bytes, int file, uint64_t offset);
  void unmap_file(DevicePtr address, uint64_t bytes);
  void add_mapped(DevicePtr address, uint64_t bytes, std::string label);
  void remove_mapped(DevicePtr address);
  int share_memory();
  /// Copies and fills throw nearwarp::Error for ranges outside of one allocation.
  void copy_to_device(DevicePtr dst, const void* src, uint64_t bytes);
  void copy_to_host(void* dst, DevicePtr src, uint64_t bytes) const;
  void copy_on_device(DevicePtr dst, DevicePtr src, uint64_t bytes);
  void fill(DevicePtr dst, uint8_t value, uint64_t bytes);
  /// For Options::checker, of an allocation: the host has written these bytes by itself, or may do
  /// so at any time; or it has copied them from elsewhere in device memory.
  void note_written(DevicePtr address, uint64_t bytes);
  void note_copied(DevicePtr dst, DevicePtr src, uint64_t bytes);
  /// For Options::checker: what these bytes held is of no account any more.
  void note_unwritten(DevicePtr address, uint64_t bytes);

  template <class T>
  DevicePtr upload(const std::vector<T>& v, std::string label = {}) {
    const DevicePtr p = allocate(v.size() * sizeof(T), std::move(label));
    copy_to_device(p, v.data(), v.size() * sizeof(T));
    return p;
  }
  template <class T>
  std::vector<T> download(DevicePtr src, size_t count) const {
    std::vector<T> v(count);
    copy_to_host(v.data(), src, count * sizeof(T));
    return v;
  }

  /// Load a module: place its variables, ready its kernels. Returns a handle.
  uint32_t load_module(std::shared_ptr<const compiler::Program> program);
  /// Free its variables. None of its kernels may be launched any more.
  void unload_module(uint32_t module);
  /// Address of a module variable; throws nearwarp::Error if there is none of that name.
  DevicePtr symbol(uint32_t module, const std::string& name) const;

  /// Give all variables of modules their initial values again, and empty the heap of device code.
  void reset_modules();
  /// Stack of a thread for recursive functions, of later launches; at least compiler::kStackBytes.
  void set_stack_bytes(uint32_t bytes);
  /// Size of the heap of device code, if no kernel has used it yet; false: too late.
  bool set_heap_bytes(uint64_t bytes);

  /// Run a kernel, and all that it launches, to completion. Throws nearwarp::Error for impossible
  /// dimensions, a wrong parameter size; DeviceFault for an error of the kernel (memory, trap,
  /// assertion, deadlock). Without `record`, it leaves no trace and no launch record.
  void launch(uint32_t module, const std::string& kernel, Dim3 grid, Dim3 block,
              uint32_t dynamic_shared_bytes, const KernelArgs& args, bool record = true);

  /// As launch(), with clusters of so many blocks, in place of those that the kernel asks for.
  void launch_clusters(uint32_t module, const std::string& kernel, Dim3 grid, Dim3 block,
                       Dim3 cluster, uint32_t dynamic_shared_bytes, const KernelArgs& args,
                       bool cooperative = false, bool record = true);

  /// As launch(), but cooperative: all thread blocks are resident together and may wait for
  /// one another at barriers of the grid. Throws nearwarp::Error for more blocks than fit.
  void launch_cooperative(uint32_t module, const std::string& kernel, Dim3 grid, Dim3 block,
                          uint32_t dynamic_shared_bytes, const KernelArgs& args,
                          bool record = true);

  /// Objects that kernels use by handle. Throws nearwarp::Error for images outside of allocations
  /// and for formats that do not exist. The runtime library describes arrays by images too.
  uint64_t create_texture(TextureDesc desc);
  uint64_t create_surface(TextureImage image, ChannelFormat format);
  void destroy_texture(uint64_t handle);
  void destroy_surface(uint64_t handle);

  uint64_t warp_instructions() const;    ///< executed so far
  uint64_t thread_instructions() const;  ///< executed so far
  /// The live allocation that `address` lies in; nullptr if there is none.
  const Allocation* find_allocation(DevicePtr address) const;
  uint64_t memory_bytes() const;
  uint64_t used_memory_bytes() const;
  /// True once the instruction limit has been reached: programs may stop early.
  bool limit_reached() const;
  /// True if the recording, unless a sink takes it, has at least one launch.
  bool has_launches() const;
  const std::vector<Allocation>& allocation_table() const;

  /// Hand over everything recorded so far; the device can be used no more.
  Recording take_recording(std::string name);

 private:
  struct Impl;
  struct Grid;
  void launch_grid(const Grid& grid);
  void run_grid(const Grid& grid);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nearwarp::runtime
