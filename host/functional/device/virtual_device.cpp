// The virtual CUDA device.
#include "host/functional/device/virtual_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "host/functional/decode/decoded_kernel.h"
#include "host/functional/exec/chunk_writer.h"
#include "host/functional/exec/device_runtime.h"
#include "host/functional/exec/executor.h"
#include "host/functional/memory/device_heap.h"
#include "host/functional/memory/device_memory.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::runtime {

namespace {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxSharedBytes = 227 * 1024;
constexpr uint64_t kGridWorkspaceBytes = 4096;

}  // namespace

namespace {

Dim3 required_cluster(const compiler::Kernel& k) {
  const uint32_t* c = k.bounds.cluster;
  return c[0] == 0 ? Dim3{1, 1, 1} : Dim3{c[0], c[1], c[2]};
}

void check_cluster(const compiler::Kernel& k, Dim3 grid, Dim3 cluster) {
  if (cluster.count() != 0 && cluster.count() <= exec::kMaxClusterBlocks &&
      grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0)
    return;
  throw Error(fmt::format(
      "kernel {} cannot run with clusters of ({},{},{}) blocks in a grid of ({},{},{}) - at most "
      "{} blocks, and clusters that divide the grid",
      k.name, cluster.x, cluster.y, cluster.z, grid.x, grid.y, grid.z, exec::kMaxClusterBlocks));
}

}  // namespace

/// A grid to run.
struct VirtualDevice::Grid {
  uint32_t module = 0;
  const std::string& kernel;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;
  bool record = true, cooperative = false;
  uint32_t depth = 0;        ///< grids above it; 0: launched by the host
  Dim3 cluster = {0, 0, 0};  ///< 0: what the kernel asks for
};

