// Checks launches against the kernel and the machine, and copies their arguments.
#include "host/functional/cudart/runtime/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/core/demangle.h"
#include "host/functional/cudart/runtime/runtime.h"

namespace nearwarp::cudart {

namespace {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kPortableCluster = 8, kMaxCluster = 16;  // blocks (CUDA programming guide)

void check_dimensions(const LaunchConfig& c) {
  const Dim &g = c.grid, &b = c.block;
  const auto refuse = [](const std::string& why) {
    throw Failure{kErrorInvalidConfiguration, why};
  };
  if (g.x < 1 || g.y < 1 || g.z < 1) refuse("a grid without thread blocks");
  if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535 ||
      uint64_t{g.x} * g.y * g.z >= uint64_t{1} << 32)
    refuse("a grid has at most (2147483647,65535,65535) thread blocks");
  if (b.x < 1 || b.y < 1 || b.z < 1) refuse("thread blocks without threads");
  const uint64_t threads = uint64_t{b.x} * b.y * b.z;
  if (b.x > kMaxThreads || b.y > kMaxThreads || b.z > 64 || threads > kMaxThreads)
    refuse(fmt::format("a thread block of {} threads - at most {}, and 64 in z", threads,
                       kMaxThreads));
}

runtime::KernelArgs packed(const compiler::Kernel& kernel, void** args) {
  std::vector<std::byte> bytes(kernel.param_bytes);
  require(kernel.params.empty() || args != nullptr);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const compiler::Param& p = kernel.params[i];
    require(args[i] != nullptr && uint64_t{p.offset} + p.size <= bytes.size());
    std::memcpy(bytes.data() + p.offset, args[i], p.size);
  }
  return runtime::KernelArgs(std::move(bytes));
}

/// Copies the arguments from the buffer that `extra` describes, see prepare_launch().
runtime::KernelArgs from_buffer(const compiler::Kernel& kernel, void** extra) {
  constexpr uintptr_t kEnd = 0, kPointer = 1, kSize = 2;
  const std::byte* start = nullptr;
  const size_t* size = nullptr;
  for (; reinterpret_cast<uintptr_t>(extra[0]) != kEnd; extra += 2) {
    const auto what = reinterpret_cast<uintptr_t>(extra[0]);
    require(what == kPointer || what == kSize);
    if (what == kPointer) start = static_cast<const std::byte*>(extra[1]);
    if (what == kSize) size = static_cast<const size_t*>(extra[1]);
  }
  uint64_t needed = 0;
  for (const compiler::Param& p : kernel.params)
    needed = std::max(needed, uint64_t{p.offset} + p.size);
  std::vector<std::byte> bytes(kernel.param_bytes);
  require(needed == 0 || (start != nullptr && size != nullptr && *size >= needed));
  std::copy_n(start, std::min<uint64_t>(needed, bytes.size()), bytes.begin());
  return runtime::KernelArgs(std::move(bytes));
}

/// Tells the user what is assumed for a kernel that needs more registers or shared memory than an
/// SM has; it runs all the same. For registers, the first kernel is reported at once, and all
/// others in one line at the end.
void say_what_is_lacking(Runtime& runtime, const DeviceSpec& s, KernelHandle& handle,
                         uint64_t threads, uint64_t shared) {
  const compiler::Kernel& k = *handle.kernel;
  const uint32_t wanted = compiler::occupancy_registers(k, s.sm_registers);
  const uint32_t given = compiler::occupancy_registers(k, s.sm_registers, threads);
  if (given < wanted && !std::exchange(handle.told_registers, true)) {
    runtime.lacking_registers.push_back(
        fmt::format("{} ({} of {})", demangled(k.name), given, wanted));
    if (runtime.lacking_registers.size() == 1)
      say(fmt::format(
          "kernel {} needs {} registers a thread, but SMs of machine {} have {} in blocks of {} "
          "threads - it runs as though compiled with -maxrregcount={}, and what would be spilled "
          "costs no time; sm.registers of the machine changes that",
          demangled(k.name), wanted, s.name, given, threads, given));
  }
  if (shared > s.sm_shared_bytes && !std::exchange(handle.told_shared, true))
    say(fmt::format(
        "a block of kernel {} needs {} bytes of shared memory, but SMs of machine {} have {} - it "
        "runs as though it needed no more, one block on an SM; sm.shared_memory_bytes of the "
        "machine changes that",
        demangled(k.name), shared, s.name, s.sm_shared_bytes));
}

}  // namespace

