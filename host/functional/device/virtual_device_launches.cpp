// Launches on the virtual CUDA device: executes grids and the grids that they launch, and records
// them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "host/functional/device/virtual_device_state.h"
#include "host/functional/exec/chunk_writer.h"

namespace nearwarp::runtime {

namespace {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxSharedBytes = 227 * 1024;
constexpr uint64_t kGridWorkspaceBytes = 4096;

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

/// Executes a grid and all of its descendants.
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
  if (k.bounds.blocks_are_clusters) {
    const auto blocks = [](uint64_t clusters, uint32_t each) {
      return static_cast<uint32_t>(std::min<uint64_t>(clusters * each, UINT32_MAX));  // is refused
    };
    grid = {blocks(grid.x, cluster.x), blocks(grid.y, cluster.y), blocks(grid.z, cluster.z)};
  }
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
  // After an interrupt, instructions of thread blocks that have not ended count as well.
  const ExecutorResult executed = result.interrupted ? executor.executed() : result;
  d.warp_instructions += executed.warp_instructions;
  d.thread_instructions += executed.thread_instructions;
  if (record) d.add_launch(entry, traced ? writer.counted() : result, seconds.count());
  if (writer.cut() != TraceCut::kNone) d.end_recording(k.name, writer.cut());
  if (result.interrupted)
    throw Interrupted(fmt::format("interrupted in kernel {} after {} of {} thread blocks", k.name,
                                  result.blocks, grid.count()));
}

/// Throws a fault, and keeps it for later launches if faults are sticky.
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

/// Ends the recording after a thread block whose traces were cut, since later launches would not
/// follow the recorded ones.
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

}  // namespace nearwarp::runtime
