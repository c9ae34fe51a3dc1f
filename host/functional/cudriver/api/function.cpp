// Entry points about kernels: attributes, parameters, occupancy. CUfunction, CUkernel and the
// runtime's handles are the same.
#include <algorithm>
#include <iterator>

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// CUfunction_attribute, in its order.
Status attribute_of(int* value, int attribute, const void* function) {
  require(value != nullptr);
  FuncAttributes a;
  check(cudaFuncGetAttributes(&a, function));
  const int values[] = {a.max_threads_per_block,
                        static_cast<int>(a.shared_bytes),
                        static_cast<int>(a.const_bytes),
                        static_cast<int>(a.local_bytes),
                        a.num_regs,
                        a.ptx_version,
                        a.binary_version,
                        a.cache_mode_ca,
                        a.max_dynamic_shared_bytes,
                        a.preferred_carveout,
                        a.cluster_dim_must_be_set,
                        a.required_cluster_width,
                        a.required_cluster_height,
                        a.required_cluster_depth,
                        a.non_portable_cluster_size_allowed,
                        a.cluster_scheduling_policy};
  require(attribute >= 0 && attribute < static_cast<int>(std::size(values)));
  *value = values[attribute];
  return kSuccess;
}

/// The block size with the highest occupancy, and the blocks that fill the device.
Status best_block(int* grid, int* block, const void* function, size_t (*dynamic_shared)(int),
                  size_t shared_bytes, int limit, unsigned flags) {
  return call([&] {
    constexpr int kMultiprocessors = 16, kWarp = 32;
    require(grid != nullptr && block != nullptr && limit >= 0);
    FuncAttributes a;
    check(cudaFuncGetAttributes(&a, function));
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, kMultiprocessors, 0));
    const int most =
        limit == 0 ? a.max_threads_per_block : std::min(limit, a.max_threads_per_block);
    int best_threads = 0;
    *grid = *block = 0;
    for (int threads = most; threads > 0;
         threads = threads % kWarp != 0 ? threads / kWarp * kWarp : threads - kWarp) {
      const size_t bytes = dynamic_shared != nullptr ? dynamic_shared(threads) : shared_bytes;
      int blocks = 0;
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, threads,
                                                                   bytes, flags));
      if (blocks * threads <= best_threads) continue;
      best_threads = blocks * threads;
      *grid = blocks * sms;
      *block = threads;
    }
    return kSuccess;
  });
}

nearwarp::cudart::LaunchConfig of_runtime(const LaunchConfig& c) {
  return {c.grid, c.block, c.dynamic_shared_bytes, c.stream, c.attributes, c.num_attributes};
}

}  // namespace

NW_CU cuFuncGetAttribute(int* value, int attribute, const void* function) {
  return forward(attribute_of, value, attribute, function);
}
NW_CU cuFuncSetAttribute(const void* function, int attribute, int value) {
  return forward(cudaFuncSetAttribute, function, attribute, value);
}
NW_CU cuFuncSetCacheConfig(const void* function, int config) {
  return forward(cudaFuncSetCacheConfig, function, config);
}
NW_CU cuFuncSetSharedMemConfig(const void* function, int config) {
  return forward(cudaFuncSetSharedMemConfig, function, config);
}
NW_CU cuFuncGetName(const char** name, const void* function) {
  return forward(cudaFuncGetName, name, function);
}
NW_CU cuFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* bytes) {
  return forward(cudaFuncGetParamInfo, function, index, offset, bytes);
}
NW_CU cuFuncGetModule(void** module, const void* function) {
  return forward(nw_driver_library_of, module, function);
}
/// Tells 1 for every kernel: one that has been found has been loaded.
NW_CU cuFuncIsLoaded(int* state, const void* function) {
  return call([&] {
    const char* name = nullptr;
    require(state != nullptr);
    check(cudaFuncGetName(&name, function));
    *state = 1;
    return kSuccess;
  });
}
NW_CU cuFuncLoad(const void* function) {
  return call([&] {
    const char* name = nullptr;
    return cudaFuncGetName(&name, function);
  });
}