LaunchKind kind_of(const LaunchConfig* config) {
  require(config != nullptr && (config->num_attributes == 0 || config->attributes != nullptr));
  LaunchKind kind;
  for (unsigned i = 0; i < config->num_attributes; ++i) {
    const LaunchAttribute& a = config->attributes[i];
    if (a.id == kAttributeCooperative) kind.cooperative = a.value.cooperative != 0;
    if (a.id == kAttributeClusterDimension)
      kind.cluster = {a.value.cluster[0], a.value.cluster[1], a.value.cluster[2]};
  }
  return kind;
}

int blocks_per_sm(Runtime& runtime, KernelHandle& handle, uint64_t block_threads,
                  size_t dynamic_shared_bytes) {
  const compiler::Kernel& k = runtime.modules.load(runtime, handle);
  const DeviceSpec& s = runtime.spec();
  if (k.bounds.max_threads != 0 && block_threads > k.bounds.max_threads) return 0;
  const uint64_t warps = std::max<uint64_t>((block_threads + 31) / 32, 1);
  const uint64_t unit = std::max<uint32_t>(s.register_unit, 1);
  const uint64_t each = compiler::occupancy_registers(k, s.sm_registers, block_threads);
  const uint64_t registers = (each * 32 + unit - 1) / unit * unit * warps;
  // A block that needs more shared memory than an SM has runs alone on it, see
  // say_what_is_lacking().
  const uint64_t shared =
      std::min<uint64_t>(k.static_shared_bytes + dynamic_shared_bytes, s.sm_shared_bytes);
  uint64_t blocks = std::min<uint64_t>(s.sm_blocks, s.sm_warps / warps);
  blocks = std::min<uint64_t>(blocks, s.sm_threads / std::max<uint64_t>(block_threads, 1));
  if (registers != 0) blocks = std::min(blocks, s.sm_registers / registers);
  if (shared != 0) blocks = std::min(blocks, s.sm_shared_bytes / shared);
  return static_cast<int>(blocks);
}

Dim cluster_of(Runtime& runtime, KernelHandle& handle, Dim grid, const LaunchKind& kind) {
  const compiler::Kernel& k = runtime.modules.load(runtime, handle);
  const auto refuse = [&](const std::string& why) {
    say_once(fmt::format("kernel {} was not launched: {}", demangled(k.name), why));
    throw Failure{kErrorInvalidClusterSize, why};
  };
  const uint32_t* compiled = k.bounds.cluster;
  const int* asked = handle.required_cluster;
  Dim c = kind.cluster;
  if (compiled[0] != 0) {
    if (c.x != 0 && (c.x != compiled[0] || c.y != compiled[1] || c.z != compiled[2]))
      refuse(fmt::format("it is compiled for clusters of ({},{},{}) blocks, not ({},{},{})",
                         compiled[0], compiled[1], compiled[2], c.x, c.y, c.z));
    c = {compiled[0], compiled[1], compiled[2]};
  } else if (c.x == 0 && asked[0] > 0) {
    c = {static_cast<uint32_t>(asked[0]), static_cast<uint32_t>(asked[1]),
         static_cast<uint32_t>(asked[2])};
  }
  if (c.x == 0 || c.y == 0 || c.z == 0) {
    if (c.x != 0 || c.y != 0 || c.z != 0) refuse("a cluster with a dimension of 0");
    if (k.bounds.explicit_cluster) refuse("it has to be launched with clusters");
    return {1, 1, 1};
  }
  const uint64_t blocks = uint64_t{c.x} * c.y * c.z;
  const uint64_t most = handle.non_portable_cluster ? kMaxCluster : kPortableCluster;
  if (blocks > most || (k.bounds.max_cluster != 0 && blocks > k.bounds.max_cluster))
    refuse(fmt::format(
        "a cluster of {} blocks - at most {} ({} with "
        "cudaFuncAttributeNonPortableClusterSizeAllowed)",
        blocks, k.bounds.max_cluster != 0 ? k.bounds.max_cluster : kPortableCluster, kMaxCluster));
  if (!k.bounds.blocks_are_clusters &&
      (grid.x % c.x != 0 || grid.y % c.y != 0 || grid.z % c.z != 0))
    refuse(fmt::format("clusters of ({},{},{}) blocks do not divide a grid of ({},{},{})", c.x, c.y,
                       c.z, grid.x, grid.y, grid.z));
  return c;
}

