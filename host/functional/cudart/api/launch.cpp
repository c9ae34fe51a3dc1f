// Entry points that launch kernels.
#include "host/functional/cudart/runtime/launch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

/// The configuration that <<<>>> leaves for the stub that it calls.
struct Pushed {
  LaunchConfig config;
  const void* caller = nullptr;  ///< where the application has <<<>>>
};
std::vector<Pushed>& configurations() {
  thread_local std::vector<Pushed> stack;
  return stack;
}
/// The place of the configuration that was popped last, until its kernel is launched.
const void*& launch_is_at() {
  thread_local const void* caller = nullptr;
  return caller;
}

Status launch(const void* function, const LaunchConfig& config, void** args,
              const LaunchKind& kind = {}, NW_CALL_SITE) {
  // The call itself is in what the compiler makes of a kernel, which is no place in the program.
  if (const void* const caller = std::exchange(launch_is_at(), nullptr); caller != nullptr)
    site.caller = caller;
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    r.enqueue(config.stream, NodeType::kKernel,
              prepare_launch(r, r.modules.kernel(function), config, args, kind));
    return kSuccess;
  });
}

uint64_t count(Dim d) { return uint64_t{d.x} * d.y * d.z; }

/// Thread blocks of such a launch that the device holds at once. Clusters may take any of them: the
/// simulated SMs are in no groups that a cluster would have to stay in.
uint64_t resident_blocks(Runtime& r, KernelHandle& handle, const LaunchConfig& config) {
  const int each = blocks_per_sm(r, handle, count(config.block), config.dynamic_shared_bytes);
  return uint64_t{static_cast<unsigned>(each)} * r.spec().sms;
}

LaunchConfig plain(Dim grid, Dim block, size_t shared, Stream stream) {
  return {grid, block, shared, stream, nullptr, 0};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration(
    Dim grid, Dim block, size_t shared, Stream stream) {
  configurations().push_back({plain(grid, block, shared, stream), __builtin_return_address(0)});
  return 0;
}

NW_API __cudaPopCallConfiguration(Dim* grid, Dim* block, size_t* shared, void* stream) {
  if (configurations().empty()) return kErrorUnknown;
  const LaunchConfig config = configurations().back().config;
  launch_is_at() = configurations().back().caller;
  configurations().pop_back();
  *grid = config.grid;
  *block = config.block;
  *shared = config.dynamic_shared_bytes;
  *static_cast<Stream*>(stream) = config.stream;
  return kSuccess;
}

NW_API __cudaGetKernel(void** kernel, const void* host_function) {
  return api([&](Runtime& r) {
    require(kernel != nullptr);
    *kernel = &r.modules.kernel(host_function);
    return kSuccess;
  });
}
NW_API cudaGetKernel(void** kernel, const void* host_function) {
  const OuterCall outer;
  return __cudaGetKernel(kernel, host_function);
}
NW_API cudaGetFuncBySymbol(void** function, const void* symbol) {
  const OuterCall outer;
  return __cudaGetKernel(function, symbol);
}

NW_API __cudaLaunchKernel(void* kernel, Dim grid, Dim block, void** args, size_t shared,
                          Stream stream) {
  return launch(kernel, plain(grid, block, shared, stream), args);
}
NW_API cudaLaunchKernel(const void* function, Dim grid, Dim block, void** args, size_t shared,
                        Stream stream) {
  return launch(function, plain(grid, block, shared, stream), args);
}
NW_API cudaLaunchCooperativeKernel(const void* function, Dim grid, Dim block, void** args,
                                   size_t shared, Stream stream) {
  return launch(function, plain(grid, block, shared, stream), args, {true, {0, 0, 0}});
}

NW_API cudaLaunchKernelExC(const LaunchConfig* config, const void* function, void** args) {
  return api([&](Runtime& r) {
    const LaunchKind kind = kind_of(config);
    r.enqueue(config->stream, NodeType::kKernel,
              prepare_launch(r, r.modules.kernel(function), *config, args, kind));
    return kSuccess;
  });
}

NW_API cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                      const LaunchConfig* config) {
  return api([&](Runtime& r) {
    require(clusters != nullptr);
    const LaunchKind kind = kind_of(config);
    KernelHandle& handle = r.modules.kernel(function);
    const uint64_t each = count(cluster_of(r, handle, config->grid, kind));
    *clusters = static_cast<int>(resident_blocks(r, handle, *config) / each);
    return kSuccess;
  });
}
NW_API cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                            const LaunchConfig* config) {
  return api([&](Runtime& r) {
    require(blocks != nullptr);
    kind_of(config);
    KernelHandle& handle = r.modules.kernel(function);
    const auto& k = r.modules.load(r, handle);
    uint64_t most = handle.non_portable_cluster ? 16 : 8;
    if (k.bounds.max_cluster != 0) most = std::min<uint64_t>(most, k.bounds.max_cluster);
    while (most > resident_blocks(r, handle, *config)) most /= 2;
    *blocks = static_cast<int>(most);
    return kSuccess;
  });
}