NW_CU cuKernelGetFunction(const void** function, const void* kernel) {
  return call([&] {
    const char* name = nullptr;
    require(function != nullptr);
    check(cudaFuncGetName(&name, kernel));
    *function = kernel;
    return kSuccess;
  });
}
NW_CU cuKernelGetLibrary(void** library, const void* kernel) {
  return call(Needs::kInitialization, [&] { return nw_driver_library_of(library, kernel); });
}
NW_CU cuKernelGetName(const char** name, const void* kernel) {
  return call(Needs::kInitialization, [&] { return cudaFuncGetName(name, kernel); });
}
NW_CU cuKernelGetParamInfo(const void* kernel, size_t index, size_t* offset, size_t* bytes) {
  return call(Needs::kInitialization,
              [&] { return cudaFuncGetParamInfo(kernel, index, offset, bytes); });
}
NW_CU cuKernelGetAttribute(int* value, int attribute, const void* kernel, Device device) {
  return call(Needs::kInitialization, [&] {
    check_device(device);
    return attribute_of(value, attribute, kernel);
  });
}
NW_CU cuKernelSetAttribute(int attribute, int value, void* kernel, Device device) {
  return call(Needs::kInitialization,
              [&] { return cudaKernelSetAttributeForDevice(kernel, attribute, value, device); });
}
NW_CU cuKernelSetCacheConfig(const void* kernel, int config, Device device) {
  return call(Needs::kInitialization, [&] {
    check_device(device);
    return cudaFuncSetCacheConfig(kernel, config);
  });
}

// --- Occupancy -----------------------------------------------------------------------------------

NW_CU cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                  size_t dynamic_shared_bytes) {
  return forward(cudaOccupancyMaxActiveBlocksPerMultiprocessor, blocks, function, threads,
                 dynamic_shared_bytes);
}
NW_CU cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                           int threads, size_t dynamic_shared_bytes,
                                                           unsigned flags) {
  return forward(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, function, threads,
                 dynamic_shared_bytes, flags);
}
NW_CU cuOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function,
                                       size_t (*dynamic_shared)(int), size_t shared_bytes,
                                       int limit) {
  return best_block(grid, block, function, dynamic_shared, shared_bytes, limit, 0);
}
NW_CU cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, const void* function,
                                                size_t (*dynamic_shared)(int), size_t shared_bytes,
                                                int limit, unsigned flags) {
  return best_block(grid, block, function, dynamic_shared, shared_bytes, limit, flags);
}
NW_CU cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks,
                                              int threads) {
  return forward(cudaOccupancyAvailableDynamicSMemPerBlock, bytes, function, blocks, threads);
}
NW_CU cuOccupancyMaxActiveClusters(int* clusters, const void* function,
                                   const LaunchConfig* config) {
  return call([&] {
    require(config != nullptr);
    const auto c = of_runtime(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &c);
  });
}
NW_CU cuOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                         const LaunchConfig* config) {
  return call([&] {
    require(config != nullptr);
    const auto c = of_runtime(*config);
    return cudaOccupancyMaxPotentialClusterSize(blocks, function, &c);
  });
}

// --- Launches ------------------------------------------------------------------------------------

NW_CU cuLaunchKernelEx(const LaunchConfig* config, const void* function, void** args,
                       void** extra) {
  return call([&] {
    require(config != nullptr);
    const auto c = of_runtime(*config);
    return nw_driver_launch(&c, function, args, extra);
  });
}
NW_CU cuLaunchKernel(const void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                     Stream stream, void** args, void** extra) {
  const LaunchConfig config = {
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, args, extra);
}
NW_CU cuLaunchCooperativeKernel(const void* function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared_bytes, Stream stream,
                                void** args) {
  LaunchAttribute cooperative{};
  cooperative.id = kAttributeCooperative;
  cooperative.value.cooperative = 1;
  const LaunchConfig config = {
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, &cooperative, 1};
  return cuLaunchKernelEx(&config, function, args, nullptr);
}

}  // namespace nearwarp::cudriver