void check_launch(Runtime& runtime, KernelHandle& handle, const LaunchConfig& config,
                  const LaunchKind& kind) {
  const compiler::Kernel& k = runtime.modules.load(runtime, handle);
  check_dimensions(config);
  const DeviceSpec& s = runtime.spec();
  const uint64_t most = std::max<uint64_t>(
      std::min<uint32_t>(s.sm_shared_bytes, 49152),
      uint64_t{k.static_shared_bytes} + static_cast<unsigned>(handle.max_dynamic_shared));
  if (config.dynamic_shared_bytes > most ||
      k.static_shared_bytes + config.dynamic_shared_bytes > most)
    throw Failure{kErrorInvalidValue,
                  fmt::format("{} bytes of shared memory, {} of them dynamic - at most {}; the "
                              "attribute cudaFuncAttributeMaxDynamicSharedMemorySize allows more",
                              k.static_shared_bytes + config.dynamic_shared_bytes,
                              config.dynamic_shared_bytes, most)};
  if (!k.unsupported.empty()) {
    say_once(k.unsupported);
    throw Failure{kErrorNotSupported, k.unsupported};
  }
  const uint64_t threads = uint64_t{config.block.x} * config.block.y * config.block.z;
  if (k.bounds.max_threads != 0 && threads > k.bounds.max_threads) {
    const std::string why = fmt::format(
        "a block of {} threads of kernel {}, whose __launch_bounds__ allow {} - smaller blocks",
        threads, demangled(k.name), k.bounds.max_threads);
    say_once(why);
    throw Failure{kErrorInvalidValue, why};
  }
  const int resident = blocks_per_sm(runtime, handle, threads, config.dynamic_shared_bytes);
  if (resident == 0) {
    const std::string why = fmt::format(
        "a block of {} threads of kernel {} does not fit on an SM of machine {} - {} registers a "
        "thread and {} bytes of shared memory; the SM has {} threads, {} registers, {} bytes",
        threads, demangled(k.name), s.name,
        compiler::occupancy_registers(k, s.sm_registers, threads),
        k.static_shared_bytes + config.dynamic_shared_bytes, s.sm_threads, s.sm_registers,
        s.sm_shared_bytes);
    say_once(why);
    throw Failure{kErrorLaunchOutOfResources, why};
  }
  say_what_is_lacking(runtime, s, handle, threads,
                      k.static_shared_bytes + config.dynamic_shared_bytes);
  const Dim cluster = cluster_of(runtime, handle, config.grid, kind);
  uint64_t blocks = uint64_t{config.grid.x} * config.grid.y * config.grid.z;
  if (k.bounds.blocks_are_clusters) blocks *= uint64_t{cluster.x} * cluster.y * cluster.z;
  if (kind.cooperative)
    if (const uint64_t most_blocks = uint64_t{static_cast<unsigned>(resident)} * s.sms;
        blocks > most_blocks)
      throw Failure{kErrorCooperativeLaunchTooLarge,
                    fmt::format("{} thread blocks, of which {} fit on the device at once", blocks,
                                most_blocks)};
}

Work prepare_launch(Runtime& runtime, KernelHandle& handle, const LaunchConfig& config, void** args,
                    const LaunchKind& kind, void** extra) {
  runtime.attempt = {&handle, config};
  require(args == nullptr || extra == nullptr);
  // Copies and fills may go to other devices' streams, kernels may not.
  if (const StreamState* s = runtime.streams.find(config.stream); s != nullptr)
    require(s->device == thread_state().device, kErrorInvalidResourceHandle);
  check_launch(runtime, handle, config, kind);
  LaunchKind known = kind;
  const Dim cluster = cluster_of(runtime, handle, config.grid, kind);
  if (cluster.x * cluster.y * cluster.z != 1) known.cluster = cluster;
  const compiler::Kernel& k = runtime.modules.load(runtime, handle);
  return KernelWork{&handle, config, known,
                    extra == nullptr ? packed(k, args) : from_buffer(k, extra)};
}

void KernelWork::operator()(Runtime& r) const {
  r.attempt = {handle, config};
  try {
    r.launch(handle->module->handle, *handle->kernel, config, args, kind);
    r.attempt = {};
  } catch (const Error& error) {  // what the executor does not support
    say_once(error.what());
    throw Failure{kErrorNotSupported, error.what()};
  }
}

}  // namespace nearwarp::cudart