struct VirtualDevice::Impl {
  struct LoadedKernel {
    const compiler::Kernel* kernel = nullptr;
    DecodedKernel decoded;                // once it has been asked for
    std::string problem;                  // why it cannot run
    uint32_t recorded = compiler::kNone;  // index into Recording::kernels
    bool checked = false;                 // decoded for Options::checker
  };
  struct Module {
    std::shared_ptr<const compiler::Program> program;
    std::unordered_map<std::string, DevicePtr> variables;
    std::unordered_map<std::string, LoadedKernel> kernels;
    bool unloaded = false;  ///< its variables are gone
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
  /// Does the kernel call malloc or free? Then there is a heap afterwards.
  bool uses_heap(const DecodedKernel& k);
  /// Does the kernel call the CUDA runtime? Then there is a `runtime` afterwards.
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
  ExecutorResult recorded;     // of all launches
  uint32_t sunk_chunks = 0;    // given to Options::sink
  bool limit_reached = false;  ///< nothing more is recorded
  TextureTable textures;
  uint64_t grid_workspace = 0;  // of cooperative launches
  uint32_t stack_bytes = compiler::kStackBytes;
  DevicePtr heap_address = 0;
  std::optional<DeviceHeap> heap;        // made for the first kernel that calls malloc or free
  std::optional<DeviceRuntime> runtime;  // made for the first kernel that calls it
  std::optional<DeviceFault> fault;      // of an earlier launch
  bool taken = false;
};

VirtualDevice::VirtualDevice() : VirtualDevice(Options{}) {}
VirtualDevice::VirtualDevice(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
VirtualDevice::~VirtualDevice() = default;

DevicePtr VirtualDevice::Impl::allocate(uint64_t bytes, std::string label) {
  const DevicePtr address = memory.allocate(bytes, std::move(label));
  if (options.sink != nullptr) options.sink->allocation(memory.table().back());
  return address;
}

DevicePtr VirtualDevice::allocate(uint64_t bytes, std::string label) {
  return impl_->allocate(bytes, std::move(label));
}
void VirtualDevice::free(DevicePtr address) { impl_->memory.free(address); }

exec::Range VirtualDevice::mapped_addresses() const { return impl_->memory.mapped_addresses(); }
void VirtualDevice::map_file(DevicePtr address, uint64_t bytes, int file, uint64_t offset) {
  impl_->memory.map_file(address, bytes, file, offset);
}
void VirtualDevice::unmap_file(DevicePtr address, uint64_t bytes) {
  impl_->memory.unmap_file(address, bytes);
}
void VirtualDevice::add_mapped(DevicePtr address, uint64_t bytes, std::string label) {
  impl_->memory.add_mapped(address, bytes, std::move(label));
  if (impl_->options.sink != nullptr) impl_->options.sink->allocation(impl_->memory.table().back());
}
void VirtualDevice::remove_mapped(DevicePtr address) { impl_->memory.remove_mapped(address); }
int VirtualDevice::share_memory() { return impl_->memory.share(); }

void VirtualDevice::copy_to_device(DevicePtr dst, const void* src, uint64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(impl_->memory.host(dst, bytes, "copy to device"), src, bytes);
  impl_->memory.note_written(dst, bytes);
}
void VirtualDevice::copy_to_host(void* dst, DevicePtr src, uint64_t bytes) const {
  if (bytes != 0) std::memcpy(dst, impl_->memory.host(src, bytes, "copy to host"), bytes);
}
void VirtualDevice::copy_on_device(DevicePtr dst, DevicePtr src, uint64_t bytes) {
  if (bytes == 0) return;
  std::memmove(impl_->memory.host(dst, bytes, "copy on device"),
               impl_->memory.host(src, bytes, "copy on device"), bytes);
  impl_->memory.note_copied(dst, src, bytes);
}
void VirtualDevice::fill(DevicePtr dst, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return;
  std::memset(impl_->memory.host(dst, bytes, "fill"), value, bytes);
  impl_->memory.note_written(dst, bytes);
}
void VirtualDevice::note_written(DevicePtr address, uint64_t bytes) {
  impl_->memory.note_written(address, bytes);
}
void VirtualDevice::note_copied(DevicePtr dst, DevicePtr src, uint64_t bytes) {
  impl_->memory.note_copied(dst, src, bytes);
}
void VirtualDevice::note_unwritten(DevicePtr address, uint64_t bytes) {
  impl_->memory.note_unwritten(address, bytes);
}

// --- Modules -------------------------------------------------------------------------------------

void VirtualDevice::Impl::load_variables(Module& m) {
  const compiler::Program& program = *m.program;
  for (const compiler::Variable& v : program.variables) {
    if (m.variables.contains(v.name)) continue;
    m.variables[v.name] = allocate(v.size, v.name);
  }
  initialise(m);
}

void VirtualDevice::Impl::initialise(const Module& m) {
  const compiler::Program& program = *m.program;
  for (const compiler::Variable& v : program.variables) {
    if (v.size == 0) continue;
    uint8_t* p = memory.host(m.variables.at(v.name), v.size, "initialising a variable");
    memory.note_written(m.variables.at(v.name), v.size);
    if (v.init.size() < v.size) std::memset(p, 0, v.size);
    if (v.init.empty()) continue;
    std::memcpy(p, v.init.data(), std::min<uint64_t>(v.size, v.init.size()));
    for (const auto& r : v.relocations) {
      const auto target = m.variables.find(r.target);
      if (target == m.variables.end())
        throw Error(fmt::format("the initialiser of '{}' refers to '{}', which is no variable ({})",
                                v.name, r.target, program.path));
      const uint64_t address = target->second + static_cast<uint64_t>(r.addend);
      if (r.offset + 8 > v.size)
        throw Error(fmt::format("the initialiser of '{}' is too short for an address ({})", v.name,
                                program.path));
      std::memcpy(p + r.offset, &address, 8);
    }
  }
}

void VirtualDevice::reset_modules() {
  for (const Impl::Module& m : impl_->modules)
    if (!m.unloaded) impl_->initialise(m);
  if (impl_->heap) impl_->heap.emplace(impl_->heap_address, impl_->options.heap_bytes);
}
void VirtualDevice::set_stack_bytes(uint32_t bytes) { impl_->stack_bytes = bytes; }
bool VirtualDevice::set_heap_bytes(uint64_t bytes) {
  if (!impl_->heap) impl_->options.heap_bytes = bytes;
  return !impl_->heap;
}

uint32_t VirtualDevice::load_module(std::shared_ptr<const compiler::Program> program) {
  Impl::Module& m = impl_->modules.emplace_back();
  m.program = std::move(program);
  impl_->load_variables(m);
  for (const compiler::Kernel& k : m.program->kernels) {
    Impl::LoadedKernel loaded;
    loaded.kernel = &k;
    loaded.problem = k.unsupported;
    m.kernels.emplace(k.name, std::move(loaded));
  }
  return static_cast<uint32_t>(impl_->modules.size() - 1);
}

void VirtualDevice::unload_module(uint32_t module) {
  impl_->module(module);
  Impl::Module& m = impl_->modules[module];
  for (const auto& [name, address] : m.variables) impl_->memory.free(address);
  m.variables.clear();
  m.unloaded = true;
}

const VirtualDevice::Impl::Module& VirtualDevice::Impl::module(uint32_t handle) const {
  if (handle >= modules.size())
    throw Error(fmt::format("there is no module {} - {} are loaded", handle, modules.size()));
  return modules[handle];
}

DevicePtr VirtualDevice::symbol(uint32_t module, const std::string& name) const {
  const Impl::Module& m = impl_->module(module);
  const auto it = m.variables.find(name);
  if (it == m.variables.end())
    throw Error(fmt::format("module {} has no variable '{}'", m.program->path, name));
  return it->second;
}

VirtualDevice::Impl::LoadedKernel& VirtualDevice::Impl::kernel(uint32_t handle,
                                                               const std::string& name) {
  module(handle);
  Module& m = modules[handle];
  const auto it = m.kernels.find(name);
  if (it == m.kernels.end())
    throw Error(fmt::format("module {} has no kernel '{}'", m.program->path, name));
  LoadedKernel& loaded = it->second;
  if (loaded.problem.empty() && loaded.decoded.kernel == nullptr) {
    const auto address = [&m](const compiler::Symbol& s) -> uint64_t {
      if (s.space == ptx::Space::kParam) return kParamBank + s.offset;
      if (s.space != ptx::Space::kGlobal && s.space != ptx::Space::kConst) return s.offset;
      const auto variable = m.variables.find(s.name);
      if (variable == m.variables.end())
        throw Error(fmt::format("undefined variable '{}' ({})", s.name, m.program->path));
      return variable->second;
    };
    try {
      loaded.checked = options.checker != nullptr && options.checker->wants(loaded.kernel->name);
      loaded.decoded = decode(*loaded.kernel, m.program->path, address, loaded.checked);
    } catch (const Error& e) {
      loaded.problem = e.what();
    }
  }
  if (!loaded.problem.empty()) throw Error(loaded.problem);
  return loaded;
}

bool VirtualDevice::Impl::uses_heap(const DecodedKernel& k) {
  for (const SystemDesc& call : k.system_calls) {
    if (call.kind != exec::SystemKind::kMalloc && call.kind != exec::SystemKind::kFree &&
        call.call != ptx::DeviceCall::kMalloc && call.call != ptx::DeviceCall::kFree)
      continue;
    if (!heap) {
      heap_address = allocate(options.heap_bytes, "heap of device code");
      heap.emplace(heap_address, options.heap_bytes);
    }
    return true;
  }
  return false;
}

bool VirtualDevice::Impl::uses_runtime(const DecodedKernel& k) {
  const bool uses =
      std::any_of(k.system_calls.begin(), k.system_calls.end(),
                  [](const SystemDesc& call) { return call.kind == exec::SystemKind::kDevice; });
  if (uses && !runtime)
    runtime.emplace(memory,
                    allocate(DeviceRuntime::kBufferBytes, "parameters of kernels' launches"),
                    options.services);
  return uses;
}

// --- Launches ------------------------------------------------------------------------------------

void VirtualDevice::Impl::check_dimensions(const compiler::Kernel& k, Dim3 grid, Dim3 block,
                                           uint64_t shared, uint64_t parameter_bytes) const {
  const auto show = [](Dim3 d) { return fmt::format("({},{},{})", d.x, d.y, d.z); };
  if (!possible_grid(grid))
    throw Error(
        fmt::format("kernel {} cannot run with a grid of {} - x from 1 to 2147483647, y and "
                    "z from 1 to 65535, fewer than 2^32 blocks",
                    k.name, show(grid)));
  if (!possible_block(block))
    throw Error(
        fmt::format("kernel {} cannot run with blocks of {} - 1 to {} threads, at most 64 "
                    "in z",
                    k.name, show(block), kMaxThreads));
  if (shared > kMaxSharedBytes)
    throw Error(fmt::format("kernel {} wants {} bytes of shared memory - at most {}", k.name,
                            shared, kMaxSharedBytes));
  if (parameter_bytes != k.param_bytes)
    throw Error(fmt::format("kernel {} takes {} bytes of parameters, but {} were given", k.name,
                            k.param_bytes, parameter_bytes));
}

void VirtualDevice::launch(uint32_t module, const std::string& kernel, Dim3 grid, Dim3 block,
                           uint32_t dynamic_shared_bytes, const KernelArgs& args, bool record) {
  launch_grid({module, kernel, grid, block, dynamic_shared_bytes, args.bytes(), record});
}

void VirtualDevice::launch_clusters(uint32_t module, const std::string& kernel, Dim3 grid,
                                    Dim3 block, Dim3 cluster, uint32_t dynamic_shared_bytes,
                                    const KernelArgs& args, bool cooperative, bool record) {
  launch_grid({module, kernel, grid, block, dynamic_shared_bytes, args.bytes(), record, cooperative,
               0, cluster});
}

void VirtualDevice::launch_cooperative(uint32_t module, const std::string& kernel, Dim3 grid,
                                       Dim3 block, uint32_t dynamic_shared_bytes,
                                       const KernelArgs& args, bool record) {
  launch_grid({module, kernel, grid, block, dynamic_shared_bytes, args.bytes(), record, true});
}

/// A grid, and all that it launches.
void VirtualDevice::launch_grid(const Grid& root) {
  Impl& d = *impl_;
  if (d.runtime) d.runtime->clear();
  run_grid(root);
  if (!d.runtime) return;
  while (const auto child = d.next_child()) {
    const GridConfig& c = child->config;
    const bool record =
        d.options.services != nullptr ? d.options.services->records(c.kernel->name) : root.record;
    try {
      run_grid({c.module, c.kernel->name, c.grid, c.block, c.dynamic_shared_bytes,
                child->parameters, record, false, child->depth});
    } catch (const DeviceFault& fault) {
      d.fail({fault.kind(),
              fmt::format("{} (launched by kernel {})", fault.what(), child->launched_by)});
    }
  }
}

void VirtualDevice::run_grid(const Grid& launched) {
  const auto& [module, kernel, given_grid, block, dynamic_shared_bytes, parameters, wanted,
               cooperative, depth, given_cluster] = launched;
  Impl& d = *impl_;
  if (d.taken) throw Error("the device's recording has been taken - it cannot be used any more");
  if (d.fault) throw *d.fault;
  Impl::LoadedKernel& loaded = d.kernel(module, kernel);
  const compiler::Kernel& k = *loaded.decoded.kernel;
  const uint64_t shared = uint64_t{k.static_shared_bytes} + dynamic_shared_bytes;
  const Dim3 cluster = given_cluster.count() != 0 ? given_cluster : required_cluster(k);
  Dim3 grid = given_grid;
  if (k.bounds.blocks_are_clusters)
    grid = {grid.x * cluster.x, grid.y * cluster.y, grid.z * cluster.z};
  d.check_dimensions(k, grid, block, shared, parameters.size());
  check_cluster(k, grid, cluster);
  const bool record = wanted && !d.limit_reached;
  if (!record) d.truncate();
  if (d.limit_reached && !d.options.execute_beyond_limit) return;
  if (record && loaded.recorded == compiler::kNone) {
    loaded.recorded = static_cast<uint32_t>(d.recording.kernels.size());
    d.recording.kernels.emplace_back(d.modules[module].program, &k);  // keeps the program alive
    if (d.options.sink != nullptr) d.options.sink->kernel(k);
  }
  if (!parameters.empty())
    std::memcpy(d.memory.parameter_bank(), parameters.data(), parameters.size());

  LaunchRecord entry;
  entry.kernel = loaded.recorded;
  entry.grid = grid;
  entry.block = block;
  entry.cluster = cluster;
  entry.shared_bytes = static_cast<uint32_t>(shared);
  entry.first_chunk = d.options.sink != nullptr ? d.sunk_chunks : d.recording.traces.size();
  const bool limited = record && d.options.max_thread_instructions != 0;
  const uint64_t left =
      limited ? d.options.max_thread_instructions - d.recorded.thread_instructions : ~uint64_t{0};
  ChunkWriter writer([&d](TraceChunk chunk) { d.append(std::move(chunk)); },
                     static_cast<uint32_t>((block.count() + 31) / 32), d.options.chunk_blocks,
                     grid.count(), left);
  const bool traced = record && d.options.record_traces && !loaded.checked;
  ExecutorOptions options;
  if (traced) options.sink = &writer;
  options.trace_limit.bytes = d.options.max_trace_bytes;
  if (d.options.execute_beyond_limit) options.trace_limit.thread_instructions = left;
  if (limited && !d.options.execute_beyond_limit) options.max_thread_instructions = left;
  if (d.options.progress != nullptr)
    options.progress = [&d](uint64_t n) {
      return d.options.progress(d.warp_instructions + n, d.options.progress_context);
    };
  options.rules = d.options.execution;
  if (const uint64_t most = options.rules.max_thread_instructions; most != 0)
    options.rules.max_thread_instructions =
        most > d.thread_instructions ? most - d.thread_instructions : 1;
  options.print = d.options.print;
  options.textures = &d.textures;
  options.stack_bytes = d.stack_bytes;
  options.cluster = cluster;
  options.explicit_cluster = given_cluster.count() != 0 || k.bounds.cluster[0] != 0;
  if (loaded.checked) options.checker = d.options.checker;
  if (d.options.stray && !loaded.checked)
    options.stray = [&d, &k](const std::string& message) { d.options.stray(k.name, message); };
  if (cooperative) {
    options.cooperative = true;
    if (d.grid_workspace == 0)
      d.grid_workspace = d.allocate(kGridWorkspaceBytes, "workspace of grid barriers");
    options.grid_workspace = d.grid_workspace;
    std::memset(d.memory.host(d.grid_workspace, kGridWorkspaceBytes, "grid barrier"), 0,
                kGridWorkspaceBytes);
    d.memory.note_written(d.grid_workspace, kGridWorkspaceBytes);
  }
  if (d.uses_heap(loaded.decoded)) options.heap = &*d.heap;
  if (d.uses_runtime(loaded.decoded)) {
    options.runtime = &*d.runtime;
    d.runtime->begin_grid(module, *d.modules[module].program, k, depth);
  }
  const bool launches = options.runtime != nullptr;
  const auto start = std::chrono::steady_clock::now();
  Executor executor(loaded.decoded, d.modules[module].program->path, d.memory, entry, parameters,
                    std::move(options));
  ExecutorResult result;
  try {
    result = executor.run();
  } catch (const DeviceFault& fault) {
    const ExecutorResult so_far = executor.executed();
    d.warp_instructions += so_far.warp_instructions;
    d.thread_instructions += so_far.thread_instructions;
    d.fail(DeviceFault(
        fault.kind(),
        fmt::format("{}; the launch had executed {} thread-instructions, and {} of "
                    "its {} thread blocks",
                    fault.what(), so_far.thread_instructions, so_far.blocks, grid.count())));
  }
  if (launches) d.runtime->end_grid();
  if (!loaded.checked) d.memory.note_all_written();  // it may have written anything
  entry.num_chunks = writer.finish();
  const auto* const first = reinterpret_cast<const uint8_t*>(parameters.data());
  entry.parameters.assign(first, first + parameters.size());
  entry.local_base = result.local_base;
  entry.local_bytes = result.local_bytes;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  // Where it was interrupted, also what thread blocks have executed that have not ended.
  const ExecutorResult executed = result.interrupted ? executor.executed() : result;
  d.warp_instructions += executed.warp_instructions;
  d.thread_instructions += executed.thread_instructions;
  if (record) d.add_launch(entry, traced ? writer.counted() : result, seconds.count());
  if (writer.cut() != TraceCut::kNone) d.end_recording(k.name, writer.cut());
  if (result.interrupted)
    throw Interrupted(fmt::format("interrupted in kernel {} after {} of {} thread blocks", k.name,
                                  result.blocks, grid.count()));
}

/// Ends the device, if that is what faults do.
void VirtualDevice::Impl::fail(const DeviceFault& f) {
  if (options.sticky_faults) fault = f;
  throw f;
}

std::optional<ChildGrid> VirtualDevice::Impl::next_child() {
  try {
    return runtime->next();
  } catch (const DeviceFault& f) {
    fail(f);
  }
}

void VirtualDevice::Impl::add_launch(LaunchRecord& launch, const ExecutorResult& counted,
                                     double seconds) {
  launch.blocks_recorded = counted.blocks;
  launch.warp_instructions = counted.warp_instructions;
  launch.thread_instructions = counted.thread_instructions;
  recording.launches.push_back(launch);
  recording.execution_seconds += seconds;
  recorded.warp_instructions += counted.warp_instructions;
  recorded.thread_instructions += counted.thread_instructions;
  if (options.sink != nullptr) options.sink->launch(launch, seconds);
  if (options.max_thread_instructions != 0 &&
      recorded.thread_instructions >= options.max_thread_instructions)
    limit_reached = true;
  if (counted.blocks < launch.grid.count()) truncate();
}

/// A thread block's traces have been cut: what comes next would follow something else.
void VirtualDevice::Impl::end_recording(const std::string& kernel, TraceCut why) {
  truncate();
  if (options.traces_too_long && why == TraceCut::kBytes) options.traces_too_long(kernel);
  limit_reached = true;
}

void VirtualDevice::Impl::append(TraceChunk chunk) {
  if (options.sink == nullptr) {
    recording.traces.append(std::move(chunk));
    return;
  }
  options.sink->chunk(chunk);
  ++sunk_chunks;
}

void VirtualDevice::Impl::truncate() {
  if (!recording.truncated && options.sink != nullptr) options.sink->truncated();
  recording.truncated = true;
}

// --- Textures ------------------------------------------------------------------------------------

void VirtualDevice::Impl::check_image(const TextureImage& image,
                                      const ChannelFormat& format) const {
  const uint32_t n = format.components(), bits = format.bits[0];
  bool ok = n == 1 || n == 2 || n == 4;
  ok =
      ok && (bits == 32 || bits == 16 || (bits == 8 && format.kind != ChannelFormat::Kind::kFloat));
  for (uint32_t i = 0; i < 4; ++i) ok = ok && format.bits[i] == (i < n ? bits : 0);
  if (!ok)
    throw Error(
        fmt::format("no texture has elements of {}, {}, {}, {} bits - 1, 2 or 4 components "
                    "of 8, 16 or 32 bits",
                    format.bits[0], format.bits[1], format.bits[2], format.bits[3]));
  constexpr uint32_t kMost = 1u << 28;
  if (image.width == 0 || image.height == 0 || image.depth == 0 || image.width > kMost ||
      image.height > kMost || image.depth > kMost)
    throw Error(fmt::format("a texture of {} x {} x {} elements - 1 to {} in each direction",
                            image.width, image.height, image.depth, kMost));
  const uint64_t row = uint64_t{image.width} * format.element_bytes();
  const uint64_t pitch = image.pitch_bytes != 0 ? image.pitch_bytes : row;
  const uint64_t slice = image.slice_bytes != 0 ? image.slice_bytes : pitch * image.height;
  if (pitch < row || slice < pitch || pitch > options.memory_bytes || slice > options.memory_bytes)
    throw Error(fmt::format("a texture with rows of {} bytes, {} bytes apart", row, pitch));
  if ((image.depth - 1) > options.memory_bytes / slice ||
      (image.height - 1) > options.memory_bytes / pitch)
    throw Error("a texture larger than the device's memory");
  memory.host(image.address, (image.depth - 1) * slice + (image.height - 1) * pitch + row,
              "texture");
}

uint64_t VirtualDevice::create_texture(TextureDesc desc) {
  if (desc.levels.empty()) throw Error("a texture without a level - at least one image");
  for (const TextureImage& image : desc.levels) impl_->check_image(image, desc.format);
  return impl_->textures.add(std::move(desc));
}
uint64_t VirtualDevice::create_surface(TextureImage image, ChannelFormat format) {
  impl_->check_image(image, format);
  // Kernels write to it through the surface, which is not looked at.
  if (const Allocation* a = impl_->memory.find(image.address); a != nullptr)
    impl_->memory.note_written(a->address, a->bytes);
  return impl_->textures.add(TextureTable::Surface{image, format});
}
void VirtualDevice::destroy_texture(uint64_t handle) {
  if (!impl_->textures.remove_texture(handle))
    throw Error(fmt::format("{:#x} is no texture object", handle));
}
void VirtualDevice::destroy_surface(uint64_t handle) {
  if (!impl_->textures.remove_surface(handle))
    throw Error(fmt::format("{:#x} is no surface object", handle));
}

uint64_t VirtualDevice::warp_instructions() const { return impl_->warp_instructions; }
uint64_t VirtualDevice::thread_instructions() const { return impl_->thread_instructions; }
const Allocation* VirtualDevice::find_allocation(DevicePtr address) const {
  return impl_->memory.find(address);
}
uint64_t VirtualDevice::memory_bytes() const { return impl_->memory.memory_bytes(); }
uint64_t VirtualDevice::used_memory_bytes() const { return impl_->memory.used_bytes(); }
bool VirtualDevice::limit_reached() const { return impl_->limit_reached; }
const std::vector<Allocation>& VirtualDevice::allocation_table() const {
  return impl_->memory.table();
}

Recording VirtualDevice::take_recording(std::string name) {
  Impl& d = *impl_;
  if (d.taken) throw Error("the device's recording has been taken already");
  d.taken = true;
  d.recording.name = std::move(name);
  d.recording.allocations = d.memory.table();
  d.recording.warp_instructions = d.recorded.warp_instructions;
  d.recording.thread_instructions = d.recorded.thread_instructions;
  return std::move(d.recording);
}

}  // namespace nearwarp::runtime
